#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/total.sh FOLDER: adds up every TAP file below FOLDER. Prints the logs of the failed tests, then
# their names, then a table of results and time by suite, then the sum. The end of a long output is
# often all that is kept. Exit status 1: a test failed, or none ran at all.

LOG_LINES=30	# of all failed tests together

taps=$(find "$1" -name '*.tap' 2>/dev/null | sort)
failed=$(cat /dev/null $taps | grep -E '^not ok( |$)' | grep -vc '# SKIP')

failures() {	# FOLDER LINES
	for tap in $taps; do
		name=${tap#"$1"/}
		tests/failed.sh "${name%.tap}: " "$2" "$tap"
	done
}

count() {	# TAP...: passed, failed, skipped
	cat /dev/null "$@" | awk '
	/^(not )?ok( |$)/ {
		if (/# SKIP/) skipped++
		else if (/^not/) failed++
		else passed++
	}
	END { print passed + 0, failed + 0, skipped + 0 }'
}

table() {	# FOLDER
	printf '%-12s %7s %7s %7s %8s %8s\n' suite passed failed skipped seconds CPU
	for suite in "$1"/*/; do
		seconds=- cpu=-
		[ ! -e "$suite/time" ] || read -r seconds cpu <"$suite/time"
		# shellcheck disable=SC2046
		printf '%-12s %7s %7s %7s %8s %8s\n' "$(basename "$suite")" $(count "$suite"*.tap) \
			"$seconds" "$cpu"
	done
}

if [ "$failed" != 0 ]; then
	echo "failed, of the logs $LOG_LINES lines:"
	failures "$1" $((LOG_LINES / failed))
	echo 'failed:'
	failures "$1" 0
fi
[ -z "$taps" ] || table "$1"
count $taps | {
	read -r passed failed skipped
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
