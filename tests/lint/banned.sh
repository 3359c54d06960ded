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
stripped=$(mktemp) || exit 1
trap 'rm -f "$stripped"' EXIT

# Comments and strings do not count. FILE:LINE: and a tab stand before each line.
sed -sE 's/"([^"\\]|\\.)*"/""/g; s|/\*.*\*/||; /^[[:space:]]*\/?\*/s/.*//; F' $sources |
	awk 'NR % 2 { file = $0; next } { if (file != last) line = 0; last = file; print file ":" ++line ":\t" $0 }' >"$stripped"

found() {	# PATTERN
	grep -E "$1" "$stripped"
}

report 'banned function' "$(found \
	'\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|system|popen|mktemp|tmpnam|alloca)[[:space:]]*\(')"
report 'typedef of a struct' "$(found '\btypedef[[:space:]]+struct\b' | grep -vE '^(bpf/kernel|tests/)')"
report 'comment with //' "$(found '[^:"]//')"
report 'two places that must agree' "$(grep -niE 'keep.*in sync' $sources)"
report 'extern variable in a header' "$(grep -nE '^extern [^(]*;' \
	$(echo "$ours" | grep '\.h$') /dev/null | grep -v 'extern const')"
report 'longer than 100 columns' "$(awk '
	length($0) > 100 - 7 * gsub(/\t/, "\t") {
		columns = 0
		count = split($0, part, "\t")
		for (i = 1; i < count; i++)
			columns += 8 - (columns + length(part[i])) % 8 + length(part[i])
		if (columns + length(part[count]) > 100)
			print FILENAME ":" FNR
	}' $sources)"
exit $failed
