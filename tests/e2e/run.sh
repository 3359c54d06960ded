#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/e2e/run.sh [PATTERN]: the built keyhole on the running kernel, against known workloads.
# Every function case_* of the *.cases files is a test; PATTERN chooses some, and EXCEPT, a pattern
# too, skips some. Prints TAP. Root.
#
# LANES cases run at once: three for each CPU, as most of a case is waiting. One lane runs the cases of
# a file that match its line "# in order: REGEXP". Such cases use equal names of processes and record
# the whole machine. A line "# alone: NAME..." names cases, and a line "# alone" the cases of its file,
# that run after all others, one at a time. They hold times, rates and shares of CPUs against bounds.
# A case that had too little CPU time (starved) runs once more, alone, and again if the CPUs are busy then.

cd "$(dirname "$0")/../.." || exit 1
here=${CASES:-tests/e2e}
STARVED=75	# exit status, also of stacks.py
BUSY=25		# percent of the time in which somebody waited for a CPU, or the host kept one
build=$(realpath "${BUILD:-build}")
workloads=$build/workloads
KEYHOLE=$build/keyhole
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root: sudo make check-root" | tee /dev/stderr; exit 77; }
top=${LANE_OF:-}	# of the run that started this one as a lane
if [ -z "$top" ]; then
	top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-e2e.XXXXXX") || exit 1
	chmod 755 "$top"
	trap 'rm -rf "$top"' EXIT
fi

# ---- what cases use: each runs in a subshell, in an empty folder of its own ($dir) ------------

skip() {
	echo "$*" >"$dir/.skip"
	exit 77
}

fail() {
	echo "  $*"
	exit 1
}

# starved TEXT: fail, where a machine that is busy with something else may be the cause.
starved() {
	echo "  $*"
	exit $STARVED
}

# or_starved STATUS TEXT: of a program that ended with $STARVED for lack of samples.
or_starved() {
	[ "$1" != $STARVED ] || starved 'too few samples'
	fail "$2"
}

need() {
	for program; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# One case does for all what Go does at the first use.
go_environment() {
	need go
	export HOME=$dir GOFLAGS=-mod=mod GOTOOLCHAIN=local PPROF_TMPDIR=$dir PPROF_BINARY_PATH=$dir
	export GOCACHE="${GOCACHE:-$build/go-cache}" CGO_ENABLED=0
	flock "$top/.go" tests/pprof -h >/dev/null 2>&1
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
	judged "$dir/p.folded" "$@"
}

# judged FILE PROCESS...: by stacks.py check.
judged() {
	local result
	stacks check "$@" && return
	result=$?
	cat "$dir/err"
	exit $result
}

# background COMMAND...: sets $child; ended with the case.
background() {
	: >"$dir/background.out" # not what the one before said
	"$@" >"$dir/background.out" 2>&1 &
	child=$!
	children="$children $child"
}

# until_it_is PID COMM: a shell's child has its program.
until_it_is() {
	for i in $(seq 1200); do
		[ "$(cat "/proc/$1/comm" 2>/dev/null)" != "$2" ] || return 0
		sleep 0.05
	done
	ps -fp "$1"
	starved "$2 does not run after 60 s"
}

# until_it_samples FILE: what -v says is there. A start takes 0.2 s, or seconds on a busy machine.
until_it_samples() {
	for i in $(seq 1200); do
		! grep -qs ' enabled ' "$1" || return 0
		sleep 0.05
	done
	cat "$1"
	starved 'does not sample after 60 s'
}

# used_by PID...: ticks of 10 ms that they and the children they have waited for were on a CPU.
used_by() {
	for pid; do
		cat "/proc/$pid/stat"
	done | sed 's/.*) //' | awk '{ used += $12 + $13 + $14 + $15 } END { print used + 0 }'
}

# until_they_used TICKS PID...: so many from now on, however long that takes on a busy machine.
until_they_used() {
	local used start
	start=$(used_by "${@:2}")
	for i in $(seq 1000); do
		used=$(used_by "${@:2}")
		[ $((used - start)) -lt "$1" ] || return 0
		sleep 0.1
	done
	starved "$((used - start)) ticks after 100 s, not $1"
}

# record_work TICKS PIDS ARGUMENTS...: of PIDS ("-p ..."), until they used so much CPU time meanwhile.
record_work() {
	background env --default-signal=INT "$KEYHOLE" record -v -d 150 $2 "${@:3}"
	until_it_samples "$dir/background.out"
	until_they_used "$1" ${2//-p/}
	kill -INT "$child"
	ended_in_background
}

end_children() {
	for pid in $children; do
		kill "$pid" 2>/dev/null
		kill -CONT "$pid" 2>/dev/null # a failed case may have left it stopped
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

# Files that all lanes share: the results so far, and the cases that wait, those of a line in order.
results=$top/.results queue=$top/.queue again=$top/.again is_alone=

# BEFORE AFTER: what `times` wrote. Prints the CPU time of what this shell has waited for meanwhile.
cpu_seconds() {
	awk 'FNR == 2 { gsub(/[ms]/, " "); print 60 * $1 + $2 + 60 * $3 + $4 }' "$@" |
		awk 'NR == 1 { before = $1 } END { printf "%.1f", $1 - before }'
}

# Sets $result and $took; the log is in $dir/.log.
run_once() {	# NAME
	local started=$SECONDS
	dir=$top/$1
	mkdir -p "$dir"
	times >"$top/.$1.before"
	(
		children=
		trap end_children EXIT
		"case_$1"
	) >"$dir/.log" 2>&1
	result=$?
	times >"$top/.$1.after"
	took="$((SECONDS - started)) s, CPU $(cpu_seconds "$top/.$1.before" "$top/.$1.after") s"
}

# Prints the time that the host kept CPUs, in ticks of 10 ms.
stolen() {
	awk '/^cpu / { print $9 }' /proc/stat
}

# The time, that in which somebody waited for a CPU, and that which the host took, in us.
clocks() {
	local waited=0
	[ ! -r /proc/pressure/cpu ] || waited=$(sed -n 's/^some .*total=//p' /proc/pressure/cpu)
	echo "${EPOCHREALTIME/./} $waited $(($(stolen) * 10000))"
}

# was_busy TIME WAITED STOLEN: as clocks() printed before. Says so in $dir/.log.
was_busy() {
	local now waited stolen all
	read -r now waited stolen <<<"$(clocks)"
	all=$((now - $1 + 1)) waited=$((waited - $2)) stolen=$((stolen - $3))
	echo "  somebody waited for a CPU $((100 * waited / all)) % of the time," \
		"the host kept $((100 * stolen / all)) % of one" >>"$dir/.log"
	[ $((100 * (waited + stolen))) -ge $((BUSY * all)) ]
}

is_left_out() {	# NAME
	[ -n "$EXCEPT" ] && grep -qxE -- "$EXCEPT" <<<"$1"
}

skip_case() {	# NAME
	dir=$top/$1
	mkdir -p "$dir"
	echo 'EXCEPT: make check-e2e runs it' >"$dir/.skip"
	touch "$dir/.log"
	tell "$1" 77 '' 8>"$top/.lock"
	rm -rf "$dir"
}

run_case() {	# NAME
	local name=$1 result took before first=
	if is_left_out "$name"; then
		skip_case "$name"
		return
	fi
	before=$(clocks)
	run_once "$name"
	if [ $result = $STARVED ] && { was_busy $before || [ -z "$is_alone" ]; }; then
		first=$(sed 's/^/  before: /' "$dir/.log")
		rm -rf "$dir"
		if [ -z "$is_alone" ]; then
			echo "$first" >"$top/.before-$name"
			echo "$name" >>"$again"
			return
		fi
		run_once "$name"
	fi
	[ ! -e "$top/.before-$name" ] || first=$(cat "$top/.before-$name")
	[ -z "$first" ] || echo "$first" >>"$dir/.log"
	tell "$name" $result "$took" 8>"$top/.lock"
	rm -rf "$dir"
}

tell() {	# NAME RESULT TIME
	local number
	flock 8
	echo "$1 $2" >>"$results"
	number=$(wc -l <"$results")
	case $2 in
	0) echo "ok $number - $1 ($3)" ;;
	77) echo "ok $number - $1 # SKIP $(cat "$dir/.skip" 2>/dev/null)" ;;
	*) echo "not ok $number - $1 ($3)" ;;
	esac
	sed 's/^/# /' "$dir/.log"
}

# Sets $work: the next line of cases.
take_work() {
	exec 8>"$top/.lock"
	flock 8
	work=$(head -n 1 "$queue")
	sed -i 1d "$queue"
	exec 8>&-
	[ -n "$work" ]
}

work_off() {
	while take_work; do
		for name in $work; do
			run_case "$name"
		done
	done
}

cases_of() {	# FILE
	sed -nE 's/^(case_[a-z0-9_]+)\(\).*/\1/p' "$1" | sed 's/^case_//' | grep -E -- "$pattern"
}

wants_to_be_alone() {	# FILE NAME
	grep -qE "^# alone(:.* $2( .*)?)?\$" "$1"
}

has_a_place() {	# FILE NAME: in an order
	local which
	which=$(sed -n 's/^# in order: //p' "$1")
	[ -n "$which" ] && [[ $2 =~ ^($which)$ ]]
}

if [ -n "$LANE_OF" ]; then
	work_off
	exit
fi

pattern=${1:-.} planned=0
: >"$queue"
: >"$top/.alone"
for file in $here/*.cases; do
	in_order=
	for name in $(cases_of "$file"); do
		planned=$((planned + 1))
		if wants_to_be_alone "$file" "$name"; then
			echo "$name" >>"$top/.alone"
		elif has_a_place "$file" "$name"; then
			in_order="$in_order $name"
		else
			echo "$name" >>"$queue"
		fi
	done
	[ -z "$in_order" ] || echo "$in_order" >>"$top/.first"
done
cat "$top/.first" "$queue" >"$top/.plan" 2>/dev/null
mv "$top/.plan" "$queue"
: >"$results"
echo "1..$planned"

# A shell's background jobs ignore SIGINT, which cases send.
for ((i = 0; i < ${LANES:-$((3 * $(nproc)))}; i++)); do
	LANE_OF=$top env --default-signal=INT,QUIT bash "$0" &
done
wait
is_alone=1
cat "$again" "$top/.alone" >"$queue" 2>/dev/null
work_off
[ ! -s "$again" ] || echo "# run once more, alone: $(tr '\n' ' ' <"$again")"
left=$((planned - $(wc -l <"$results")))
[ $left = 0 ] || echo "not ok - $left cases were not run"
! grep -qvE ' (0|77)$' "$results" && [ $left = 0 ]
