#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/escape/run.sh: all of the escape suite, one TAP stream. The soak goes on beside the rest.
# ESCAPE_SOAK_SECONDS (60) is its length, ESCAPE_JOBS (3) how many recordings run at a time.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C ESCAPE_JOBS=${ESCAPE_JOBS:-3}
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND
roles='keyhole-worker keyhole-exporter keyhole-broker keyhole'

if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP needs root: sudo make check-escape' | tee /dev/stderr
	exit 77
fi
if [ -n "$SANITIZE" ]; then
	echo '1..0 # SKIP a sanitizer allows no confinement'
	exit 77
fi
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-escape.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT

# run NAME COMMAND...: its output into $top/NAME; a bad end without a reason and a plan with fewer
# results are failures.
run() {
	local name=$1 status
	shift
	"$@" >"$top/$name" 2>"$top/$name.err"
	status=$?
	if [ $status != 0 ] && ! grep -q '^not ok' "$top/$name"; then
		echo "not ok - $name: ended with status $status" >>"$top/$name"
		sed 's/^/# /' "$top/$name.err" >>"$top/$name"
	fi
	tests/plan.sh "$top/$name" | sed "s/ - / - $name: /" >"$top/$name.plan"
	grep -q '^1\.\.[1-9]' "$top/$name" || echo "not ok - $name: no plan" >>"$top/$name.plan"
}

started=$SECONDS parts=
run inventory tests/escape/inventory.py "$build" &
run violations tests/escape/violations.py "$build" &
for role in $roles; do
	run "calls-$role" "$build/escape/test_calls" "$role"
	run "layers-$role" "$build/escape/test_layers" "$role"
done
run peers "$build/test_peers"
wait
for role in $roles; do
	parts="$parts calls-$role layers-$role"
done
for part in $parts peers violations inventory; do
	cat "$top/$part" "$top/$part.plan"
done | sed -E 's/^((not )?ok) [0-9]+ /\1 /; /^1\.\./d' | tee "$top/all"
echo "# $((SECONDS - started)) s"
! grep -q '^not ok' "$top/all"
