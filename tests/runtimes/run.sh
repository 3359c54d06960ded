#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/run.sh: profiles of programs in each interpreter that can be had, compared with what the
# interpreter says of itself and with py-spy. One TAP stream. Interpreters stay in
# ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes. RUNTIMES_ALSO names further ones of this machine.
# tests/runtimes/run.sh [TEXT]: those whose name has the text. Others are not fetched.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes
here=tests/runtimes
SECONDS_EACH=3
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP needs root: sudo make check-runtimes' | tee /dev/stderr
	exit 77
fi
dir=$(mktemp -d /tmp/keyhole-runtimes.XXXXXX)
program=
finish() {
	[ -z "$program" ] || kill "$program" 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT
only=$1 number=0 failed=0 ran=0 py_spy=''

# inside ROOT COMMAND...: execs the command in a file system of its own, in the same pid namespace. The
# root is a mount, as that of a container is.
inside() {
	local root=$1
	shift
	[ "$root" != / ] || exec "$@"
	mkdir -p "$root"/{proc,dev,tmp}
	# shellcheck disable=SC2016
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C unshare -m --propagation private sh -c \
		'mount --bind "$0" "$0" && mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" &&
			exec chroot "$0" "$@"' "$root" "$@"
}

until_ready() {	# FILE
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		[ ! -e "$1" ] || return 0
		kill -0 "$program" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

# why_needs LINE: `keyhole why` of one of the processes tells that this line of the policy is needed.
why_needs() {
	local pid
	for pid in $(cat "$dir/report.json.ready"); do
		timeout 60 "$build/keyhole" why "$pid" -d 1 -F 499 >"$dir/why" 2>&1
		! tr -s ' \n' ' ' <"$dir/why" | grep -qF "a line \`$1\` in the policy file grants it" || return 0
	done
	cat "$dir/why" >>"$dir/out"
	echo "why does not name $1" >>"$dir/out"
	return 1
}

# profile ROOT WORKLOAD COMMAND: leaves profile.pb.gz, report.json, py-spy.raw and notes in $dir.
profile() {
	local work=$dir root=$1 script=$2.py theirs folder pid start processes=() policy=()
	[[ $2 != *.* ]] || script=$2
	rm -rf "${dir:?}"/*
	[ "$root" = / ] || work=$(mktemp -d "$root/tmp/runtimes.XXXXXX")
	cp $here/workloads/* "$work"
	folder=${work#"${root%/}"}
	start="$3 $folder/$script"
	if [ "$script" = Calls.java ]; then	# no package of Java without a screen has a compiler
		javac -nowarn --release 8 -g -d "$work" "$work/$script" >"$dir/out" 2>&1 || return 1
		start="$3 -cp $folder Calls"
	fi
	# shellcheck disable=SC2086
	(inside "$root" $start "$folder/report.json") >"$dir/out" 2>&1 &
	program=$!
	until_ready "$work/report.json.ready" || return 1
	for pid in $(cat "$work/report.json.ready"); do	# of the workload, where there are others
		processes+=(-p "$pid")
	done
	[ ${#processes[@]} -gt 0 ] || processes=(-p "$program")
	# at once: which of two threads gets on is a matter of phases
	theirs=
	if [ -n "$py_spy" ] && [ "$2" = calls ] && [ "${3#* }" = "$3" ]; then
		timeout 60 "$py_spy" record -F -r 199 -d $((SECONDS_EACH + 1)) -f raw -o "$dir/py-spy.raw" -p "$program" \
			>"$dir/py-spy.out" 2>&1 &
		theirs=$!
	fi
	if [ -e "$work/report.json.policy" ]; then
		why_needs "$(cat "$work/report.json.policy")" || return 1
		policy=(--policy "$work/report.json.policy")
	fi
	timeout 60 "$build/keyhole" record -F 499 -d $SECONDS_EACH -f pprof -o "$dir/profile.pb.gz" "${policy[@]}" "${processes[@]}" \
		>"$dir/notes" 2>&1 || return 1
	if [ -n "$theirs" ] && ! wait "$theirs"; then
		rm -f "$dir/py-spy.raw"
	fi
	: >"$work/report.json.stop"
	kill "$program"
	# a script in Lua has its report already, and dies
	wait "$program" || [ $? = 143 ] || return 1
	program=
	[ "$root" = / ] || { mv "$work/report.json" "$dir" && rm -rf "$work"; }
}

# compare WORKLOAD
compare() {
	local theirs=
	if [[ $1 = [Mm]ade* ]]; then
		python3 $here/made.py "$dir/profile.pb.gz" "$dir/report.json"
		return
	fi
	[ ! -s "$dir/py-spy.raw" ] || theirs=$dir/py-spy.raw
	# shellcheck disable=SC2086
	python3 $here/compare.py "$dir/profile.pb.gz" "$dir/report.json" $theirs
}

# one NAME ROOT WORKLOAD COMMAND
one() {
	number=$((number + 1))
	if [ "$2" = - ]; then
		echo "ok $number - $1 # SKIP $3"
		return
	fi
	ran=$((ran + 1))
	if profile "$2" "$3" "$4" && compare "$3"; then
		echo "ok $number - $1"
		return
	fi
	[ -z "$program" ] || kill "$program" 2>/dev/null
	program=
	sed 's/^/# /' "$dir"/{out,notes} 2>/dev/null
	echo "not ok $number - $1"
	failed=1
}

# another run of it may be there
list=$(mktemp) && $here/install.sh "$cache" "$only" >"$list" || exit 1
echo '# | version   samples      shown   complete  functions      calls     leaves      order     py-spy      names    inlined     proven'
while IFS=$'\t' read -r name root workload command <&3; do
	if [ "$name" = py-spy ] && [ "$root" != - ]; then
		py_spy=$command
	elif [[ $name == *$only* ]]; then
		one "$name" "$root" "$workload" "$command"
	fi
done 3<"$list"
rm -f "$list"
echo "1..$number"
[ "$ran" -gt 0 ] || { echo '# no interpreter ran'; exit 1; }
exit $failed
