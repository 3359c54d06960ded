#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/hostile/run.sh [PATTERN]: the built keyhole against programs that do their worst to it. As
# tests/e2e/run.sh; what holds in every case is in observe(), in hostile.cases.

cd "$(dirname "$0")/../.." || exit 1
CASES=tests/hostile exec tests/e2e/run.sh "$@"
