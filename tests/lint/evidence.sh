#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Everything that tests/evidence/claims.def names exists, and its results are judged right.

export PYTHONDONTWRITEBYTECODE=1
python3 tests/evidence/test_evidence.py && python3 tests/evidence/evidence.py "${BUILD:-build}" check
