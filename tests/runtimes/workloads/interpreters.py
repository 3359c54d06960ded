# SPDX-License-Identifier: Apache-2.0
"""interpreters.py REPORT: sub-interpreters in threads, each with a lock of its own. See report.py."""

import ast
import os
import sys
import threading

import report

INTERPRETERS = 2
INSIDE = """
import sys, zlib
notes = []

def note(frame):
    stack = []
    while frame:
        code = frame.f_code
        numbers = [line for _, _, line in code.co_lines() if line] + [code.co_firstlineno]
        stack.append((code.co_qualname, code.co_filename, frame.f_lineno, numbers))
        frame = frame.f_back
    notes.append(stack)

def write(path):
    with open(path + ".new", "w") as file:
        file.write(repr(notes))

def burn(noted):
    total = 0
    for i in range(200000):
        total += i * i
    if noted:
        note(sys._getframe())
    return total

def inner(noted):
    return burn(noted)

def compress(noted):
    if noted:
        note(sys._getframe())
    return zlib.compress(bytes(range(256)) * 500, 9)

def work(noted=False):
    inner(noted)
    compress(noted)
"""

try:
    from concurrent import interpreters  # 3.14

    def create():
        return interpreters.create().exec
except ImportError:
    try:
        import _interpreters as interpreters  # 3.13
    except ImportError:
        import _xxsubinterpreters as interpreters  # 3.12

    def create():
        number = interpreters.create()
        return lambda text: interpreters.run_string(number, text)


def part(path, number):
    return "%s.%d" % (path, number)


def outer(run, path, notes):
    notes.note()
    run(INSIDE)
    run("work(True)")
    run("write(%r)" % path)
    os.rename(path + ".new", path)
    while not report.stopped.is_set():
        run("work()")


def main(path):
    notes = report.Report(files=["<string>", "<script>"])
    report.until_stopped(path)
    parts = [part(path, number) for number in range(INTERPRETERS)]
    threads = [threading.Thread(target=outer, args=(create(), one, notes)) for one in parts]
    for thread in threads:
        thread.start()
    while not all(map(os.path.exists, parts)):
        if not all(thread.is_alive() for thread in threads):
            sys.exit("an interpreter ended")
        report.stopped.wait(0.01)
    notes.note()
    open(path + ".ready", "w").close()
    for thread in threads:
        thread.join()
    for one in parts:
        with open(one, encoding="utf-8") as file:
            for stack in ast.literal_eval(file.read()):
                notes.add_noted(stack)
    notes.write(path)


main(sys.argv[1])
