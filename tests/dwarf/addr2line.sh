#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Chains of inlined functions with their lines, held against two addr2lines that share no code with
# libdw. Prints TAP, and what each object cost.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
. tests/dwarf/programs.sh
count=${ADDRESSES:-10000}
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-dwarf.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT

judges=()
for judge in addr2line llvm-addr2line llvm-addr2line-14; do
	command -v "$judge" >/dev/null && judges+=("$judge")
done
[ "${#judges[@]}" -gt 1 ] || { echo "1..0 # SKIP needs binutils and llvm" | tee /dev/stderr; exit 77; }

number=0 failed=0
compare() {	# NAME FILE [JUDGED ALTERNATE]: who judges gets FILE, or what it was before dwz
	local said=() result=ok
	addresses "$2" "$count" >"$top/addresses"
	"$build/tests/dwarf/resolve" "$2" $4 <"$top/addresses" >"$top/ours" 2>"$top/cost"
	for judge in "${judges[@]:0:2}"; do
		"$judge" -a -f -i -e "${3:-$2}" <"$top/addresses" >"$top/$judge" 2>/dev/null &
		said+=("$top/$judge")
	done
	wait
	python3 tests/dwarf/compare.py "$2" "$top/ours" "${said[@]}" >"$top/result" || result='not ok'
	[ "$result" = ok ] || failed=1
	number=$((number + 1))
	echo "$result $number - $1: $(head -n 1 "$top/result")"
	sed 's/^/# /' "$top/cost"
	[ "$result" = ok ] || sed '1d;s/^/# /' "$top/result" | cut -c1-600
}

for way in $(ways); do
	before=()
	file=$(program "$way")
	[ "$way" != dwz ] || before=("$(program gcc-4)" "$file.alternate")
	[ -z "$file" ] || compare "$way" "$file" "${before[@]}"
done
for program in keyhole keyhole-worker; do
	compare "$program" "$build/$program"
done
echo "1..$number"
exit $failed
