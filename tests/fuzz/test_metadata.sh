#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged metadata of CTF 1.8 and CTF 2: some thousand cases in one process. More: make fuzz.
set -eu
traces=
for metadata in "$BUILD"/traces/kprobe/client/kernel/metadata "$BUILD"/traces/ctf2-ust/vm/ust/uid/0/64-bit/metadata \
	"$BUILD"/traces/lossy-overwrite/*/kernel/metadata; do
	[ ! -f "$metadata" ] || traces="$traces ${metadata%/metadata}"
done
if [ -z "$traces" ]; then
	echo "skip metadata: no recordings in $BUILD/traces"
	exit 77
fi
status=0
# shellcheck disable=SC2086 # the paths have no blanks
said=$("$BUILD/tests/fuzz/fuzz_metadata" "${FUZZ_METADATA_CASES:-5000}" "${FUZZ_SEED:-1}" $traces) || status=$?
echo "$said"
if [ -f found.metadata ]; then
	mkdir -p "$BUILD/fuzz-found" && cp found.metadata "$BUILD/fuzz-found/"
	echo "the case is in $BUILD/fuzz-found/found.metadata"
fi
[ $status -eq 0 ] || exit 1
# Damage that is always refused at once would test little.
understood=${said%% *}
[ "$understood" -ge $((${FUZZ_METADATA_CASES:-5000} / 20)) ]
