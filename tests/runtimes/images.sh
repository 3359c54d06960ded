#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/images.sh: records tests/bpf/images.tar.xz anew: memory images of workloads/image.py in
# each interpreter of install.sh, and in those of RUNTIMES_ALSO. Root. After a change of what BPF reads,
# or of struct runtime_config, the images are to be recorded again: make memory-images.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes
kept=tests/bpf/images.tar.xz
failed=0 process=

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

# record NAME ROOT PROGRAM: the program's folder is the root of its file names: no path of this machine gets
# into an image.
record() {
	local work kind status=0
	work=$(mktemp -d "${2%/}/tmp/images.XXXXXX") || return 1
	cp tests/runtimes/workloads/image.py "$work"
	# shellcheck disable=SC2016
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 chroot "$2" sh -c 'cd "$0" && exec "$@"' \
		"${work#"${2%/}"}" "$3" -B -E -S -s -c \
		'exec(compile(open("image.py", encoding="utf-8").read(), "image.py", "exec"))' report \
		>"$dir/out" 2>&1 &
	process=$!
	until_reported "$work/report-held" || status=1
	for kind in held released; do
		[ $status != 0 ] ||
			"$build/tests/runtimes/record_image" "$process" "$work/report-$kind" "$dir/images" \
				>>"$dir/out" 2>&1 || status=1
	done
	kill -9 "$process"
	wait "$process" 2>/dev/null
	process=
	rm -rf "$work"
	[ $status = 0 ] || sed "s|^|$1: |" "$dir/out" >&2
	return $status
}

mkdir "$dir/images"
tests/runtimes/install.sh "$cache" >"$dir/list" || exit 1
while IFS=$'\t' read -r name root rest <&3; do
	program=${rest##*$'\t'}	# the last column
	[[ $name != py-spy && $program != */lua* ]] || continue
	if [ "$root" = - ]; then
		echo "$name: $rest"
	elif [ "${program#* }" != "$program" ]; then
		echo "$name: more than a program"
	elif ! record "$name" "$root" "$program"; then
		failed=1
	fi
done 3<"$dir/list"
[ $failed = 0 ] || exit 1
tar -C "$dir/images" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cJf "$kept" . && ls "$dir/images"
