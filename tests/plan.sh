#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/plan.sh TAP: prints a failed test if the file has a plan ("1..N") and not N results. A plan of
# none ("1..0") has to say SKIP.

awk '
/^1\.\.[0-9]+/ {
	plans++
	planned += substr($1, 4)
	if (/^1\.\.0/ && !/# SKIP/)
		print "not ok - a plan of no tests"
}
/^(not )?ok( |$)/ { results++ }
END {
	if (plans > 1)
		printf "not ok - %d plans\n", plans
	else if (plans && planned != results)
		printf "not ok - %d tests planned, %d results\n", planned, results
}' "$1"
