#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/run.sh and tests/total.sh say which tests failed, and what those and no others said.

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

suite() {	# STATUS PROGRAM...: its output is in $top/said
	local wanted=$1
	shift
	BUILD=$top tests/run.sh suite "$@" >"$top/said" 2>&1
	[ $? = "$wanted" ] || { echo 'run.sh: exit status'; exit 1; }
}

total() {	# STATUS
	tests/total.sh "$top/results" >"$top/said" 2>&1
	[ $? = "$1" ] || { echo 'total.sh: exit status'; exit 1; }
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

rm -r "$top/results"
total 1
echo '0 passed, 0 failed, 0 skipped' | says
