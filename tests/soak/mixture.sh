#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# mixture.sh WORKLOADS FOLDER: makes a profiler allocate again and again, with about half of a CPU,
# until a signal ends it. The mixture has forks, execs, libraries that come and go, programs nobody
# has seen before, processes of milliseconds, and code in anonymous memory.

workloads=$1
cd "$2" || exit 1
trap 'trap - TERM; kill 0' TERM INT

for i in 1 2 3 4 5 6; do
	cp "$workloads/plugin.so" "$i.so" || exit 1
done

forks() {
	"$workloads/forkserver" 1
	sleep 2
}

libraries() {
	"$workloads/libraries" 1 close ./[1-6].so
	sleep 3
}

new_programs() {
	cp "$workloads/short" "program.new" && mv "program.new" program && ./program 20
	cp "$workloads/plugin.so" "new.so" && "$workloads/libraries" 0.02 ./new.so
	sleep 0.5
}

short_ones() {
	for i in {1..20}; do
		/bin/true
	done
	"$workloads/short" 20
	sleep 0.5
}

execs() {
	timeout 1 "$workloads/exec_a" 20
	sleep 3
}

anonymous_code() {
	"$workloads/jit" 1
	sleep 2
}

for part in forks libraries new_programs short_ones execs anonymous_code; do
	(while :; do $part || sleep 1; done) 2>/dev/null &
done
wait
