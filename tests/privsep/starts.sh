#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The confinement of each process by way of start, as root sees it: the table of policy/README.md.
# "starts.sh print" prints the table as it is here.

cd "$(dirname "$0")/../.." || exit 1
[ "$(id -u)" = 0 ] || { echo 'not root' >&2; exit 77; }
command -v capsh >/dev/null || { echo 'capsh is not installed' >&2; exit 77; }
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] ||
	{ echo 'perf_event_paranoid is above 2: nothing starts without CAP_SYS_ADMIN' >&2; exit 77; }
exec python3 tests/privsep/starts.py "$(realpath "${BUILD:-build}")/keyhole" policy/README.md "$@"
