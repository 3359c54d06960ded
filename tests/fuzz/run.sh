#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs every fuzzer for FUZZ_SECONDS, as many at a time as there are CPUs, starting from the seeds
# in tests/fuzz/seeds/<name> and from what an earlier run found. Prints TAP.

build=${BUILD:-build}
seconds=${FUZZ_SECONDS:-60}

if [ "$1" = one ]; then
	name=$(basename "$2")
	corpus=$build/fuzz/corpus/$name
	log=$build/fuzz/$name.log
	mkdir -p "$corpus"
	set -- "$2" "$corpus"
	[ ! -d "tests/fuzz/seeds/$name" ] || set -- "$@" "tests/fuzz/seeds/$name"
	[ ! -d "$build/fuzz/seeds" ] || set -- "$@" "$build/fuzz/seeds"
	if "$@" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=65536 \
		-artifact_prefix="$build/fuzz/$name." -print_final_stats=1 >"$log" 2>&1; then
		runs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
		echo "ok - $name: $runs runs in $seconds s"
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
	head -c 4096 /proc/self/maps >"$seeds/maps"
	command -v xz >/dev/null && xz -c0 "$seeds/program" >"$seeds/packed"
fi

fuzzers=$(ls "$build"/tests/fuzz/fuzz_* 2>/dev/null | grep -v '\.d$')
[ -n "$fuzzers" ] || { echo 'not ok - there are no fuzzers'; exit 1; }
results=$(printf '%s\n' $fuzzers | xargs -P "$(nproc)" -n 1 "$0" one)
printf '%s\n' "$results"
! printf '%s\n' "$results" | grep -q '^not ok'
