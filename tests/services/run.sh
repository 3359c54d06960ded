#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/services/run.sh [TEXT]: profiles of services in several languages, under a load of requests, compared with the stacks
# that the language itself reports (check.py). One TAP stream. TEXT: services whose name has it. PAGES=FOLDER keeps the
# page of each one.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes
here=tests/services
SECONDS_EACH=10
HZ=199
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP needs root: sudo make check-services' | tee /dev/stderr
	exit 77
fi
only=$1 number=0 failed=0 ran=0
dir=$(mktemp -d /tmp/keyhole-services.XXXXXX)
work='' programs=() load=''
# stop: ends the service and its load, and removes their folder
stop() {
	[ -z "$work" ] || : >"$work/stop"
	[ -z "$load" ] || wait "$load"
	load=
	[ ${#programs[@]} = 0 ] || kill "${programs[@]}" 2>/dev/null
	[ ${#programs[@]} = 0 ] || wait "${programs[@]}" 2>/dev/null
	programs=()
	[ "$work" = "$dir" ] || rm -rf "$work"
	work=
}
finish() {
	stop
	rm -rf "$dir"
}
trap finish EXIT

# inside ROOT COMMAND...: execs the command in a file system of its own, in the same pid namespace. The
# root is a mount, as that of a container is.
inside() {
	local root=$1
	shift
	[ "$root" != / ] || exec env "${with[@]}" "$@"
	mkdir -p "$root"/{proc,dev,tmp}
	# shellcheck disable=SC2016
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "${with[@]}" unshare -m --propagation private sh -c \
		'mount --bind "$0" "$0" && mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" &&
			cd / && exec chroot "$0" "$@"' "$root" "$@"
}

# begin COMMAND...: one of the service's programs
begin() {
	(inside "$root" "$@") >>"$dir/out" 2>&1 &
	programs+=($!)
}

port_that_is_free() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# serve KIND COMMAND: begins a service in $work, which its programs know as $folder
serve() {
	local with=("PORT=$port" "STACKS=$folder/stacks")
	case $1 in
	spring)
		cp -r "$cache/services-spring/lib" "$work" &&
			javac -g -parameters --release 17 -cp "$work/lib/*" -d "$work" $here/Service.java || return 1
		# shellcheck disable=SC2086
		begin $2 -cp "$folder:$folder/lib/*" shop.Service
		;;
	express)
		cp -r "$cache/services-express/node_modules" "$work"
		# shellcheck disable=SC2086
		begin $2 "$folder/service.js"
		;;
	sinatra)
		# shellcheck disable=SC2086
		begin $2 -C /dev/null -e production -w 2 -t 2:2 -b "tcp://127.0.0.1:$port" "$folder/config.ru"
		;;
	php)
		sed -i "s|PORT|$port|; s|FOLDER|$folder|" "$work"/{nginx,fpm}.conf
		chmod 1777 "$work"
		echo 'nobody:x:65534:65534::/:/bin/false' >"$root/etc/passwd" # no script of a package has run
		echo 'nogroup:x:65534:' >"$root/etc/group"
		begin "$2" --fpm-config "$folder/fpm.conf" -c "$folder"
		begin nginx -e "$folder/errors" -c "$folder/nginx.conf"
		;;
	esac 2>>"$dir/out"
}

# family PID: the process and its descendants
family() {
	local child
	echo "$1"
	for child in $(cat "/proc/$1"/task/*/children 2>/dev/null); do
		family "$child"
	done
}

until_ready() {
	local tries
	for ((tries = 0; tries < 2400; tries++)); do
		[ ! -e "$work/ready" ] || return 0
		kill -0 "$load" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

# record FORM SECONDS OPTION...: in the background
record() {
	local form=$1 seconds=$2
	shift 2
	timeout 60 "$build/keyhole" record -F $HZ -d "$seconds" -f "$form" -o "$dir/profile.$form" "$@" \
		>"$dir/notes.$form" 2>&1 &
}

# record_others OPTION...: at once, in the formats that are asked for functions alone
record_others() {
	local form recorders=() status=0 one
	for form in folded otlp html; do
		record $form $SECONDS_EACH "$@"
		recorders+=($!)
	done
	for one in "${recorders[@]}"; do
		wait "$one" || status=1
	done
	return $status
}

# profile ROOT KIND COMMAND: leaves a profile of each format and the stacks that the service reports in $dir
profile() {
	local root=$1 folder port pid processes=() status=0
	work=$(mktemp -d "${root%/}/tmp/services.XXXXXX") || return 1
	folder=${work#"${root%/}"}
	cp $here/* "$work"
	port=$(port_that_is_free)
	serve "$2" "$3" || return 1
	python3 $here/load.py "$port" "$work" "$RATE" >>"$dir/out" 2>&1 &
	load=$!
	until_ready || return 1
	sort -u "$work/stacks" >"$dir/stacks"
	for pid in "${programs[@]}"; do
		family "$pid"
	done | sort -u >"$dir/pids"
	while read -r pid; do
		processes+=(-p "$pid")
	done <"$dir/pids"
	record pprof $SECONDS_EACH "${processes[@]}" && wait $! || status=1
	record_others "${processes[@]}" || status=1
	for pid in $(cat "$dir/pids"); do
		timeout 60 "$build/keyhole" why "$pid" -d 1 -F 199 >"$dir/why.$pid" 2>&1
	done
	kill -0 "$load" 2>/dev/null || status=1
	return $status
}

# one NAME ROOT KIND COMMAND
one() {
	local status=0
	number=$((number + 1))
	if [ "$2" = - ]; then
		echo "ok $number - $1 # SKIP $3"
		return
	fi
	ran=$((ran + 1))
	rm -rf "${dir:?}"/*
	profile "$2" "$3" "$4" && python3 $here/check.py "$3" "$dir" || status=1
	stop
	[ -z "$PAGES" ] || { mkdir -p "$PAGES/$1" && cp "$dir"/* "$PAGES/$1"; }
	if [ $status = 0 ]; then
		echo "ok $number - $1"
		return
	fi
	{ tail -n 5 "$dir/out" && cat "$dir/notes.pprof"; } 2>/dev/null | sed 's/^/# /'
	echo "not ok $number - $1"
	failed=1
}

RATE=${RATE:-60} # requests a second
list=$(mktemp) && $here/install.sh "$cache" >"$list" || exit 1
echo '# | service   samples   complete      whole     stacks      lines    unnamed'
while IFS=$'\t' read -r name root kind command <&3; do
	[[ $name != *$only* ]] || one "$name" "$root" "$kind" "$command"
done 3<"$list"
rm -f "$list"
echo "1..$number"
[ "$ran" -gt 0 ] || { echo '# no service ran'; exit 1; }
exit $failed
