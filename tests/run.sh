#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/run.sh SUITE PROGRAM...: runs each program, keeps its TAP output in build/results/SUITE/,
# shows what failed, with its own log, or was skipped, and one line per program. A program that prints no TAP counts as
# one test: exit status 0 passed, 77 skipped. One that fails without saying which test did counts
# as one more failure (a crash, a sanitizer report).

build=${BUILD:-build}
suite=$1
shift
results=$build/results/$suite
limit=${TEST_SECONDS:-900}
rm -rf "$results"
mkdir -p "$results"
failed=0

for program; do
	name=$(basename "$program")
	name=${name%.sh}
	tap=$results/$name.tap
	path=$program
	[ "${program#/}" != "$program" ] || path=./$program
	CMOCKA_MESSAGE_OUTPUT=TAP timeout "$limit" "$path" >"$tap" 2>"$results/$name.err"
	status=$?
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
	printf '  %-8s %s: %s passed\n' TEST "$suite/$name" "$good"
done
exit $failed
