#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/kernels/fetch.sh [KERNEL...]: gets the kernels of tests/kernels/matrix from the Debian mirror
# of this machine's apt. An apt root of its own leaves /etc and /var/lib alone. Prints "KERNEL FILE"
# for each kernel, or "KERNEL - REASON". FILE.ko is a module of the kernel, or an empty file.
# The cache, ${XDG_CACHE_HOME:-~/.cache}/keyhole/kernels, keeps the files; empty it for newer kernels.
# KERNEL_ARCH=arm64 gets the kernels of another architecture.
# Exit status: 0: at least one; 77: none, and no mirror answers; 1: none, although a mirror answers.

here=$(dirname "$(realpath "$0")")
MODULE=raid6_pq	# compares how fast it is in many ways when it is inserted
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/kernels
arch=${KERNEL_ARCH:-amd64}
suffix=${arch#amd64}
suffix=${suffix:+-$suffix}
keys=/usr/share/keyrings/debian-archive-keyring.gpg
export LC_ALL=C

# apt SUITE TOOL ARGUMENTS...
private_apt() {
	local root=$cache/apt/$1$suffix tool=$2
	shift 2
	timeout 120 "$tool" -qq -o APT::Architecture=$arch -o APT::Architectures=$arch \
		-o Dir::State="$root" -o Dir::State::status="$root/status" -o Dir::Cache="$root/cache" \
		-o Dir::Etc::sourcelist="$root/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
		-o Acquire::Languages=none -o Acquire::Check-Valid-Until=false \
		-o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o APT::Sandbox::User= "$@"
}

# The lists of a suite; where it has security updates, theirs as well.
update() {	# SUITE MIRROR
	local root=$cache/apt/$1$suffix
	mkdir -p "$root"/{lists/partial,cache/archives/partial}
	: >"$root/status"
	echo "deb [signed-by=$keys] $2 $1 main" >"$root/sources.list"
	case $1 in
	*-backports | sid | experimental) ;;
	*) echo "deb [signed-by=$keys] $2-security $1-security main" >>"$root/sources.list" ;;
	esac
	private_apt "$1" apt-get update >"$root/log" 2>&1
	ls "$root"/lists/*_Packages* >/dev/null 2>&1	# its status does not tell
}

# The newest first: an old version may be listed and gone.
download() {	# SUITE PACKAGE FOLDER
	local package
	for package in $(private_apt "$1" apt-cache search --names-only "^$2\$" | cut -d' ' -f1 |
		sort -rV | head -n 4); do
		(cd "$3" && private_apt "$1" apt-get download "$package" >>"$cache/apt/$1$suffix/log" 2>&1) ||
			continue
		# A kernel's file may have a package to itself.
		[ "${package#linux-binary-}" = "$package" ] ||
			(cd "$3" && private_apt "$1" apt-get download "linux-modules-${package#linux-binary-}" \
				>>"$cache/apt/$1$suffix/log" 2>&1)
		return 0
	done
	return 1
}

unpack() {	# FOLDER: FOLDER/kernel and FOLDER/kernel.ko
	local package module
	for package in "$1"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$1" --wildcards './boot/vmlinuz*' \
			'./usr/lib/modules/*/vmlinuz' "*/$MODULE.ko*" 2>/dev/null
	done
	find "$1" -name 'vmlinuz*' -type f -size +1M -exec mv {} "$1/kernel" \; -quit
	module=$(find "$1" -name "$MODULE.ko*" -type f -print -quit)
	: >"$1/kernel.ko"
	case $module in
	*.ko) mv "$module" "$1/kernel.ko" ;;
	*.ko.xz) xz -dc "$module" >"$1/kernel.ko" ;;
	esac
	[ -s "$1/kernel" ]
}

get() {	# SUITE PACKAGE FILE: or the reason why not
	local from folder
	command -v apt-get >/dev/null || { echo 'not a Debian system'; return; }
	from=$("$here/mirror.sh")
	[ -n "$from" ] || { echo 'apt knows no Debian mirror'; return; }
	update "$1" "$from" || { echo "the lists of $1 cannot be had"; return; }
	folder=$(mktemp -d "$cache/new.XXXXXX") || { echo "$cache cannot be written"; return; }
	download "$1" "$2" "$folder" && unpack "$folder" && mv "$folder/kernel.ko" "$3.ko" &&
		mv "$folder/kernel" "$3" || echo "$1 has no package $2"
	rm -rf "$folder"
}

fetch() {	# KERNEL SUITE PACKAGE
	local file=$cache/vmlinuz-$1$suffix reason=
	if [ ! -s "$file" ] || [ ! -e "$file.ko" ]; then
		reason=$(get "$2" "$3" "$file")
	fi
	[ -s "$file" ] || { echo "$1 - $reason"; return; }
	[ -e "$file.ko" ] || : >"$file.ko"	# kept from before, and not to be had any more
	had=1
	echo "$1 $file"
}

# By a file that every mirror has, without the lists and keys that fetching needs.
answers() {
	local from folder version status
	from=$("$here/mirror.sh")
	[ -n "$from" ] && folder=$(mktemp -d) || return
	version=$(. /etc/os-release && echo "$VERSION_CODENAME")
	timeout 60 /usr/lib/apt/apt-helper -o Acquire::Retries=0 -o Acquire::http::Timeout=15 \
		-o APT::Sandbox::User= download-file "$from/dists/${version:-stable}/Release" \
		"$folder/Release" >&2
	status=$?
	rm -rf "$folder"
	return $status
}

# One at a time: apt does not wait for another one that has its lists.
mkdir -p "$cache"
exec 9>"$cache/lock" && flock 9
had=0
while read -r kernel suite package; do
	[[ -z $kernel || $kernel = \#* ]] && continue
	[[ $# -gt 0 && " $* " != *" $kernel "* ]] && continue
	fetch "$kernel" "$suite" "${package//amd64/$arch}" </dev/null
done <"$here/matrix"
[ $had = 1 ] && exit
if answers; then
	echo "not one kernel, although $("$here/mirror.sh") answers" >&2
	exit 1
fi
exit 77
