#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/go.sh [VERSION...]: stacks and labels of programs that each version of Go has built. One TAP
# stream, and a table of what is complete. Built programs stay in
# ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes.
#
#   garbage, growing, clocks   workloads/gostacks; garbage with GOGC=5
#   cgo                        workloads/cgo, linked by the linker of C: from Go to C and back
#   library                    workloads/goshared in a program of C
#   labels                     workloads/golabels
#   labels of a library        the same in a program of C

cd "$(dirname "$0")/../.." || exit 1
. tests/runtimes/go_versions.sh
build=$(realpath "${BUILD:-build}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes/go
workloads=$PWD/tests/e2e/workloads
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C GOCACHE=$cache/cache
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP needs root: sudo tests/runtimes/go.sh' | tee /dev/stderr
	exit 77
fi
for program in go gcc; do
	command -v $program >/dev/null || { echo "1..0 # SKIP $program is not installed"; exit 77; }
done
[ $# -gt 0 ] || set -- $go_versions
dir=$(mktemp -d /tmp/keyhole-go.XXXXXX)
child=
finish() {
	[ -z "$child" ] || kill "$child" 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT
mkdir -p "$cache"
printf 'runtime golabels\nruntime libgolabels\n' >"$dir/policy.conf"
chmod 755 "$dir"
number=0 failed=0 table=
TICKS=70 SAMPLES=300

# ---- programs ----

# build_one NAME WORKLOAD CGO OPTION...: $bin/NAME, unless it is newer than what it is made of
build_one() {
	local name=$1 workload=$2 cgo=$3
	shift 3
	[ -z "$(find "$workloads/$workload" -maxdepth 1 -type f -newer "$bin/$name" 2>&1)" ] && return
	(cd "$workloads/$workload" && CGO_ENABLED=$cgo GOROOT=$there "$there/bin/go" build -p 2 "$@" \
		-o "$bin/$name" .) >>"$dir/log" 2>&1
}

build_all() {	# VERSION
	bin=$cache/$1
	mkdir -p "$bin"
	there=$(go_root "$1" 2>"$dir/log") || return 1
	build_one gostacks gostacks 0 && build_one golabels golabels 0 &&
		build_one cgo cgo 1 -ldflags=-linkmode=external &&
		build_one libshared.so goshared 1 -buildmode=c-shared &&
		build_one libgolabels.so golabels 1 -buildmode=c-shared &&
		gcc -O2 -fno-omit-frame-pointer -o "$bin/host" "$workloads/goshared/host/host.c" -ldl 2>>"$dir/log" &&
		gcc -O2 -o "$bin/labels-host" "$workloads/golabels/host/host.c" -ldl 2>>"$dir/log"
}

# ---- recordings ----

# used PID: ticks of 10 ms that the process was on a CPU
used() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

# running NAME COMMAND...: records a program that runs already, until it used TICKS of CPU time meanwhile
running() {
	local tries recorder start
	"${@:2}" >"$dir/said" 2>&1 &
	child=$!
	for ((tries = 0; tries < 200; tries++)); do
		[ "$(cat "/proc/$child/comm")" != "$1" ] || break
		sleep 0.05
	done
	env --default-signal=INT "$build/keyhole" record -v -F 999 -d 120 --force -o "$dir/p.folded" -p $child >"$dir/log" 2>&1 &
	recorder=$!
	for ((tries = 0; tries < 1200; tries++)); do
		! grep -q ' enabled ' "$dir/log" || break
		sleep 0.05
	done
	start=$(used $child)
	while kill -0 $recorder 2>/dev/null && [ $(($(used $child) - start)) -lt $TICKS ]; do
		sleep 0.1
	done
	kill -INT $recorder
	wait $recorder
	kill $child 2>/dev/null
	wait $child 2>/dev/null
	child=
}

# judge NAME PROCESS ARGUMENT...: by stacks.py check; a row of the table
judge() {
	local said result=ok
	number=$((number + 1))
	said=$(python3 tests/e2e/stacks.py check "$dir/p.folded" "$2" --samples $SAMPLES --complete 99 "${@:3}" 2>&1) || result='not ok'
	[ "$result" = ok ] || { failed=1; sed 's/^/# /' "$dir/log"; echo "$said" | sed 's/^/# /'; }
	echo "$result $number - $version: $1"
	table="$table $(sed -n 's/.* \([0-9.]*\) % complete.*/\1/p;' <<<"$said" | head -n 1)"
}

stacks() {
	running gostacks env GOGC=5 "$bin/gostacks" garbage 120
	judge garbage gostacks --chain 'runtime\.(scanobject|scanSpan|tryDeferToSpanScan)' \
		'^runtime\.goexit;.*(runtime\.gcBgMarkWorker|main\.makeTree|main\.garbage);(.*;)?runtime\.systemstack;'
	running gostacks "$bin/gostacks" growing 120
	judge growing gostacks --chain 'runtime\.(pcvalue|adjustframe|findfunc)' \
		'^runtime\.goexit;.*main\.grow;(main\.deep;)+runtime\.morestack;runtime\.newstack;'
	running gostacks "$bin/gostacks" clocks 120
	judge clocks gostacks --chain '__vdso_clock_gettime' '^runtime\.goexit;runtime\.main;main\.main;.*;time\.[nN]ow;'
}

mixed() {
	local to_c='runtime\.cgocall;runtime\.asmcgocall;([^;]+;)+' to_go='runtime\.cgocallback;([^;]+;)+main\.'
	"$build/keyhole" record -F 999 --force -o "$dir/p.folded" -- "$bin/cgo" >"$dir/log" 2>&1
	judge cgo cgo --chain 'main\.goLeaf' "^runtime\.goexit;|${to_go}called_back;" \
		--chain 'main\.calledLeaf' "($to_c.*$to_go.*){3}|start_thread;.*${to_go}called_back"
	running host "$bin/host" "$bin/libshared.so" 120000
	judge library host --chain 'main\.spin' "^runtime\.goexit;.*main\.garbage;|;main;.*${to_go}shared" \
		--chain spin_in_c ";main;.*${to_go}shared.*;$to_c.*called_back;"
}

# labels NAME COMMAND...: the labels of a program
labels() {
	local result=ok
	number=$((number + 1))
	if ! "$build/keyhole" record --policy "$dir/policy.conf" --go-labels -F 499 --force -o "$dir/p.otlp.json" -- \
		"${@:2}" 3 >"$dir/said" 2>"$dir/log" ||
		! python3 tests/e2e/golabels.py "$dir/p.otlp.json" "$dir/said" >>"$dir/log" 2>&1; then
		result='not ok' failed=1
		sed 's/^/# /' "$dir/log"
	fi
	table="$table $(tail -n 1 "$dir/log" | sed 's/.*, \([0-9]*\) from the grant on, \([0-9]*\) with .*/\2:\1/')"
	echo "$result $number - $version: $1"
}

for version; do
	if ! build_all "$version"; then
		number=$((number + 1))
		echo "ok $number - $version # SKIP not built: $(tail -n 1 "$dir/log")"
		continue
	fi
	table="$table|$version"
	stacks
	mixed
	labels labels "$bin/golabels"
	labels 'labels of a library' "$bin/labels-host" "$bin/libgolabels.so"
done
echo '# | percent complete; samples with labels, of those from the grant on'
echo "|version garbage growing clocks cgo library labels labels-of-library$table" | tr '|' '\n' | sed '/^$/d' | column -t | sed 's/^/# | /'
echo "1..$number"
exit $failed
