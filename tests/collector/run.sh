#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/collector/run.sh: sends by keyhole agent to a real OpenTelemetry Collector. All that the agent took
# arrives, by each protocol and compression, with TLS, and over restarts of the Collector. Prints TAP.
# COLLECTOR_SECONDS (40): the length of the case with restarts.

cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-build} PYTHONDONTWRITEBYTECODE=1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/keyhole/collector

skip() {
	echo "1..0 # SKIP $*"
	echo "$*" >&2
	exit 77
}

[ "$(id -u)" = 0 ] || skip 'needs root: sudo make check-collector'
command -v openssl >/dev/null || skip 'openssl is not installed'
reason=$(mktemp) || exit 1
collector=$(tests/collector/install.sh "$cache" 2>"$reason")
status=$?
text=$(cat "$reason")
rm -f "$reason"
[ "$status" != 77 ] || skip "$text"
[ "$status" = 0 ] || { echo "$text" >&2; exit 1; }
exec python3 tests/collector/collector.py "$BUILD" "$collector"
