#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What tests/evidence/claims.def names is there; its results are judged right.

export PYTHONDONTWRITEBYTECODE=1
python3 tests/evidence/test_evidence.py && python3 tests/evidence/evidence.py "${BUILD:-build}" check
