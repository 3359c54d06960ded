#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/e2e/tiny/build.sh NAME [PROGRAM]: keyhole with the limits of NAME.h, or that program alone, in
# a folder of its own below the build's.

build=$(realpath "${BUILD:-build}")/tiny/$1
exec env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -j"$(nproc)" BUILD="$build" \
	LIMITS="tests/e2e/tiny/$1.h" "${2:+$build/}${2:-all}"
