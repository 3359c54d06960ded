#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The manual page of the policy file has every rule that keyhole-rules reads.

page=contrib/man/keyhole-policy.conf.5
failed=0
rules=$(sed -nE 's/^\t\[ROW_[A-Z_]+\] = "([a-z -]+) ",$/\1/p' helper/rules/parser.c | tr ' ' _)
[ -n "$rules" ] || { echo "no rules are found"; exit 1; }
for rule in $rules; do
	rule=$(echo "$rule" | tr _ ' ')
	grep -q "^\.It Cm $rule Ar" $page || { echo "$page: no rule $rule"; failed=1; }
done
exit $failed
