#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/total.sh FOLDER: adds up every TAP file below FOLDER. Exit status 1 when a test failed, or
# when none ran at all.

find "$1" -name '*.tap' -exec cat {} + 2>/dev/null | awk '
/^(not )?ok( |$)/ {
	if (/# SKIP/) skipped++
	else if (/^not/) failed++
	else passed++
}
END {
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 || passed == 0
}'
