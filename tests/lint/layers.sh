#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Holds every #include against tests/lint/layers.txt.

tests/lint/sources bpf check helper ipc loader policy report symbolize worker | xargs grep -nE '^[[:space:]]*#[[:space:]]*include' |
	awk -v rules=tests/lint/layers.txt '
function glob(text) {
	gsub(/[.+]/, "\\\\&", text)
	gsub(/\*/, ".*", text)
	return "^" text
}
function allowed(name, words,    i, n, word) {
	n = split(words, word, " ")
	for (i = 1; i <= n; i++)
		if (name ~ glob(word[i])) return 1
	return 0
}
function known(name) {	# third-party headers that are not libc
	return name ~ /^(bpf|event2|protobuf-c|libiberty|elfutils|openssl)\// ||
		name ~ /^(libelf|gelf|seccomp|zlib|lzma|demangle|event|cmocka|vmlinux)\.h$/ ||
		name == "sys/capability.h"
}
BEGIN {
	while ((getline line < rules) > 0) {
		if (line ~ /^#/ || line !~ /:/) continue
		split(line, half, ":")
		pattern[++count] = glob(half[1]) "$"
		split(substr(line, length(half[1]) + 2), side, "|")
		ours[count] = side[1]; theirs[count] = side[2]
	}
}
{
	split($0, part, ":")
	file = part[1]
	rest = substr($0, length(part[1]) + length(part[2]) + 3)
	folder = file; sub(/[^\/]*$/, "", folder)
	for (rule = 1; rule <= count && file !~ pattern[rule]; rule++);
	if (match(rest, /"[^"]+"/)) {
		name = substr(rest, RSTART + 1, RLENGTH - 2)
		own = name; sub(/[^\/]*$/, "", own)
		ok = rule <= count && ((own == folder && folder != "bpf/") || allowed(name, ours[rule]))
		if (name !~ /\//) ok = 0
	} else if (match(rest, /<[^>]+>/)) {
		name = substr(rest, RSTART + 1, RLENGTH - 2)
		ok = allowed(name, theirs[rule]) || (theirs[rule] !~ /nolibc/ && !known(name))
	} else {
		next
	}
	if (!ok) {
		printf "%s:%s: may not include %s\n", file, part[2], name
		bad = 1
	}
}
END { exit bad }'
