# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For the scripts of this folder, which have $top, a folder of their own. Prints TAP.

number=0 failed=0

# result NAME COMMAND...: one test, told in a line; what the command prints is shown behind it.
result() {
	local name=$1 status
	shift
	number=$((number + 1))
	"$@" >"$top/said" 2>&1
	status=$?
	case $status in
	0) echo "ok $number - $name" ;;
	77) echo "ok $number - $name # SKIP $(tail -n 1 "$top/said")" ;;
	*) echo "not ok $number - $name"; failed=1 ;;
	esac
	[ $status = 77 ] || sed 's/^/#   /' "$top/said"
	return $status
}
