#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/total.sh FOLDER: adds up every TAP file below FOLDER. Before the totals are the logs of the tests
# that failed, and then their names, since often only the end of a long output is kept. Exit status 1
# when a test failed, or when none ran at all.

LOG_LINES=30	# of all failed tests together

taps=$(find "$1" -name '*.tap' 2>/dev/null | sort)
failed=$(cat /dev/null $taps | grep -E '^not ok( |$)' | grep -vc '# SKIP')

failures() {	# FOLDER LINES
	for tap in $taps; do
		name=${tap#"$1"/}
		tests/failed.sh "${name%.tap}: " "$2" "$tap"
	done
}

if [ "$failed" != 0 ]; then
	echo "failed, of the logs $LOG_LINES lines:"
	failures "$1" $((LOG_LINES / failed))
	echo 'failed:'
	failures "$1" 0
fi
cat /dev/null $taps | awk '
/^(not )?ok( |$)/ {
	if (/# SKIP/) skipped++
	else if (/^not/) failed++
	else passed++
}
END {
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 || passed == 0
}'
