#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""density.py [FILE...]: how much stands on a line of C, folder by folder, beside other projects.

Fails where a line decides twice and reads backwards, `r = r ? r : f()`. Fails where a folder has more
than 25 ternaries in 1,000 lines of code. Tokens a line are printed and have no limit.
"""
import collections
import os
import re
import subprocess
import sys

TERNARIES_MAX = 25
# Measured in 2026-08 with this script.
EXEMPLARS = (("OpenSSH", 6.8, 7.5), ("drgn", 5.8, 5.2), ("git reftable", 6.0, 3.2))

STRIP = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\"\"|->|\+\+|--|<<=?|>>=?|[<>=!+\-*/%&|^]=|&&|\|\||##?|\S")
# `x = x ? x : y`, `return x ? x : y`, with or without a comparison.
BACKWARDS = re.compile(r"\b(?:(\w+) = \1 \? \1 :|return (\w+) \? \2 :)")
Figures = collections.namedtuple("Figures", "code tokens ternaries backwards")


def keep_lines(match):
    text = match.group(0)
    return '""' if text[0] in "\"'" else "\n" * text.count("\n") + " "


def measure(text):
    text = STRIP.sub(keep_lines, text)
    lines = [line for line in text.split("\n") if line.strip()]
    code = [line for line in lines if not line.lstrip().startswith("#")]
    joined = re.sub(r"\s+", " ", "\n".join(code))
    return Figures(len(lines), sum(len(TOKEN.findall(line)) for line in lines),
                   joined.count("?"), len(BACKWARDS.findall(joined)))


def add(one, other):
    return Figures(*(a + b for a, b in zip(one, other)))


def shown(name, figures):
    per = 1000 / max(figures.code, 1)
    return (f"{name:<24} {figures.code:6} lines  {figures.tokens / max(figures.code, 1):4.1f} tokens a line"
            f"  {figures.ternaries * per:5.1f} ternaries a 1,000 lines")


def main(paths):
    if not paths:
        paths = subprocess.run(["tests/lint/sources", "product"], check=True, capture_output=True,
                               text=True).stdout.split()
    folders = collections.defaultdict(lambda: Figures(0, 0, 0, 0))
    bad = False
    for path in paths:
        with open(path, encoding="utf-8") as file:
            figures = measure(file.read())
        folders[os.path.dirname(path)] = add(folders[os.path.dirname(path)], figures)
        if figures.backwards:
            print(f"{path}: {figures.backwards} times `r ? r : ...`")
            bad = True
    everything = Figures(0, 0, 0, 0)
    for folder, figures in sorted(folders.items()):
        print(shown(folder, figures))
        everything = add(everything, figures)
        if figures.ternaries > TERNARIES_MAX * figures.code / 1000:
            print(f"{folder}: more than {TERNARIES_MAX} ternaries in 1,000 lines")
            bad = True
    print(shown("all of it", everything))
    for name, tokens, ternaries in EXEMPLARS:
        print(f"{name:<24} {'':12}  {tokens:4.1f} tokens a line  {ternaries:5.1f} ternaries a 1,000 lines")
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
