#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/oracle/kernel.sh: kernel stacks as keyhole walks them by the kernel's tables, held against the
# kernel's own walk by a test build below build/kernel-walk. KERNEL_SECONDS (6). Prints TAP. Root.

cd "$(dirname "$0")/../.." || exit 1
keyhole=${BUILD:-build}/kernel-walk/keyhole
skip() {
	echo "1..0 # SKIP $*" | tee /dev/stderr
	exit 77
}

[ "$(id -u)" = 0 ] || skip 'needs root: sudo make check-oracle'
[ -x "$keyhole" ] || skip 'no build that compares kernel stacks'
grep -q ' __start_orc_unwind_ip$' /proc/kallsyms || skip 'the kernel has no ORC tables'
why=$("$keyhole" record -d 0.1 -f folded -o - 2>&1 >/dev/null)
[ $? = 3 ] && skip "$(tail -n 1 <<<"$why")"
echo 1..1
failed=0
out=$(PYTHONDONTWRITEBYTECODE=1 python3 tests/oracle/kernel.py "$keyhole" "${KERNEL_SECONDS:-6}" 2>&1) ||
	failed=1
[ $failed = 0 ] || printf 'not '
echo 'ok 1 - kernel stacks'
sed 's/^/# /' <<<"$out"
exit $failed
