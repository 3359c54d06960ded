#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/run.sh SUITE PROGRAM...: runs each program, keeps its TAP output in build/results/SUITE/,
# shows what failed, with its own log, or was skipped, and one line per program. A program that
# prints no TAP counts as one test: exit status 0 passed, 77 skipped. One that fails without saying
# which test did counts as one more failure (a crash, a sanitizer report). JOBS of them run at once.

build=${BUILD:-build}
limit=${TEST_SECONDS:-900}

run() {	# RESULTS PROGRAM: leaves NAME.tap, NAME.err and NAME.status
	name=$(basename "$2")
	name=$1/${name%.sh}
	path=$2
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
failed=0

[ "${JOBS:-1}" = 1 ] || printf '%s\n' "$@" | xargs -P "$JOBS" -I PROGRAM "$0" --one "$results" PROGRAM
for program; do
	[ "${JOBS:-1}" != 1 ] || run "$results" "$program"
	name=$(basename "$program")
	name=${name%.sh}
	tap=$results/$name.tap
	status=$(cat "$results/$name.status")
	rm "$results/$name.status"
	if ! grep -Eq '^(not )?ok\b' "$tap"; then
		case $status in
		0) echo "ok 1 - $name" >>"$tap" ;;
		77) echo "ok 1 - $name # SKIP $(tail -n 1 "$results/$name.err")" >>"$tap" ;;
		esac
	fi
	if [ $status -ne 0 ] && [ $status -ne 77 ] &&
		! grep '^not ok' "$tap" | grep -qv '# SKIP'; then
		echo "not ok - $name: ended with status $status" >>"$tap"
	fi
	skipped=$(grep -E '^(not )?ok\b.*# SKIP' "$tap")
	bad=$(grep '^not ok' "$tap" | grep -v '# SKIP')
	good=$(grep '^ok\b' "$tap" | grep -vc '# SKIP')
	if [ -n "$bad" ]; then
		failed=1
		tests/failed.sh "  $suite/$name: " 20 "$tap"
		tail -n 40 "$results/$name.err"
		tests/failed.sh "  $suite/$name: " 0 "$tap"
	fi
	[ -z "$skipped" ] || printf '%s\n' "$skipped" | sed "s/^/  $suite\/$name: /"
	sed -n "s/^# run once more/  $suite\/$name: run once more/p" "$tap"
	printf '  %-8s %s: %s passed\n' TEST "$suite/$name" "$good"
done
exit $failed
