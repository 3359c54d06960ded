#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares functions, files and lines from Go's own tables with the answers of Go's tools. Our side
# reads a stripped copy of a program of the Go distribution, the tools read the program. Prints TAP.

build=${BUILD:-build}
skip() {
	echo "1..0 # SKIP $*" | tee /dev/stderr
	exit 77
}
command -v go >/dev/null || skip 'go is not installed'
# Go 1.25 and later compile nm and addr2line at the first use; without C, in a quarter of the time.
export GOTOOLCHAIN=local GOFLAGS= CGO_ENABLED=0 GOCACHE="${GOCACHE:-$(realpath "$build")/go-cache}"
program=${ORACLE_GO_PROGRAM:-$(go env GOROOT)/bin/gofmt}
[ -x "$program" ] || skip 'the Go distribution has no gofmt'
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-names.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
export HOME=$top
go tool nm -n -size "$program" 2>/dev/null | awk '$3 ~ /^[tT]$/ && $2 > 0' >"$top/symbols"
[ "$(wc -l <"$top/symbols")" -gt 1000 ] || skip 'gofmt is stripped, or there is no go tool nm'
objcopy -S "$program" "$top/stripped" || skip 'objcopy does not strip it'

# Eight addresses of each function: "address start name".
python3 -c '
import sys
for line in open(sys.argv[1]):
    start, size, _, name = line.rstrip("\n").split(None, 3)
    size = int(size)
    for at in sorted({size * i // 8 for i in range(8)}):
        print("%x %s %s" % (int(start, 16) + at, start.lstrip("0"), name))
' "$top/symbols" >"$top/addresses"
cut -d' ' -f1 "$top/addresses" | "$build/tests/oracle/test_names" go "$top/stripped" \
	>"$top/ours" 2>"$top/err" || { cat "$top/err"; echo 'not ok 1 - reads the table'; exit 1; }
sed 's/ .*//; s/^/0x/' "$top/addresses" | go tool addr2line "$program" | paste - - >"$top/lines"

echo 1..3
python3 - "$top" <<'E2'
import re
import sys

top = sys.argv[1]
ours = {}
for line in open(top + "/ours"):
    parts = line.rstrip("\n").split("|")
    ours[parts[0]] = [parts[i:i + 3] for i in range(1, len(parts), 3)]


def plain(name):
    """Without the ABI, and without what a type parameter stands for."""
    name = re.sub(r"\.abi(0|internal)$", "", name).replace("\u00b7", ".")
    while re.search(r"\[[^][]*\]", name):
        name = re.sub(r"\[[^][]*\]", "", name)
    return name


names = starts = lines = checked = 0
wrong = []
for address, found in zip(open(top + "/addresses"), open(top + "/lines")):
    at, start, name = address.rstrip("\n").split(" ", 2)
    frames = ours.get(at) or [["", "", ""]]
    line = found.rstrip("\n").split("\t")[1]
    if "(." in name:  # an object of C as a whole: nm knows no better
        continue
    checked += 1
    good = plain(frames[-1][0]) == plain(name)
    names += good
    starts += frames[-1][1] == start
    # of code that was not written in Go there are no lines
    same = frames[0][2] == line or frames[0][2] == ":0"
    lines += same
    if not (good and same):
        wrong.append("# %s: %s, %s: ours %s" % (at, name, line, frames))
for number, (what, right) in enumerate((("names", names), ("starts of functions", starts),
                                        ("files and lines", lines)), 1):
    print("%sok %d - %s of %d addresses" % ("" if right == checked else "not ", number, what,
                                            checked))
print("\n".join(wrong[:10]))
sys.exit(checked < 10000 or min(names, starts, lines) < checked)
E2
