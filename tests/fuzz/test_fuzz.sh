#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged recordings: the cases found before, and a hundred new ones. More: make fuzz.
here=$SRCDIR/tests/fuzz
FUZZ_FOUND=$PWD/found
export FUZZ_FOUND
status=0
if ls "$here"/found/*.json >/dev/null 2>&1; then
	"$here/fuzz.py" --replay "$here"/found/*.json || status=1
fi
"$here/fuzz.py" "${FUZZ_CASES:-100}" "${FUZZ_SEED:-1}" || status=1
# Cases that fail are kept where they can be examined.
if [ -d "$FUZZ_FOUND" ]; then
	mkdir -p "$BUILD/fuzz-found" && cp "$FUZZ_FOUND"/*.json "$BUILD/fuzz-found/"
fi
exit $status
