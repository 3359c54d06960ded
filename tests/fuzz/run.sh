#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/fuzz/run.sh: runs each fuzzer for FUZZ_SECONDS, one for each CPU at a time. Prints TAP.
# Inputs are tests/fuzz/seeds/NAME, tests/fuzz/corpus.tar.xz and the findings of earlier runs. Memory images
# of interpreters (tests/bpf/images.tar.xz) are inputs of fuzz_image_list.
# FUZZ_SECONDS=0 replays these inputs and makes no new ones.
# tests/fuzz/run.sh keep: makes corpus.tar.xz of the findings.

build=${BUILD:-build}
seconds=${FUZZ_SECONDS:-60}
kept=tests/fuzz/corpus.tar.xz
KEPT_BYTES=1024	# the largest input that is kept, and how many of a fuzzer
KEPT_FILES=60

if [ "$1" = one ]; then
	name=$(basename "$2")
	corpus=$build/fuzz/corpus/$name
	log=$build/fuzz/$name.log
	mkdir -p "$corpus"
	stop=-max_total_time=$seconds
	[ "$seconds" != 0 ] || stop=-runs=0
	set -- "$2" "$corpus"
	[ ! -d "$build/fuzz/kept/$name" ] || set -- "$@" "$build/fuzz/kept/$name"
	[ ! -d "tests/fuzz/seeds/$name" ] || set -- "$@" "tests/fuzz/seeds/$name"
	[ "$name" != fuzz_image_list ] || set -- "$@" "$build/images"
	[ ! -d "$build/fuzz/seeds" ] || set -- "$@" "$build/fuzz/seeds"
	if "$@" $stop -timeout=10 -rss_limit_mb=1024 -max_len=131072 \
		-artifact_prefix="$build/fuzz/$name." -print_final_stats=1 >"$log" 2>&1; then
		runs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
		if [ "${runs:-0}" -gt 0 ]; then
			echo "ok - $name: $runs runs in $seconds s"
		else
			echo "not ok - $name: no input"
		fi
	else
		echo "not ok - $name: see $log"
		tail -n 30 "$log" | sed 's/^/# /'
	fi
	exit 0
fi

# Seeds for the parsers of object files: a small program and its sections.
seeds=$build/fuzz/seeds
mkdir -p "$seeds"
if [ ! -e "$seeds/program" ]; then
	echo 'int puts(const char *); int main(void) { return puts("seed"); }' |
		${CC:-gcc} -O2 -s -xc -o "$seeds/program" - || rm -f "$seeds/program"
	for section in .eh_frame .eh_frame_hdr .dynsym .note.gnu.build-id; do
		objcopy -O binary --only-section="$section" --set-section-flags "$section=alloc" \
			"$seeds/program" "$seeds/section$section" 2>/dev/null
	done
	echo 'int f(int); int g(int n) { return n > 1 ? f(n) + g(n - 1) : 1; }' |
		${CC:-gcc} -O2 -g -gz=none -fno-asynchronous-unwind-tables -fPIC -shared -nostdlib \
			-o "$seeds/library" -xc - &&
		objcopy -O binary --only-section=.debug_frame --set-section-flags .debug_frame=alloc \
			"$seeds/library" "$seeds/section.debug_frame" 2>/dev/null
	head -c 4096 /proc/self/maps >"$seeds/maps"
	command -v xz >/dev/null && xz -c0 "$seeds/program" >"$seeds/packed"
fi

if [ "$1" = keep ]; then
	rm -rf "$build/fuzz/small" && mkdir -p "$build/fuzz/small"
	for corpus in "$build"/fuzz/corpus/fuzz_*; do
		name=$(basename "$corpus")
		mkdir "$build/fuzz/small/$name"
		find "$corpus" -type f -size -"$((KEPT_BYTES + 1))"c -printf '%s %p\n' | sort -n |
			awk '{ path[NR] = $2 }
				END {
					step = NR > '$KEPT_FILES' ? NR / '$KEPT_FILES' : 1
					for (at = 1; at <= NR; at += step) print path[int(at)]
				}' | xargs -r cp -t "$build/fuzz/small/$name"
	done
	tar -C "$build/fuzz/small" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cJf "$kept" .
	exit
fi

rm -rf "$build/fuzz/kept" && mkdir -p "$build/fuzz/kept"
[ ! -e "$kept" ] || tar -C "$build/fuzz/kept" -xJf "$kept" || { echo "not ok - $kept"; exit 1; }

fuzzers=$(ls "$build"/tests/fuzz/fuzz_* 2>/dev/null | grep -v '\.d$')
[ -n "$fuzzers" ] || { echo 'not ok - there are no fuzzers'; exit 1; }
results=$(printf '%s\n' $fuzzers | xargs -P "$(nproc)" -n 1 "$0" one)
printf '%s\n' "$results"
! printf '%s\n' "$results" | grep -q '^not ok'
