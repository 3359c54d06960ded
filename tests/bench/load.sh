#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# load.sh: runs the mixed load until TERM comes to its process group. The load is C++ in two
# threads, Python, a compiler, cryptography, short processes and system calls.

workloads=${BUILD:-build}/workloads
folder=$(mktemp -d)
trap 'rm -rf "$folder"; trap - TERM; kill 0' TERM INT EXIT

cat >"$folder/work.py" <<'END'
import json, re
while True:
    text = json.dumps([{"a%d" % i: list(range(20))} for i in range(200)])
    sorted(json.loads(text), key=lambda entry: min(entry))
    re.findall(r"(a\d+)+", text)
END
printf '#include <regex>\n#include <map>\nint main() { return std::regex_match("a", std::regex("a+")); }\n' \
	>"$folder/work.cpp"

"$workloads/mixed" 100000 &
python3 "$folder/work.py" &
(while :; do clang -O2 -xc++ -c -o "$folder/work.o" "$folder/work.cpp" || sleep 1; done) &
(while :; do openssl speed -seconds 1 sha512 || sleep 1; done) >/dev/null 2>&1 &
(while :; do "$workloads/short" 50; sleep 0.1; done) &
(while :; do tar cf - /usr/include 2>/dev/null | gzip -1 >/dev/null; done) &
wait
