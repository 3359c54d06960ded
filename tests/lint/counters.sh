#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every way in which a sample ends is counted somewhere in bpf/ (by its enum name). The worker counts
# the guesses of BPF that it proves.

failed=0
for name in $(sed -nE 's/^X\(([a-z_]+),.*/\1/p' bpf/counters.def); do
	grep -rqw --include='*.bpf.[ch]' --include=samples.c "REASON_$name" bpf worker/sample ||
		{ echo "bpf/counters.def: $name is never used"; failed=1; }
done
exit $failed
