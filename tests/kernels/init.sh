#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Process 1 of a guest. It loads the objects or records, as the kernel's command line says ($part and
# $brief). It sends /out through the second serial port. tests/kernels/run.sh put its programs into
# /test.

export PATH=/test:/bin LC_ALL=C HOME=/
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mkdir -p /out /usr/local/libexec
. /test/settings
cd /out || poweroff -f

say() {
	read -r uptime rest </proc/uptime
	echo "guest: $uptime s: $*"
}

record() {	# NAME BUILD ARGUMENTS...: leaves NAME.folded (or .$format), NAME.log and NAME.status
	name=$1 build=$2
	shift 2
	say "$name"
	ln -sfn "/test/$build" /usr/local/libexec/keyhole
	timeout 60 "/test/$build/keyhole" record -v -F "$HZ" -o "$name.${format:-folded}" "$@" \
		>"$name.log" 2>&1
	echo $? >"$name.status"
}

load_all() {
	say loading
	load_objects 1 /test/objects/*.bpf.o /test/objects/walk_loop.bpf.o:on_leave \
		/test/objects/walk_for.bpf.o:on_leave >load 2>load.log
}

# With none allowed, first those of users, then of any kind; these settings are this guest's alone.
record_without_namespaces() {
	echo 0 >/proc/sys/user/max_user_namespaces
	record no_user_namespaces loop -a -d 0.5
	for file in /proc/sys/user/max_*_namespaces; do
		echo 0 >"$file"
	done
	record no_namespaces loop -a -d 0.5
	record required loop -a -d 0.5 --require=namespaces
}

record_late_module() {
	record late loop -a -d 6 &
	recorder=$!
	until grep -qs enabled late.log || [ -e late.status ]; do
		sleep 0.1
	done
	insmod /test/module.ko
	wait $recorder
}

record_whole_machine() {
	record all loop -a -d "$ALL_SECONDS" &
	recorder=$!
	# Not before: starting to record would take many times as long.
	until grep -qs enabled all.log || [ -e all.status ]; do
		sleep 0.1
	done
	mixed "$ALL_SECONDS"
	wait $recorder
}

# A process that tells of itself in a memfd, or in memory with a name, which not every kernel knows.
record_context() {	# NAME ARGUMENTS...
	context=$1
	shift
	publish 60 "$@" &
	published=$!
	until [ -n "$(cat "/proc/$published/task/$published/children")" ]; do
		sleep 0.1
	done
	kill -USR1 $published
	while kill -0 $published 2>/dev/null && ! grep OTEL_CTX "/proc/$published/maps"; do
		sleep 0.1
	done >"$context.maps"
	format=otlp
	[ ! -s "$context.maps" ] || record "$context" loop -p $published -d 2
	format=
	kill $published
}

# A command that computes for a second or so, beside what else runs.
account() {
	say stat
	ln -sfn /test/loop /usr/local/libexec/keyhole
	timeout 60 /test/loop/keyhole stat --json -o stat.json -- busybox sh -c \
		'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' >stat.log 2>&1
	echo $? >stat.status
}

# Two that compute, of which each has a CPU until one CPU goes, for a second or more.
account_offline() {
	cpu=/sys/devices/system/cpu/cpu1/online
	say stat, with a CPU that goes and comes back
	ln -sfn /test/loop /usr/local/libexec/keyhole
	timeout 90 /test/loop/keyhole stat -v --json -o offline.json -- busybox sh -c '
		compute() {
			read -r now rest </proc/uptime
			end=$((${now%.*} + 7))
			until [ "${now%.*}" -ge $end ]; do
				read -r now rest </proc/uptime
			done
		}
		compute & compute & wait' >offline.log 2>&1 &
	counter=$!
	until grep -qs enabled offline.log || ! kill -0 $counter; do
		sleep 0.1
	done
	sleep 1
	echo 0 >$cpu
	cat $cpu >offline.was
	sleep 1.5
	echo 1 >$cpu
	cat $cpu >>offline.was
	wait $counter
	echo $? >offline.status
}

# The test build counts stacks of the kernel as losses: the same, given up, different.
record_kernel_stacks() {
	while :; do
		find / -xdev -type f -exec cat {} + | head -c 3000000 | sha1sum
	done >/dev/null 2>&1 &
	load=$!
	record kernel_stacks kernel-walk -a -d 3
	kill $load
}

record_all() {
	record mixed loop -- mixed "$MIXED_SECONDS"
	record signals loop -- signals "$SIGNALS_SECONDS"
	account
	account_offline
	record off_cpu loop --off-cpu -- waits sleep 300
	record_kernel_stacks
	[ -z "$brief" ] || return 0
	# With its fallback named, that was the other object already.
	grep -q 'bpf_loop.*missing' mixed.log || record mixed-for for -- mixed "$MIXED_SECONDS"
	record_whole_machine
	record_context memfd
	record_context named named
	[ ! -s /test/module.ko ] || record_late_module
	mixed 30 & # something to sample
	record_without_namespaces
	kill $!
}

"${part:-record}_all"
uname -r >release
cat /proc/sys/kernel/perf_event_paranoid >paranoid
dmesg >messages

say sending
stty -F /dev/ttyS1 raw
tar -c . | gzip -1 >/dev/ttyS1
say 'done'
poweroff -f
