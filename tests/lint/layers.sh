#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Holds every #include against the row of its folder in tests/lint/layers.txt. Every folder has a row,
# every row a folder, and rows make no circle (a header that a row names alone is a leaf).

tests/lint/sources product | xargs grep -nE '^[[:space:]]*#[[:space:]]*include' |
	awk -v rules=tests/lint/layers.txt '
function allowed(name, words,    i, n, word) {
	n = split(words, word, " ")
	for (i = 1; i <= n; i++) {
		if (word[i] ~ /\/$/ && index(name, word[i]) == 1 && substr(name, length(word[i]) + 1) !~ /\//)
			return 1
		if (word[i] == name || (word[i] == "*.skel.h" && name ~ /\.skel\.h$/))
			return 1
	}
	return 0
}
function known(name) {	# third-party headers that are not libc
	return name ~ /^(bpf|event2|nghttp2|openssl|protobuf-c|libiberty|elfutils)\// ||
		name ~ /^(libelf|gelf|seccomp|zlib|zstd|lzma|demangle|event|cmocka|vmlinux)\.h$/ ||
		name == "sys/capability.h"
}
function circle(folder, from,    other, pair) {
	if (folder in walking) {
		printf "%s: in a circle with %s\n", folder, from
		bad = 1
		return
	}
	if (folder in walked) return
	walking[folder] = 1
	for (pair in arrow) {
		split(pair, other, SUBSEP)
		if (other[1] == folder) circle(other[2], folder)
	}
	delete walking[folder]
	walked[folder] = 1
}
BEGIN {
	while ((getline line < rules) > 0) {
		if (line ~ /^#/ || line !~ /:/) continue
		split(line, half, ":")
		folder = half[1]
		if (folder in ours) { printf "%s: two rows\n", folder; bad = 1 }
		split(substr(line, length(folder) + 2), side, "|")
		ours[folder] = side[1]; theirs[folder] = side[2]
	}
}
{
	split($0, part, ":")
	file = part[1]
	rest = substr($0, length(part[1]) + length(part[2]) + 3)
	folder = file; sub(/\/[^\/]*$/, "", folder)
	used[folder] = 1
	if (match(rest, /"[^"]+"/)) {
		name = substr(rest, RSTART + 1, RLENGTH - 2)
		own = name; sub(/\/[^\/]*$/, "", own)
		ok = folder in ours && name ~ /\// && (own == folder || own == "generated" || allowed(name, ours[folder]))
		if (own != folder && index(" " ours[folder] " ", " " own "/ ")) arrow[folder, own] = 1
	} else if (match(rest, /<[^>]+>/)) {
		name = substr(rest, RSTART + 1, RLENGTH - 2)
		ok = folder in ours && (allowed(name, theirs[folder]) || (theirs[folder] !~ /nolibc/ && !known(name)))
	} else {
		next
	}
	if (!ok) {
		printf "%s:%s: may not include %s\n", file, part[2], name
		bad = 1
	}
}
END {
	for (folder in ours)
		if (!(folder in used)) { printf "%s: a row without a folder\n", folder; bad = 1 }
	for (folder in used) circle(folder, "itself")
	exit bad
}'
