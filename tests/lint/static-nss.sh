#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# No static program reaches NSS, iconv() or dlopen(): the C library would load modules of another
# C library. The first check: no static program has a look-up or the function that loads an NSS module.
# The second: no object of ours calls dlopen() or iconv(), which every static program has in it.

build=${BUILD:-build}
lookups='(getpw|getgr|getsp|getsg|gethostby|gethostent|getserv|getproto|getnet|getrpc|getalias)[a-z0-9_]*'
banned="^(__nss_module_load|initgroups|getaddrinfo|getnameinfo|iconv_open|$lookups)\$"
loads='^(dlopen|dlmopen|iconv|iconv_open|setlocale)$'

reached() {	# PROGRAM
	nm "$1" | awk '{ print $NF }' | grep -E "$banned" | grep -vx getgroups
}

is_static() {
	! readelf -lW "$1" | grep -q ' INTERP '
}

failed=0 count=0
for program in "$build"/keyhole "$build"/keyhole-*; do
	[ "${program##*.}" != sha256 ] && is_static "$program" || continue
	count=$((count + 1))
	for symbol in $(reached "$program"); do
		echo "${program##*/}: links $symbol"
		failed=1
	done
done
[ -n "$SANITIZE" ] || [ $count -ge 11 ] || { echo "$count static programs"; failed=1; }

for archive in "$build"/lib/*.a; do
	for symbol in $(nm -u "$archive" 2>/dev/null | awk '{ print $NF }' | grep -E "$loads"); do
		echo "${archive##*/}: calls $symbol"
		failed=1
	done
done

# The control: a program that does is found, and its link is refused.
control=$(mktemp -d) || exit 1
trap 'rm -rf "$control"' EXIT
printf '#include <grp.h>\nint main(void) { return initgroups("root", 0); }\n' >"$control/c.c"
${CC:-cc} -D_GNU_SOURCE -static -o "$control/c" "$control/c.c" 2>/dev/null
[ "$(reached "$control/c" | grep -cxE 'initgroups|__nss_module_load')" = 2 ] ||
	{ echo 'the control is not found'; failed=1; }
! ${CC:-cc} -D_GNU_SOURCE -static -Wl,--fatal-warnings -o "$control/d" "$control/c.c" 2>/dev/null ||
	{ echo 'the link of the control is not refused'; failed=1; }
exit $failed
