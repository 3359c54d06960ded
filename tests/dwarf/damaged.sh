#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Debug information with random bytes in it: the process that reads it may end, but does not go on
# for longer than its time. Prints TAP.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
. tests/dwarf/programs.sh
files=${DAMAGED:-60}
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-damaged.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT

program=$(program gcc-5)
[ -n "$program" ] || exit 1
addresses "$program" 2000 >"$top/addresses"
late=0 died=0
for ((i = 0; i < files; i++)); do
	python3 tests/dwarf/damage.py "$program" "$top/damaged" "$i" || exit 1
	(ulimit -t 20 -v 4194304; timeout 30 "$build/tests/dwarf/resolve" "$top/damaged" \
		<"$top/addresses" >/dev/null 2>&1)
	status=$?
	[ $status -ne 124 ] || late=$((late + 1))
	[ $status -lt 128 ] || died=$((died + 1))
done
[ $late = 0 ] && echo "ok 1 - $files damaged files: $died ended the process, none hung" ||
	echo "not ok 1 - $late of $files damaged files: still read after 30 s"
echo 1..1
[ $late = 0 ]
