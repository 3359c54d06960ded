#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The figures beside the evidence: the size of the privileged part, the files mapped into it, and the
# measurements of the suites that were run. A suite prints "figure: ", and tests/run.sh keeps the line.

build=${BUILD:-build}
BUILD=$build tests/lint/size.sh report
found=$(sed -nE 's/^(# +)?figure: /  /p' "$build"/results/*/*.tap 2>/dev/null)
if [ -n "$found" ]; then
	printf 'measured:\n%s\n' "$found"
else
	echo 'measured: nothing; run: make check-unit check-privsep check-e2e'
fi
