#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/run.sh SUITE PROGRAM...: runs each program and keeps its TAP output in build/results/SUITE/.
# Shows failed tests with their logs, skipped tests, and one line for each program. JOBS programs run
# at once. A program that prints no TAP counts as one test: exit status 0 passed, 77 skipped.
# Three more things are failures:
# - a program that ends badly without a failed test (a crash, a sanitizer report);
# - a plan with another number of results;
# - a suite with fewer results than its row of tests/least.

build=${BUILD:-build}
limit=${TEST_SECONDS:-900}
least=${LEAST:-tests/least}

run() {	# RESULTS PROGRAM: leaves NAME.tap, NAME.err and NAME.status
	local name path=$2
	name=$(basename "$2")
	name=$1/${name%.sh}
	[ "${2#/}" != "$2" ] || path=./$2
	CMOCKA_MESSAGE_OUTPUT=TAP timeout "$limit" "$path" >"$name.tap" 2>"$name.err"
	echo $? >"$name.status"
}

if [ "$1" = --one ]; then
	run "$2" "$3"
	exit 0
fi
suite=$1
shift
results=$build/results/$suite
rm -rf "$results"
mkdir -p "$results"
failed=0 found=0 all_skipped=

failures() {	# TAP
	grep -E '^not ok( |$)' "$1" | grep -v '# SKIP'
}

judge() {	# NAME STATUS: adds to NAME.tap what the program did not say itself
	local tap=$results/$1.tap
	if [ "$2" = 77 ] && ! grep -Eq '^(not )?ok( |$)' "$tap"; then
		echo "ok - $1 # SKIP $(tail -n 1 "$results/$1.err")" >>"$tap"
		all_skipped=1
		return
	fi
	tests/plan.sh "$tap" >"$results/$1.plan"
	cat "$results/$1.plan" >>"$tap"
	rm "$results/$1.plan"
	if [ "$2" = 0 ]; then
		grep -Eq '^(not )?ok( |$)' "$tap" || echo "ok 1 - $1" >>"$tap"
	elif [ "$2" != 77 ] && [ -z "$(failures "$tap")" ]; then
		echo "not ok - $1: ended with status $2" >>"$tap"
	fi
}

show() {	# NAME
	local tap=$results/$1.tap skipped
	if [ -n "$(failures "$tap")" ]; then
		failed=1
		tests/failed.sh "  $suite/$1: " 20 "$tap"
		[ ! -e "$results/$1.err" ] || tail -n 40 "$results/$1.err"
		tests/failed.sh "  $suite/$1: " 0 "$tap"
	fi
	skipped=$(grep -E '^(not )?ok\b.*# SKIP' "$tap")
	[ -z "$skipped" ] || printf '%s\n' "$skipped" | sed "s/^/  $suite\/$1: /"
	sed -n "s/^# run once more/  $suite\/$1: run once more/p" "$tap"
}

[ "${JOBS:-1}" = 1 ] || printf '%s\n' "$@" | xargs -P "$JOBS" -I PROGRAM "$0" --one "$results" PROGRAM
for program; do
	[ "${JOBS:-1}" != 1 ] || run "$results" "$program"
	name=$(basename "$program")
	name=${name%.sh}
	judge "$name" "$(cat "$results/$name.status")"
	rm "$results/$name.status"
	show "$name"
	found=$((found + $(grep -cE '^(not )?ok( |$)' "$results/$name.tap")))
	printf '  %-8s %s: %s passed\n' TEST "$suite/$name" \
		"$(grep -E '^ok( |$)' "$results/$name.tap" | grep -vc '# SKIP')"
done

wanted=$(awk -v suite="$suite" '$1 == suite { print $2 }' "$least")
if [ -z "$wanted" ]; then
	echo "not ok - $suite: no row in tests/least" >"$results/least.tap"
elif [ -z "$all_skipped" ] && [ $found -lt "$wanted" ]; then
	echo "not ok - $suite: $found results, fewer than $wanted of tests/least" >"$results/least.tap"
fi
[ ! -e "$results/least.tap" ] || show least
# Seconds by the clock, then of CPU time of all that ran: the second line of `times`, which has to run
# in this shell.
times >"$results/times"
awk -v seconds=$SECONDS 'NR == 2 {
	gsub(/[ms]/, " ")
	print seconds, int(60 * $1 + $2 + 60 * $3 + $4)
}' "$results/times" >"$results/time"
rm "$results/times"
exit $failed
