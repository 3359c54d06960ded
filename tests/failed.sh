#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/failed.sh PREFIX LINES TAP: prints each failed test of a TAP file behind PREFIX. Below a test are
# LINES lines of its log, the first and the last, cut to 160 characters. The log follows the test, or
# precedes it if nothing follows (a program that crashed, or that prints no TAP).

awk -v prefix="$1" -v limit="$2" '
function show_log(lines, count,    i, head) {
	head = count > limit ? int(limit / 2) : count
	for (i = 0; i < count; i++) {
		if (i < head || i >= count - (limit - head))
			print "    " substr(lines[i], 1, 160)
		else if (i == head && limit > 0)
			print "    ... " count - limit " lines"
	}
}
function end_test() {
	if (failed != "") {
		print prefix failed
		if (after > 0)
			show_log(follows, after)
		else
			show_log(leads, before)
	}
	for (before = 0; before < after; before++)
		leads[before] = follows[before]
	failed = ""
	after = 0
}
/^(not )?ok( |$)/ {
	end_test()
	if (/^not/ && !/# SKIP/)
		failed = $0
	next
}
!/^1\.\./ { follows[after++] = $0 }
END { end_test() }' "$3"
