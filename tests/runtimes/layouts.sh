#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/layouts.sh [write]: compares each offset of worker/runtime/cpython_layout.def with
# packages: debug information of Debian's interpreters, headers of other ones, and what interpreters say
# of themselves. One TAP stream. `write` puts the packages' values into the table.
# Packages stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes, beside those of install.sh.

cd "$(dirname "$0")/../.." || exit 1
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes
export LC_ALL=C
# shellcheck source=tests/runtimes/install.sh
source tests/runtimes/install.sh "$cache"

# row VERSION KIND MINOR LOCK PATHS ORIGIN
row() {
	local IFS=$'\t'
	printf '%s\n' "$*"
}

origin() {	# TREE PACKAGE
	printf '%s %s' "$2" "$(zcat "$1/usr/share/doc/$2/"changelog.Debian.gz 2>/dev/null |
		sed -nE '1s/^[^(]*\(([^)]*)\).*/\1/p')"
}

# by_debug SUITE MINOR: of python3.MINOR, whose debug information is a package of its own.
by_debug() {
	local tree=$folder/$1-layouts package=python3.$2-dbg id
	if ! unpack "$1" "$tree" "$package"; then
		row "3.$2" - '' '' '' "$(why "$tree.log")"
		return
	fi
	id=$(readelf -n "$tree/usr/bin/python3.$2" | awk '/Build ID/ { print $3 }')
	row "3.$2" debug "$2" lock "$tree/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" \
		"$(origin "$tree" "$package")"
}

# by_headers SUITE MINOR...
by_headers() {
	local suite=$1 tree=$folder/$1-layouts minor headers
	shift
	if ! unpack "$suite" "$tree" "${@/*/libpython3.&-dev}"; then
		for minor in "$@"; do
			row "3.$minor" - '' '' '' "$(why "$tree.log")"
		done
		return
	fi
	for minor in "$@"; do
		headers=$tree/usr/include
		row "3.$minor" headers "$minor" lock \
			"$tree/usr/lib/x86_64-linux-gnu/libpython3.$minor.so.1.0 $headers/python3.$minor $headers" \
			"$(origin "$tree" "libpython3.$minor-dev")"
	done
}

# of_maven MINOR VERSION OF_THE_PACKAGE: the headers beside the interpreter.
of_maven() {
	if maven "$2" "$3"; then
		row "3.$1" headers "$1" lock "$tree $tree/include/python3.$1" "Maven's $2"
	else
		row "3.$1" - '' '' '' "$reason"
	fi
}

# of_source MINOR VERSION: a build without a global lock.
of_source() {
	if built "$2" t; then
		row "3.${1}t" headers "$1" none "$tree/bin/python3.${1}t $tree/include/python3.${1}t" \
			"Debian's source $2"
	else
		row "3.${1}t" - '' '' '' "$reason"
	fi
}

packages() {
	by_debug bullseye 9
	of_maven 10 3.10.2 1.5.7
	by_debug bookworm 11
	of_maven 12 3.12.1 1.5.10
	by_headers trixie 13
	by_headers sid 14 15
	of_source 13 3.13.5
	of_source 14 3.14.4
}

list=$(mktemp) || exit 1
trap 'rm -f "$list"' EXIT
packages >"$list"
python3 tests/runtimes/layouts.py "${1:-compare}" "$list"
