#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# System calls with arbitrary fields, through everything that displays
# them: some thousand cases in one process. More: make fuzz.
set -eu
cases=${FUZZ_CALLS_CASES:-500}
status=0
said=$("$BUILD/tests/fuzz/fuzz_calls" "$cases" "${FUZZ_SEED:-1}" "$BUILD/traces/hotplug") || status=$?
echo "$said"
if [ -f found.calls ]; then
	mkdir -p "$BUILD/fuzz-found" && cp found.calls "$BUILD/fuzz-found/"
	cat found.calls
fi
[ $status -eq 0 ] || exit 1
# Calls that are all refused would test little.
[ "${said%% *}" -ge "$cases" ]
