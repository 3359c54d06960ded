#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# keyhole-symbolize on profiles of programs built here: beside addr2line, with debug files of
# another build, damaged ones, and names of objects that are no files. Prints TAP.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
. tests/dwarf/programs.sh
damaged=${DAMAGED:-40}
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-symbolize.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT

number=0 failed=0
result() {	# STATUS NAME
	number=$((number + 1))
	[ "$1" = 0 ] && echo "ok $number - $2" && return
	failed=1
	echo "not ok $number - $2"
	sed 's/^/# /' "$top/err"
}

symbolize() {	# ARGS: with an output that is new
	rm -f "$top/out"
	timeout 120 "$build/keyhole-symbolize" -v -o "$top/out" "$@" "$top/profile" 2>"$top/err"
}

profile() {	# NAME FILE
	"$build/tests/dwarf/profile" make "$1" "$2" <"$top/addresses" >"$top/profile"
}

lines() {	# how many addresses have a line
	"$build/tests/dwarf/profile" show <"$top/out" | awk -F: '/^0x/ { first = 1; next }
		/:[0-9]+$/ && first { n += $NF > 0; first = 0 } END { print n + 0 }'
}

id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

debug_file() {	# FILE: below $top/debug, of its build id
	local id
	id=$(id_of "$1")
	mkdir -p "$top/debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug "$1" "$top/debug/.build-id/${id:0:2}/${id:2}.debug"
	echo "$top/debug/.build-id/${id:0:2}/${id:2}.debug"
}

cp "$(program gcc-5)" "$top/program" && cp "$(program gcc-4)" "$top/other" || exit 1
strip -o "$top/stripped" "$top/program"
addresses "$top/program" 10000 >"$top/addresses"
debug=$(debug_file "$top/program")

profile "$top/stripped" "$top/program"
symbolize --debug-dir "$top/debug"
status=$?
"$build/tests/dwarf/profile" show <"$top/out" >"$top/shown"
judges=()
for judge in addr2line llvm-addr2line llvm-addr2line-14; do
	command -v "$judge" >/dev/null || continue
	"$judge" -a -f -i -e "$top/program" <"$top/addresses" >"$top/$judge" 2>/dev/null
	judges+=("$top/$judge")
done
said=$(python3 tests/dwarf/compare.py "$top/program" "$top/shown" "${judges[@]}")
[ $? = 0 ] && [ $status = 0 ]
result $? "a debug file beside addr2line: $(head -n 1 <<<"$said")"
[ "$failed" = 0 ] || sed '1d;s/^/# /' <<<"$said" | cut -c1-400

symbolize --debug-dir "$top/nothing:$top/debug" && [ "$(lines)" -gt 9000 ] &&
	[ "$(grep -c 'debug-dir: .*/nothing: No such file or directory; name another' "$top/err")" = 1 ]
result $? 'a list of folders; one that is not there is named'

profile "$top/program" "$top/program"
symbolize --debug-dir "$top/nothing" && [ "$(lines)" -gt 9000 ]
result $? "the object's own path is tried: $(lines) addresses have lines"

profile "$top/other" "$top/program"
symbolize --debug-dir "$top/nothing" && [ "$(lines)" = 0 ] && grep -q 'no file of this build id' "$top/err"
result $? "a file of another build id is not taken"

cp "$top/other" "$debug"
symbolize --debug-dir "$top/debug" && [ "$(lines)" = 0 ]
result $? "nor a debug file that has the name alone"

mkfifo "$top/fifo"
for name in "$top/fifo" /dev/zero /proc/kmsg /proc/self/mem "$top" relative ''; do
	profile "$name" "$top/program"
	symbolize --debug-dir "$top/nothing" && [ "$(lines)" = 0 ]
	result $? "an object called '${name/$top/}' is not read"
done

# who opens a pipe to write waits for one who opens it to read
(exec 3>"$top/fifo" && : >"$top/opened") 2>/dev/null &
writer=$!
profile "$top/fifo" "$top/program"
symbolize --debug-dir "$top/nothing" && sleep 0.2 && [ ! -e "$top/opened" ]
result $? "what is no file is not opened either"
kill $writer
wait $writer 2>/dev/null

profile "$top/stripped" "$top/program"
bad=0 ended=0
for ((i = 0; i < damaged; i++)); do
	python3 tests/dwarf/damage.py "$top/program" "$debug" "$i"
	symbolize --debug-dir "$top/debug" || bad=$((bad + 1))
	! grep -q 'was ended\|in its time' "$top/err" || ended=$((ended + 1))
done
[ $bad = 0 ]
result $? "$damaged damaged debug files: $ended ended the process that read them, all gave a profile"

cp "$top/program" "$debug"
head -c 1000 /dev/urandom >"$top/profile"
symbolize --debug-dir "$top/debug"
[ $? = 1 ] && [ ! -e "$top/out" ]
result $? 'what is not a profile gives none'

profile "$top/stripped" "$top/program"
symbolize --debug-dir "$top/debug" && before=$(cat "$top/out" | sha256sum)
timeout 60 "$build/keyhole-symbolize" -d "$top/debug" -o "$top/out" "$top/profile" 2>"$top/err"
[ $? = 2 ] && [ "$(cat "$top/out" | sha256sum)" = "$before" ] &&
	[ -z "$(find "$top" -name 'out.*')" ]
result $? 'a file that exists stays'
timeout 60 "$build/keyhole-symbolize" --force -d "$top/debug" -o "$top/out2" "$top/out" 2>"$top/err" &&
	"$build/tests/dwarf/profile" show <"$top/out2" | cmp -s - <("$build/tests/dwarf/profile" show <"$top/out")
result $? 'a second time changes nothing'

addresses "$top/program" 1000 | head -n 513 >"$top/addresses" # one more than few.h has
profile "$top/stripped" "$top/program"
rm -f "$top/out"
"$build/dwarf/few/keyhole-symbolize" -v -o "$top/out" -d "$top/debug" "$top/profile" 2>"$top/err" &&
	grep -q 'stripped: more than 512 addresses: not looked for' "$top/err" &&
	grep -q '1 have too many addresses' "$top/err"
result $? 'more addresses of an object than are asked about: that is said'

cp "$(program gcc-split)" "$top/split"
addresses "$top/split" 1000 >"$top/addresses"
profile "$top/split" "$top/split"
symbolize -d "$top/debug" && grep -q '\.dwo' "$top/err" && [ "$(lines)" -gt 900 ]
result $? "what is in .dwo files is missing, which is said; $(lines) of 1000 addresses have lines"

if command -v dwz >/dev/null; then
	cp "$(program gcc-4)" "$top/a"
	cp "$top/a" "$top/b" && (cd "$top" && dwz -m alternate a b)
	addresses "$top/a" 1000 >"$top/addresses"
	profile "$top/a" "$top/a"
	symbolize -d "$top/debug" && grep -q dwz "$top/err"
	result $? 'without the file that dwz made, that is said'
	id=$(id_of "$top/alternate")
	mkdir -p "$top/debug/.build-id/${id:0:2}"
	cp "$top/alternate" "$top/debug/.build-id/${id:0:2}/${id:2}.debug"
	symbolize -d "$top/debug" && ! grep -q dwz "$top/err" && [ "$(lines)" -gt 900 ]
	result $? "with it, $(lines) of 1000 addresses have lines"
else
	number=$((number + 1))
	echo "ok $number - debug information that dwz shrank # SKIP needs dwz"
fi
echo "1..$number"
exit $failed
