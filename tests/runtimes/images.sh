#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/images.sh [TEXT]: records tests/bpf/images.tar.xz anew: memory images of workloads/image.*
# and Image.java in each interpreter of install.sh, and in those of RUNTIMES_ALSO. TEXT: in those whose name
# has it; the other images stay. Root. After a change of what BPF reads, or of struct runtime_config, the
# images are to be recorded again: make memory-images.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes
kept=tests/bpf/images.tar.xz
# one release for each column of worker/runtime/lua_layout.def
of_lua='lua5.4_of_bullseye lua5.1_of_trixie lua5.2_of_trixie lua5.3_of_trixie lua5.4_of_trixie lua5.5_of_sid'
only=$1 failed=0 process=

[ "$(id -u)" = 0 ] || { echo 'images.sh: needs root' >&2; exit 1; }
dir=$(mktemp -d /tmp/keyhole-images.XXXXXX) || exit 1
finish() {
	[ -z "$process" ] || kill -9 "$process" 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT

until_reported() {	# FILE
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		[ ! -e "$1" ] || return 0
		kill -0 "$process" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

# run ROOT COMMAND...: starts it in $work, which is in that root. Its standard input never ends.
run() {
	local root=$1
	shift
	# shellcheck disable=SC2016
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 chroot "$root" sh -c 'cd "$0" && exec "$@"' \
		"${work#"${root%/}"}" "$@" <>"$dir/nothing" >"$dir/out" 2>&1 &
	process=$!
}

# record_these KIND...: of the process that runs, which is then ended
record_these() {
	local kind status=0
	until_reported "$work/report-$1" || status=1
	for kind; do
		[ $status != 0 ] ||
			"$build/tests/runtimes/record_image" "$process" "$work/report-$kind" "$dir/images" \
				>>"$dir/out" 2>&1 || status=1
	done
	kill -9 "$process"
	wait "$process" 2>/dev/null
	process=
	return $status
}

record_python() {	# ROOT PROGRAM
	run "$1" "$2" -B -E -S -s -c \
		'exec(compile(open("image.py", encoding="utf-8").read(), "image.py", "exec"))' report
	record_these held released
}

# A program in Lua has one thread. It finds its process in proc.
record_lua() {	# ROOT PROGRAM KIND...
	local root=$1 program=$2 kind status=0 mounted=
	shift 2
	if ! [ -e "${root%/}/proc/self" ]; then
		mkdir -p "$root/proc" && mount --bind /proc "$root/proc" && mounted=$root/proc
	fi
	for kind; do
		# shellcheck disable=SC2086
		run "$root" $program image.lua report "$kind"
		record_these "$kind" || status=1
	done
	[ -z "$mounted" ] || umount "$mounted"
	return $status
}

# PHP has the program from standard input, so that its files have no path.
record_php() {	# ROOT PROGRAM
	local kind status=0
	for kind in held released; do
		# shellcheck disable=SC2016
		run "$1" sh -c 'exec "$0" -n -- report "$1" <image.php' "$2" $kind
		record_these $kind || status=1
	done
	return $status
}

# A program in Ruby has one thread, too.
record_ruby() {	# ROOT PROGRAM
	local kind status=0
	for kind in held released; do
		run "$1" "$2" --disable=gems image.rb report $kind
		record_these $kind || status=1
	done
	return $status
}

record_perl() {	# ROOT PROGRAM
	local kind status=0
	for kind in held released; do
		run "$1" "$2" image.pl report $kind
		record_these $kind || status=1
	done
	return $status
}

# Java compiles much while it runs, unless it may not.
record_java() {	# ROOT PROGRAM
	local status=0 mounted=
	if ! [ -e "${1%/}/proc/self" ]; then
		mkdir -p "$1/proc" && mount --bind /proc "$1/proc" && mounted=$1/proc
	fi
	run "$1" "$2" -Xint -cp . Image report interpreted
	record_these interpreted || status=1
	run "$1" "$2" -cp . Image report compiled
	record_these compiled || status=1
	[ -z "$mounted" ] || umount "$mounted"
	return $status
}

# Node.js has the program from standard input, so that its file has no path. KIND: how V8 runs the functions.
record_node() {	# ROOT PROGRAM KIND
	# shellcheck disable=SC2016,SC2086
	run "$1" sh -c 'exec "$@" <image.js' - $2 - report "$3"
	record_these "$3"
}

# record NAME ROOT PROGRAM: the program's folder is the root of its file names: no path of this machine gets
# into an image.
record() {
	local work status=0
	work=$(mktemp -d "${2%/}/tmp/images.XXXXXX") || return 1
	cp tests/runtimes/workloads/image.{py,lua,php,rb,pl,js} "$dir"/Image*.class "$work"
	case $3 in
	*/java) record_java "$2" "$3" ;;
	*/node\ *) record_node "$2" "$3" "${1##*, }" ;;
	*/luajit) record_lua "$2" "$3" traced ;;
	*/lua*) record_lua "$2" "$3" held released ;;
	*/php*) record_php "$2" "$3" ;;
	*/ruby[0-9]*) record_ruby "$2" "$3" ;;
	*/perl) record_perl "$2" "$3" ;;
	*) record_python "$2" "$3" ;;
	esac || status=1
	rm -rf "$work"
	[ $status = 0 ] || sed "s|^|$1: |" "$dir/out" >&2
	return $status
}

mkdir "$dir/images"
mkfifo "$dir/nothing"
javac -nowarn --release 8 -g -d "$dir" tests/runtimes/workloads/Image.java >"$dir/out" 2>&1 ||
	echo 'no images of Java: javac is not installed'
tests/runtimes/install.sh "$cache" >"$dir/list" || exit 1
while IFS=$'\t' read -r name root rest <&3; do
	program=${rest##*$'\t'}	# the last column
	[[ $name != py-spy && $name == *$only* ]] || continue
	if [ "$root" = - ]; then
		echo "$name: $rest"
	elif [[ $name == 'code of '* ]]; then
		echo "$name: no list of functions is walked"
	elif [[ $name == *', inlined' || $name == *', virtual'* || $name == *', wasm'* ]]; then
		echo "$name: has the layout of another row"
	elif [[ $program == */luajit* ]]; then
		[[ $name != *sid* && $name != 'luajit of bullseye' ]] || continue	# no other layout, no traces
		record "$name" "$root" "$program" || failed=1
	elif [[ $program == */lua* && " $of_lua " != *" ${name// /_} "* ]]; then
		echo "$name: has the layout of another release"
	elif [[ $program == */ruby || $name == perl*', library' || $name == perl*', single' || $name == perl*' without threads' ]]; then
		echo "$name: has the layout of another build"
	elif [ "${program#* }" != "$program" ] && [[ $program != */node\ * ]]; then
		echo "$name: more than a program"
	elif ! record "$name" "$root" "$program"; then
		failed=1
	fi
done 3<"$dir/list"
[ $failed = 0 ] || exit 1
[ -z "$only" ] || tar -C "$dir/images" --skip-old-files -xJf "$kept"
tar -C "$dir/images" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cJf "$kept" . && ls "$dir/images"
