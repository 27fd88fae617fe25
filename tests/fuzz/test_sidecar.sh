#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged side-cars and listings of other hosts: some thousand cases in one process. More: make fuzz.
set -eu
cases=${FUZZ_SIDECAR_CASES:-5000}
status=0
said=$("$BUILD/tests/fuzz/fuzz_sidecar" "$cases" "${FUZZ_SEED:-1}") || status=$?
echo "$said"
if [ -f found.sidecar ]; then
	mkdir -p "$BUILD/fuzz-found" && cp found.sidecar "$BUILD/fuzz-found/"
	echo "the case is in $BUILD/fuzz-found/found.sidecar"
fi
[ $status -eq 0 ] || exit 1
# Damage that is always refused at once would test little.
understood=${said%% *}
[ "$understood" -ge $((cases / 5)) ]
