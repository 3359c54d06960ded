#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The Makefile names every object of the privileged executables, no more and no fewer.

compare() {	# folder, names
	want=$(printf '%s\n' $2 | sort)
	have=$(find "$1" -maxdepth 1 -name '*.c' -exec basename {} .c \; | sort)
	[ "$want" = "$have" ] && return 0
	echo "$1: the Makefile's list differs from the folder:"
	printf '%s\n' "$want" "$have" | sort | uniq -u
	return 1
}
compare loader "$LOADER" && compare loader/broker "$BROKER"
