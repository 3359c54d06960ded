#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# No symbol that worker/, helper/ or proto/ defines is in the loader or the broker. Only the program
# that reads debug information has libdw.

build=${BUILD:-build}
defined() {
	nm --defined-only "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDRB]/ { print $3 }' | sort -u
}
unprivileged=$(mktemp) || exit 1
trap 'rm -f "$unprivileged"' EXIT
defined "$build"/lib/worker*.a "$build"/lib/helper*.a "$build"/lib/proto.a | grep -vx main >"$unprivileged"
[ -s "$unprivileged" ] || { echo 'worker archives are not built'; exit 1; }
failed=0
for program in keyhole keyhole-broker; do
	common=$(defined "$build/$program" | comm -12 - "$unprivileged")
	[ -z "$common" ] || { printf '%s\n' "$common" | sed "s/^/$program: /"; failed=1; }
done
for program in "$build"/keyhole "$build"/keyhole-*; do
	case ${program##*/} in
	*.sha256) continue ;;
	keyhole-debug-reader) expected=0 ;;
	*) expected=1 ;;
	esac
	nm "$program" 2>/dev/null | grep -qE ' [TU] dwarf_begin_elf(@.*)?$'
	[ $? = $expected ] || { echo "${program##*/}: wrong about libdw"; failed=1; }
done
exit $failed
