# SPDX-License-Identifier: Apache-2.0
"""two.py REPORT: two interpreters in a process, of which this one calls the other. See host.c, report.py."""

import ctypes
import sys

import report

OTHER = ctypes.CDLL(None).call_other
MADE = b"""def other_burn():
    total = 0
    for i in range(30000):
        total += i * i

def other_inner():
    other_burn()
"""
FILE = "<string>"
NOTED = 2  # turns
# The other interpreter would say this.
STACK = [("<module>", FILE), ("other_inner", FILE), ("other_burn", FILE)]
CALLS = [("<module>", FILE, 1, "other_inner"), ("other_inner", FILE, 7, "other_burn")]
LINES = {("other_burn", FILE): {1, 2, 3, 4}, ("other_inner", FILE): {6, 7}, ("<module>", FILE): {1}}


def burn(notes):
    total = 0
    for i in range(30000):
        total += i * i
    if notes:
        notes.note()


def inner(notes):
    burn(notes)


def outer(notes):
    if notes:
        notes.note()
    if OTHER(b"other_inner()"):
        sys.exit("the other interpreter has failed")


def work(notes):
    inner(notes)
    outer(notes)


def main(path):
    notes = report.Report(files=["two.py", FILE])
    notes.stacks.add(tuple(STACK))
    notes.calls.update(CALLS)
    notes.lines.update(LINES)
    report.until_stopped(path)
    OTHER(MADE)
    left = NOTED
    while not report.stopped.is_set():
        work(notes if left > 0 else None)
        left -= 1
        if left == 0:
            open(path + ".ready", "w").close()
    notes.write(path)


main(sys.argv[1])
