#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Few ternaries, and none that reads backwards. The figures stand in build/density.

figures=${BUILD:-build}/density
python3 tests/lint/density.py >"$figures" && exit
cat "$figures" >&2
exit 1
