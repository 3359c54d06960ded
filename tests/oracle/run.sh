#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Holds our unwind tables of this machine's programs and libraries against libdw. ORACLE_FILES
# names others. Prints TAP.

build=${BUILD:-build}
libraries=/usr/lib/$(uname -m)-linux-gnu
number=0
for file in ${ORACLE_FILES:-- /bin/bash /usr/bin/openssl /usr/bin/python3 /usr/bin/perl \
	$libraries/ld-linux-*.so.2 $libraries/libc.so.6 $libraries/libm.so.6 $libraries/libgcc_s.so.1 \
	$libraries/libstdc++.so.6 $libraries/libcrypto.so.3 $libraries/libelf.so.1}; do
	[ "$file" = - ] || [ -e "$file" ] || continue
	number=$((number + 1))
	output=$("$build/tests/oracle/test_rows_libdw" "$file" 2>&1) || printf 'not '
	echo "ok $number - $file"
	[ -z "$output" ] || printf '%s\n' "$output" | tail -n 25 | sed 's/^/# /'
done

# .debug_frame, as compilers write it in each version of DWARF.
program=$(mktemp) || exit 1
trap 'rm -f "$program"' EXIT
for version in 2 3 4 5; do
	number=$((number + 1))
	${CC:-gcc} -O2 "-gdwarf-$version" -gz=none -fomit-frame-pointer -fno-asynchronous-unwind-tables \
		-fno-unwind-tables -D_GNU_SOURCE -o "$program" tests/e2e/workloads/frames.c &&
		output=$("$build/tests/oracle/test_rows_libdw" -d "$program" 2>&1) || printf 'not '
	echo "ok $number - .debug_frame of DWARF $version"
	[ -z "$output" ] || printf '%s\n' "$output" | tail -n 25 | sed 's/^/# /'
done
echo "1..$number"
