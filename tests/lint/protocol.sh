#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# ipc/PROTOCOL describes every row of ipc/messages.def and no other.

rows=$(sed -nE 's/^M\(([A-Z_]+),.*/\1/p' ipc/messages.def)
failed=0
for row in $rows; do
	grep -qwE "$row" ipc/PROTOCOL || { echo "ipc/PROTOCOL: $row is missing"; failed=1; }
done
[ -n "$rows" ] && exit $failed
