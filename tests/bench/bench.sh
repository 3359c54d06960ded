#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures cost and completeness under a mixed load on all CPUs, beside perf record --call-graph
# dwarf in the same run. Also measures readiness, and the time of a sample under a load that makes
# samples long. Measures what keyhole stat costs a switch. BENCH_SECONDS=60, BENCH_ROUNDS=1,
# BENCH_ONLY=cost|readiness|switches|duration. Needs root.

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
if [ "${BENCH_ONLY:-switches}" = switches ]; then
	sysctl -qw kernel.bpf_stats_enabled=0 # it reads a clock twice for each program
	python3 tests/bench/switches.py || exit 1
fi
if [ "${BENCH_ONLY:-duration}" = duration ]; then
	folder=$(mktemp -d) || exit 1
	judge() {	# HZ OPTION WORDS...
		local hz=$1 option=$2 path
		shift 2
		path="$folder/$hz $*.folded"
		printf '\n## %s Hz, coldstack %s\n' "$hz" "$*"
		python3 tests/bench/duration.py "$option" -- "$BUILD/duration/keyhole" record -F "$hz" \
			-o "${path// /_}" -- "$BUILD/workloads/coldstack" 12 "$@" || failed=1
	}
	for words in narrow 'narrow edge' 'wide edge' bare mixed objects=1 'dropped wide objects=1'; do
		# shellcheck disable=SC2086
		judge 10000 --judge $words
	done
	for hz in 999 99; do	# bpf/README.md: here some walks may take longer than 60 us
		judge $hz --judge-longest narrow
	done
	rm -rf "$folder"
	exit "${failed:-0}"
fi
