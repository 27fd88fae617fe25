#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
#   guided.sh --check    whether there is a clang with libFuzzer
#   guided.sh SECONDS    runs fuzz_guided for so long, at low priority
#
# The corpus starts with recordings of odd shapes and of LTTng and is kept in $BUILD/fuzz-corpus; cases that fail are left
# in $BUILD/fuzz-found. Put those that were mended into tests/fuzz/found, as NAME.case.
set -eu

if [ "$1" = --check ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	echo 'int LLVMFuzzerTestOneInput(const char *b, unsigned long n) { return b && n ? 0 : 0; }' >"$work/t.c"
	clang -fsanitize=fuzzer "$work/t.c" -o "$work/t" 2>"$work/log" && exit 0
	echo 'skip guided fuzzing: no clang with libFuzzer'
	exit 1
fi

work=$(mktemp -d /dev/shm/lttngtop-fuzz-XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
corpus=$BUILD/fuzz-corpus
mkdir -p "$corpus" "$BUILD/fuzz-found" "$work/case"

# add DIRECTORY NAME: its metadata, a NUL and the beginning of one of its data files
add() {
	for file in "$1"/*; do
		[ -f "$file" ] && [ "${file##*/}" != metadata ] || continue
		{ cat "$1/metadata" && printf '\0' && head -c 8192 "$file"; } >"$corpus/$2"
		return
	done
}

for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	"$SRCDIR/tests/source/shapes.py" $seed "$work/shape$seed" small
	add "$work/shape$seed" "shape$seed"
done
for metadata in "$BUILD"/traces/ctf2-ust/vm/ust/uid/0/64-bit/metadata; do
	[ ! -f "$metadata" ] || add "${metadata%/metadata}" ctf2-ust
done

# Words of metadata, from the same table as in damage.h.
sed -n '/damage_words\[\] = {/,/};/p' "$SRCDIR/tests/fuzz/damage.h" | grep -o '"\(\\.\|[^"\\]\)*"' |
	grep -v '\\n' >"$work/words"

FUZZ_DIRECTORY=$work/case nice -n 15 "$BUILD/guided/tests/fuzz/fuzz_guided" -max_total_time="$1" -max_len=65536 -timeout=20 \
	-rss_limit_mb=2048 -dict="$work/words" -artifact_prefix="$BUILD/fuzz-found/" -print_final_stats=1 "$corpus" \
	>"$BUILD/fuzz-guided.log" 2>&1 || {
	tail -n 40 "$BUILD/fuzz-guided.log"
	echo "not ok guided fuzzing: see $BUILD/fuzz-guided.log"
	exit 1
}
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$BUILD/fuzz-guided.log")
echo "ok guided fuzzing: $runs cases in $1 s, $(find "$corpus" -type f | wc -l) kept in $corpus"
