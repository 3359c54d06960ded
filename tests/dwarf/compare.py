#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py [--named] FILE OURS THEIRS...: compares outputs of addr2line -a -f -i of several
programs. --named: ours has the symbol's name for the outermost function, which may tell more.

Prints how many addresses have a chain of functions, lines and files that equals one of theirs.
Prints the first that differ, and then fails. Both addr2lines put the symbol in the place of some
names: binutils for an innermost function without a linkage name, LLVM for the outermost. Both names
are taken for equal. Folders of files are compared without "./" and "x/..".
"""
import bisect
import os
import re
import subprocess
import sys

SHOWN = 20


def normal(path):
    return "??" if path in ("", "??") else os.path.normpath(path)


def read(name):
    chains, at = {}, None
    with open(name, errors="replace") as file:
        lines = file.read().split("\n")
    i = 0
    while i < len(lines):
        if lines[i].startswith("0x"):
            at = chains.setdefault(int(lines[i], 16), [])
            i += 1
            continue
        if i + 1 < len(lines):
            path, _, line = lines[i + 1].partition(" (")[0].rpartition(":")
            name = "??" if re.fullmatch(r".*\+0x[0-9a-f]+", lines[i]) else lines[i]
            at.append((name, normal(path), line.replace("?", "0")))
        i += 2
    return chains


def has_lines(chain):
    return any(int(line) or path.startswith("/") for _, path, line in chain)


def symbols(name):
    """Their starts, and a set of the names at each."""
    out = subprocess.run(["nm", "-n", "--defined-only", name], capture_output=True, text=True)
    found = {}
    for line in out.stdout.splitlines():
        value, kind, text = line.split(" ", 2)
        if kind.lower() in "tw":
            found.setdefault(int(value, 16), set()).add(text)
    return sorted(found), found


def same(own, said, names, named):
    if named and own and said and own[-1][0] in names:
        own = own[:-1] + [said[-1][:1] + own[-1][1:]]
    return len(own) == len(said) and all(
        a[1:] == b[1:] and (a[0] == b[0] or b[0] in names) for a, b in zip(own, said))


def main():
    named = sys.argv[1] == "--named"
    del sys.argv[1:1 + named]
    starts, at = symbols(sys.argv[1])
    ours, judges = read(sys.argv[2]), [read(name) for name in sys.argv[3:]]
    total, inlined, equal, each, differ = 0, 0, 0, [0] * len(judges), []
    for address, own in ours.items():
        said = [judge.get(address, []) for judge in judges]
        if not any(has_lines(chain) for chain in said):
            continue
        start = bisect.bisect_right(starts, address)
        names = at[starts[start - 1]] if start else set()
        matches = [same(own, chain, names, named) for chain in said]
        total += 1
        inlined += len(own) > 1
        equal += any(matches)
        each = [n + match for n, match in zip(each, matches)]
        if not any(matches):
            differ.append((address, own, said))
    print(f"addresses {len(ours)}, with lines {total}, inlined {inlined}, equal {equal}, "
          f"to each {each}")
    for address, own, said in differ[:SHOWN]:
        print(f"  0x{address:x}\n    ours   {own}")
        for chain in said:
            print(f"    theirs {chain}")
    return 1 if differ or not total else 0


sys.exit(main())
