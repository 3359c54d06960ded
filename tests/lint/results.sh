#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/run.sh and tests/total.sh say which tests failed, and what those and no others said. A plan
# with fewer results, a crash and a suite below its row of tests/least are failures.

top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-results.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT

cat >"$top/tap" <<'END'
#!/bin/sh
echo 1..4
echo 'ok 1 - first'
echo '# first says'
echo 'not ok 2 - second'
for line in $(seq 25); do echo "# second says $line"; done
echo 'not ok 3 - third # SKIP no third'
echo 'ok 4 - fourth'
echo '# fourth says'
echo '# run once more, alone: first'
exit 1
END
printf '#!/bin/sh\necho "a word"\nexit 3\n' >"$top/silent"
printf '#!/bin/sh\nexit 0\n' >"$top/good"
chmod 755 "$top"/*

echo 'suite 1' >"$top/least"

suite() {	# STATUS PROGRAM...: its output is in $top/said
	local wanted=$1
	shift
	BUILD=$top LEAST=$top/least tests/run.sh suite "$@" >"$top/said" 2>&1
	[ $? = "$wanted" ] || { echo 'run.sh: exit status'; exit 1; }
}

total() {	# STATUS
	tests/total.sh "$top/results" >"$top/all" 2>&1
	[ $? = "$1" ] || { echo 'total.sh: exit status'; exit 1; }
	grep '^suite  ' "$top/all" >"$top/table"
	grep -v '^suite  ' "$top/all" >"$top/said"
}

says() {
	diff - "$top/said" || exit 1
}

suite 1 "$top/tap" "$top/silent" "$top/good"
{
	echo '  suite/tap: not ok 2 - second'
	for line in $(seq 10); do echo "    # second says $line"; done
	echo '    ... 5 lines'
	for line in $(seq 16 25); do echo "    # second says $line"; done
	echo '  suite/tap: not ok 2 - second'
	echo '  suite/tap: not ok 3 - third # SKIP no third'
	echo '  suite/tap: run once more, alone: first'
	echo '  TEST     suite/tap: 2 passed'
	echo '  suite/silent: not ok - silent: ended with status 3'
	echo '    a word'
	echo '  suite/silent: not ok - silent: ended with status 3'
	echo '  TEST     suite/silent: 0 passed'
	echo '  TEST     suite/good: 1 passed'
} | says

total 1
{
	echo 'failed, of the logs 30 lines:'
	echo 'suite/silent: not ok - silent: ended with status 3'
	echo '    a word'
	echo 'suite/tap: not ok 2 - second'
	for line in $(seq 7); do echo "    # second says $line"; done
	echo '    ... 10 lines'
	for line in $(seq 18 25); do echo "    # second says $line"; done
	echo failed:
	echo 'suite/silent: not ok - silent: ended with status 3'
	echo 'suite/tap: not ok 2 - second'
	echo '3 passed, 2 failed, 1 skipped'
} | says

suite 0 "$top/good"
total 0
echo '1 passed, 0 failed, 0 skipped' | says
grep -Eqx 'suite +1 +0 +0 +[0-9]+ +[0-9]+' "$top/table" || { cat "$top/table"; exit 1; }

# program NAME STATUS LINE...: prints the lines.
program() {
	local name=$1 status=$2
	shift 2
	{
		echo '#!/bin/sh'
		[ $# = 0 ] || printf 'echo "%s"\n' "$@"
		echo "exit $status"
	} >"$top/$name"
	chmod 755 "$top/$name"
}

# fails TEXT PROGRAM...: the suite does, by that one failure.
fails() {
	local text=$1
	shift
	suite 1 "$@"
	total 1
	[ "$(sed -n '/^failed:$/,$p' "$top/said" | sed -n 2p)" = "$text" ] &&
		grep -q ' 1 failed, ' "$top/said" || { cat "$top/said"; exit 1; }
}

program short 0 1..3 'ok 1 - a' 'ok 2 - b'
fails 'suite/short: not ok - 3 tests planned, 2 results' "$top/short"
program long 0 1..1 'ok 1 - a' 'ok 2 - b'
fails 'suite/long: not ok - 1 tests planned, 2 results' "$top/long"
program none 0 1..0
fails 'suite/none: not ok - a plan of no tests' "$top/none"
program plan 0 1..2
fails 'suite/plan: not ok - 2 tests planned, 0 results' "$top/plan"
program crash 139 'ok 1 - a'
fails 'suite/crash: not ok - crash: ended with status 139' "$top/crash"

echo 'suite 2' >"$top/least"
fails 'suite/least: not ok - suite: 1 results, fewer than 2 of tests/least' "$top/good"
cp "$top/good" "$top/fine"
suite 0 "$top/good" "$top/fine"
echo 'other 1' >"$top/least"
fails 'suite/least: not ok - suite: no row in tests/least' "$top/good"

# A suite that a machine cannot run is skipped, with the reason, also below its least number.
echo 'suite 2' >"$top/least"
printf '#!/bin/sh\necho "1..0 # SKIP no root"\necho "no root" >&2\nexit 77\n' >"$top/skip"
chmod 755 "$top/skip"
suite 0 "$top/skip"
grep -qx '  suite/skip: ok - skip # SKIP no root' "$top/said" || { cat "$top/said"; exit 1; }

rm -r "$top/results"
total 1
echo '0 passed, 0 failed, 0 skipped' | says
