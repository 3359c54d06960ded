#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every way in which a sample ends is counted somewhere in bpf/ (by its enum name).

failed=0
for name in $(sed -nE 's/^X\(([a-z_]+),.*/\1/p' bpf/counters.def); do
	grep -rqw --include='*.bpf.[ch]' "REASON_$name" bpf ||
		{ echo "bpf/counters.def: $name is never used"; failed=1; }
done
exit $failed
