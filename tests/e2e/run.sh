#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/e2e/run.sh [PATTERN]: the built keyhole on the running kernel, against known workloads.
# Every function case_* of the *.cases files is a test; PATTERN chooses some. Prints TAP. Root.

cd "$(dirname "$0")/../.." || exit 1
here=${CASES:-tests/e2e}
build=$(realpath "${BUILD:-build}")
workloads=$build/workloads
KEYHOLE=$build/keyhole
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root: sudo make check-root" | tee /dev/stderr; exit 77; }
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-e2e.XXXXXX") || exit 1
chmod 755 "$top"
trap 'rm -rf "$top"' EXIT

# ---- what cases use: each runs in a subshell, in an empty folder of its own ($dir) ------------

skip() {
	echo "$*" >"$dir/.skip"
	exit 77
}

fail() {
	echo "  $*"
	exit 1
}

need() {
	for program; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# record ARGUMENTS...: runs keyhole record, leaves $status, $dir/out and $dir/err.
record() {
	timeout -k 5 180 "$KEYHOLE" record "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	return $status
}

# profile WORKLOAD ARGUMENTS...: from its first instruction to its exit, into $dir/p.folded.
profile() {
	record -F "${HZ:-499}" -o "$dir/p.folded" -- "$workloads/$1" "${@:2}"
	[ $status = 0 ] || { cat "$dir/err"; fail "record ended with $status"; }
}

stacks() {
	python3 tests/e2e/stacks.py "$@"
}

check() {
	stacks check "$dir/p.folded" "$@" || { cat "$dir/err"; exit 1; }
}

# background COMMAND...: sets $child; ended with the case.
background() {
	"$@" >"$dir/background.out" 2>&1 &
	child=$!
	children="$children $child"
}

end_children() {
	for pid in $children; do
		kill "$pid" 2>/dev/null
	done
	wait 2>/dev/null
	awk -v dir="$dir/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r |
		xargs -r umount -l
}

# refused STATUS[|STATUS] TEXT: the last record said no in one line that holds TEXT (a regexp).
refused() {
	[[ "$status" =~ ^($1)$ ]] || { cat "$dir/err" 2>/dev/null; fail "exit status $status, not $1"; }
	[ "$(wc -l <"$dir/err")" = 1 ] || { cat "$dir/err"; fail "not one line"; }
	grep -Eiq -- "$2" "$dir/err" || { cat "$dir/err"; fail "does not say: $2"; }
}

ended() {
	[ "$status" = "$1" ] || { cat "$dir/err" 2>/dev/null; fail "exit status $status, not $1"; }
}

# ---- run --------------------------------------------------------------------------------------

for file in $here/*.cases; do
	. "$file"
done

number=0 failed=0
cases=$(sed -nE 's/^(case_[a-z0-9_]+)\(\).*/\1/p' $here/*.cases | grep -E -- "${1:-.}")
echo "1..$(echo "$cases" | wc -w)"
for case in $cases; do
	number=$((number + 1))
	name=${case#case_}
	dir=$top/$name
	mkdir -p "$dir"
	started=$SECONDS
	(
		children=
		trap end_children EXIT
		$case
	) >"$dir/.log" 2>&1
	result=$?
	took=$((SECONDS - started))
	case $result in
	0) echo "ok $number - $name ($took s)" ;;
	77) echo "ok $number - $name # SKIP $(cat "$dir/.skip" 2>/dev/null)" ;;
	*) echo "not ok $number - $name ($took s)"; failed=1 ;;
	esac
	sed 's/^/# /' "$dir/.log"
	rm -rf "$dir"
done
exit $failed
