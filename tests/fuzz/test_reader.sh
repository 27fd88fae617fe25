#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged recordings of odd shapes, and of LTTng, read in one process. More: make fuzz.
set -eu
files=$(mktemp -d /dev/shm/lttngtop-fuzz-XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$files"' EXIT
trap 'exit 1' HUP INT TERM
seed=${FUZZ_SEED:-1}
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	"$SRCDIR/tests/source/shapes.py" $((seed * 1000 + i)) "shape$i" small
done
for i in 13 14 15 16; do
	"$SRCDIR/tests/source/shapes.py" $((seed * 1000 + i)) "shape$i" small calm
done
set -- shape*
ust=$BUILD/traces/ctf2-ust/vm/ust/uid/0/64-bit
[ ! -f "$ust/metadata" ] || set -- "$@" "$ust"
mkdir "$files/damaged"
status=0
said=$("$BUILD/tests/fuzz/fuzz_reader" "${FUZZ_READER_CASES:-3000}" "$seed" "$files/damaged" "$@") || status=$?
echo "$said"
for found in found-*; do
	[ -d "$found" ] || continue
	mkdir -p "$BUILD/fuzz-found" && cp -r "$found" "$BUILD/fuzz-found/"
	echo "the case is in $BUILD/fuzz-found/$found"
done
# Cases in the guided fuzzer's format: intact ones, and those it has found.
mkdir "$files/case"
for directory in "$@"; do
	for file in "$directory"/*; do
		if [ "${file##*/}" = metadata ] || [ ! -f "$file" ]; then
			continue
		fi
		{ cat "$directory/metadata" && printf '\0' && cat "$file"; } >"$files/$(echo "$file" | tr / -).case"
	done
done
for found in "$SRCDIR"/tests/fuzz/found/*.case; do
	[ ! -f "$found" ] || cp "$found" "$files/"
done
FUZZ_DIRECTORY=$files/case "$BUILD/tests/fuzz/fuzz_guided" "$files"/*.case || status=1
[ $status -eq 0 ] || exit 1
# Damage that is always refused at once would test little.
events=${said##* records, }
[ "${events%% *}" -ge "${FUZZ_READER_CASES:-3000}" ]
