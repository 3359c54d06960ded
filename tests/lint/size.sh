#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Figures of files, functions and of the privileged part. "size.sh report" prints the figures.
#
# The privileged part is the loader, the broker (a process of its own), and the code that both are
# linked with, ipc/ and policy/. Its size is counted in lines of code, neither blank nor comment, as
# other projects count theirs. All lines are printed beside the lines of code.

build=${BUILD:-build}
LONG_FUNCTIONS=""	# decoder tables that may exceed the limit, by name

lines() {
	[ -z "$*" ] && echo 0 || cat "$@" | wc -l
}

functions() {	# length, name, file of every function
	tests/lint/sources product |
		ctags -L - --languages=C --langmap=C:.c.h --kinds-C=f --fields=+ne --output-format=json \
			-f - 2>/dev/null |
		sed -nE 's/.*"name": "([^"]+)", "path": "([^"]+)".*"line": ([0-9]+),.*"end": ([0-9]+).*/\3 \4 \1 \2/p' |
		awk '{ print $2 - $1 + 1, $3, $4 }' | sort -n
}

code() {	# lines that are neither blank nor comment
	cat "$@" | sed 's|/\*.*\*/||' | awk '
		/\/\*/ { comment = 1 }
		!comment && NF { n++ }
		/\*\// { comment = 0 }
		END { print n + 0 }'
}

broker=$(lines $(tests/lint/sources loader/broker))
loader=$(($(lines $(tests/lint/sources loader)) - broker))
loader_code=$(code $(tests/lint/sources loader | grep -v '^loader/broker/'))
broker_code=$(code $(tests/lint/sources loader/broker))
ipc=$(lines $(tests/lint/sources ipc))
ipc_code=$(code $(tests/lint/sources ipc))
policy=$(lines $(tests/lint/sources policy))
policy_code=$(code $(tests/lint/sources policy))
privileged=$((loader + broker + ipc + policy))
privileged_code=$((loader_code + broker_code + ipc_code + policy_code))

row() {	# what, lines of code, lines
	printf '%-30s %6d of code, %6d in all\n' "$1" "$2" "$3"
}

report() {
	row 'loader' "$loader_code" "$loader"
	row 'broker' "$broker_code" "$broker"
	row 'ipc' "$ipc_code" "$ipc"
	row 'policy' "$policy_code" "$policy"
	row 'loader + broker + ipc + policy' "$privileged_code" "$privileged"
	for folder in base bpf exporter helper object profile view worker tests; do
		row $folder "$(code $(tests/lint/sources $folder))" "$(lines $(tests/lint/sources $folder))"
	done
	row everything "$(code $(tests/lint/sources))" "$(lines $(tests/lint/sources))"
	functions | awk '{ l[NR] = $1 } END { if (NR) printf \
		"functions: %d, median %d, p90 %d, longest %d\n", NR, l[int((NR + 1) / 2)],
		l[int(NR * 0.9 + 0.5)], l[NR] }'
	for program in keyhole keyhole-audit keyhole-broker keyhole-check keyhole-connector keyhole-debug-reader keyhole-exporter keyhole-kernel-symbols keyhole-options \
			keyhole-output keyhole-rules keyhole-report keyhole-symbolize keyhole-top keyhole-worker; do
		[ -x "$build/$program" ] || continue
		printf '%s: %d KB' "$program" $(($(stat -c %s "$build/$program") / 1024))
		ldd "$build/$program" 2>/dev/null | awk '/=>/ { printf " %s", $1 } END { print "" }'
	done
}

check() {
	report | head -n 5
	functions | awk -v long="$LONG_FUNCTIONS" '
		{ l[NR] = $1 }
		$1 > 100 && index(" " long " ", " " $2 " ") == 0 {
			printf "%s: %s() has %d lines, 100 are the limit\n", $3, $2, $1; bad = 1 }
		END {
			median = l[int((NR + 1) / 2)]
			if (median > 15) { printf "median function has %d lines\n", median; bad = 1 }
			exit bad
		}' || failed=1
}

failed=0
if [ "$1" = report ]; then
	report
else
	command -v ctags >/dev/null || { echo 'ctags is not installed' >&2; exit 77; }
	check
fi
exit $failed
