#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/oracle/stacks.sh [PATTERN]: stacks of known workloads, captured with their registers by a
# test build below build/capture, held against libdw and the host-compiled walker. Prints TAP and a
# table. STACKS_SECONDS for each workload (4), STACKS_HZ (999), STACKS_MINIMUM of all together
# (5000), STACKS_RECORD=FOLDER keeps regression data. Root.

cd "$(dirname "$0")/../.." || exit 1
here=tests/oracle
build=$(realpath "${BUILD:-build}")
keyhole=$build/capture/keyhole
seconds=${STACKS_SECONDS:-4}
minimum=${STACKS_MINIMUM:-5000}
read -ra cc <<<"${CC:-cc}"
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root: sudo make check-oracle" | tee /dev/stderr; exit 77; }
[ -x "$keyhole" ] || { echo "1..0 # SKIP no build that captures" | tee /dev/stderr; exit 77; }
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-stacks.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
"$keyhole" record -d 0.1 -f folded -o - >/dev/null 2>"$top/err"
[ $? = 3 ] && { echo "1..0 # SKIP $(tail -n 1 "$top/err")" | tee /dev/stderr; exit 77; }

number=0 failed=0
: >"$top/table"

# result STATUS NAME [SKIP]: one line of TAP.
result() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2${3:+ # SKIP $3}"
	else
		echo "not ok $number - $2"
		failed=1
	fi
	return "$1"
}

wanted() {
	[[ $1 =~ ${pattern:-.} ]]
}

# workload NAME COMMAND...
workload() {
	wanted "$1" || return
	"$build/tests/oracle/test_stacks" -v -m 100 ${STACKS_RECORD:+-r "$STACKS_RECORD"} "$1" \
		"$keyhole" record -F "${STACKS_HZ:-999}" -o "$top/p.folded" --force -- "${@:2}" \
		>"$top/out" 2>"$top/err"
	result $? "$1" || tail -n 10 "$top/err" | sed 's/^/# /'
	grep '^#' "$top/out"
	grep -v '^#' "$top/out" >>"$top/table"
}

# have NAME PROGRAM: whether there is one; a skip, if not.
have() {
	wanted "$1" || return
	command -v "$2" >/dev/null || { result 0 "$1" "$2 is not installed"; return 1; }
}

pattern=$1
own() {
	workload mixed "$build/workloads/mixed" "$seconds"
	workload frames "$build/workloads/frames" "$seconds"
	workload recursion "$build/workloads/recursion" "$seconds"
	workload signals "$build/workloads/signals" "$seconds"
	workload signals-alt "$build/workloads/signals" "$seconds" alt
	shapes shapes -O2 -fno-optimize-sibling-calls -fno-builtin
	# bound at the first call, each time anew
	shapes lazy -O1 -fno-builtin -Wl,-z,lazy -Wl,-z,norelro
}

# shapes NAME OPTIONS...: what only the compiler of this machine makes.
shapes() {
	wanted "$1" || return
	if "${cc[@]}" "${@:2}" -o "$top/$1" $here/workloads/"$1".c 2>"$top/err"; then
		workload "$1" "$top/$1" "$seconds"
	else
		result 1 "$1: compiled"
		sed 's/^/# /' "$top/err"
	fi
}

assembly() {
	have sha512 openssl || return
	workload sha512 openssl speed -seconds "$seconds" -bytes 8192 sha512
	workload chacha20 openssl speed -seconds "$seconds" -bytes 8192 -evp chacha20-poly1305
}

others() {
	# what python3 is may be a script that looks for one
	have python python3 && workload python "$(python3 -c 'import sys; print(sys.executable)')" \
		$here/workloads/busy.py "$seconds"
	have clang clang++ && workload clang clang++ -std=c++17 -O2 -c -o "$top/o" \
		$here/workloads/templates.cpp
	# the compiler is of the development kit, which runs a source file
	have jvm javac && workload jvm java -Xmx64m -XX:+UseSerialGC $here/workloads/Busy.java "$seconds"
}

own
assembly
others

# ---- the table --------------------------------------------------------------------------------

{
	printf '%-11s %9s %9s %7s %6s %6s %7s %5s\n' workload compared identical % libdw ours replay out
	awk -F '\t' '
		!($2 in seen) { seen[$2]; name[++names] = $2 }
		$1 == "libdw" { side[$2, $3] += $5; side["all", $3] += $5 }
		$1 == "libdw" { class[$4] += $5; test[$4] = $6 }
		$1 == "replay" { again[$4] += $5 }
		$1 == "replay" && ($3 == "oracle" || $3 == "ours") { bad[$2] += $5; bad["all"] += $5 }
		END {
			name[++names] = "all"
			for (i = 1; i <= names; i++) {
				n = name[i]
				all = side[n, "agree"] + side[n, "oracle"] + side[n, "ours"]
				printf "%-11s %9d %9d %7.2f %6d %6d %7d %5d\n", n, all,
					side[n, "agree"], all ? 100 * side[n, "agree"] / all : 0,
					side[n, "oracle"], side[n, "ours"], bad[n],
					side[n, "out"]
			}
			print "\n   stacks  beside libdw"
			for (text in class)
				printf "%9d  %s%s\n", class[text], text,
					test[text] ? " (" test[text] ")" : ""
			print "\n   stacks  walked again"
			for (text in again)
				printf "%9d  %s\n", again[text], text
			print all, side["all", "agree"] + 0 >total
		}' total="$top/total" "$top/table"
} | sed 's/^/# | /'
read -r total agree <"$top/total"
if [ -z "$pattern" ]; then
	[ "$total" -ge "$minimum" ]
	result $? "$minimum stacks compared"
	[ $((agree * 1000)) -ge $((total * 995)) ]
	result $? "99.5 % of all identical"
fi
echo "1..$number"
exit $failed
