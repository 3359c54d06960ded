#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Cost and completeness under a mixed load on all CPUs, beside perf record --call-graph dwarf in the
# same run. BENCH_SECONDS=60, BENCH_ROUNDS=1, BENCH_ONLY=cost|readiness. Root.

cd "$(dirname "$0")/../.." || exit 1
[ "$(id -u)" = 0 ] || { echo 'bench needs root: sudo make bench' >&2; exit 3; }
export BUILD=${BUILD:-build} PYTHONDONTWRITEBYTECODE=1 LC_ALL=C

stats=$(sysctl -n kernel.bpf_stats_enabled)
sysctl -qw kernel.bpf_stats_enabled=1
trap 'sysctl -qw kernel.bpf_stats_enabled="$stats"' EXIT

uname -sr
printf '%s CPUs, %s\n\n' "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
if [ "${BENCH_ONLY:-cost}" = cost ]; then
	python3 tests/bench/bench.py --seconds "${BENCH_SECONDS:-60}" --rounds "${BENCH_ROUNDS:-1}" \
		|| exit 1
fi
if [ "${BENCH_ONLY:-readiness}" = readiness ]; then
	python3 tests/bench/readiness.py || exit 1
fi
