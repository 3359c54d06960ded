#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Functions and habits that are not used here.

failed=0
report() {	# what, grep output
	[ -z "$2" ] || { printf '%s\n' "$2" | sed "s|^|$1: |"; failed=1; }
}
sources=$(tests/lint/sources | grep -v '^tests/e2e/workloads/')
ours=$(tests/lint/sources product)

# Comments and strings do not count.
strip() {
	for file; do
		sed -E 's/"([^"\\]|\\.)*"/""/g; s|/\*.*\*/||; /^[[:space:]]*\/?\*/s/.*//' "$file" |
			grep -nE "$pattern" | sed "s|^|$file:|"
	done
}
pattern='\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|system|popen|mktemp|tmpnam|alloca)[[:space:]]*\('
report 'banned function' "$(strip $sources)"
pattern='\btypedef[[:space:]]+struct\b'
report 'typedef of a struct' "$(strip $(echo "$ours" | grep -v '^bpf/kernel'))"
pattern='(^|[^:"])//'
report 'comment with //' "$(strip $sources)"
report 'two places that must agree' "$(grep -niE 'keep.*in sync' $sources)"
report 'extern variable in a header' "$(grep -nE '^extern [^(]*;' \
	$(echo "$ours" | grep '\.h$') /dev/null | grep -v 'extern const')"
report 'longer than 100 columns' "$(for file in $sources; do
	expand -t 8 "$file" | awk -v f="$file" 'length > 100 { print f ":" NR }'
done)"
exit $failed
