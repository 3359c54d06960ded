#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The figures beside the evidence: how much is privileged and what is mapped into it, and what the
# suites that were run have measured ("figure: " in their output, tests/run.sh keeps it).

build=${BUILD:-build}
BUILD=$build tests/lint/size.sh report
found=$(sed -nE 's/^(# +)?figure: /  /p' "$build"/results/*/*.tap 2>/dev/null)
if [ -n "$found" ]; then
	printf 'measured:\n%s\n' "$found"
else
	echo 'measured: nothing; run: make check-unit check-privsep check-e2e'
fi
