# SPDX-License-Identifier: Apache-2.0
"""Notes for compare.py the functions that an interpreter says it runs.

run() lets one thread note the stacks of the others. Functions note themselves, too, when they run first:
note(). Where no other thread can see the stacks, as with two interpreters, that is all.
"""

import dis
import json
import os
import signal
import sys
import threading
import time

PERIOD = 0.002  # seconds
stopped = threading.Event()
noted = threading.local()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def file_of(code):
    return code.co_filename.rsplit("/", 1)[-1]


class Report:
    """stacks: tuples of (name, file); calls: (name, file, line, called name); lines: (name, file): numbers.

    extra: what compare.py wants to know besides: `files` of the workload, and perhaps `orders`.
    """

    def __init__(self, **extra):
        self.extra = extra
        self.stacks = set()
        self.calls = set()
        self.codes = {}
        self.lines = {}

    def add(self, frame):
        stack, called = [], None
        while frame:
            code = frame.f_code
            name, file = name_of(code), file_of(code)
            if called:
                self.calls.add((name, file, frame.f_lineno, called))
            self.codes.setdefault((name, file), set()).add(code)
            stack.append((name, file))
            called, frame = name, frame.f_back
        self.stacks.add(tuple(reversed(stack)))

    def note(self):
        """Adds the stack of the function that calls this one."""
        self.add(sys._getframe(1))

    def add_noted(self, frames):
        """Adds a stack of another interpreter: (name, file, line, all lines) of each frame, leaf first."""
        called = None
        for name, file, line, numbers in frames:
            if called:
                self.calls.add((name, file, line, called))
            self.lines.setdefault((name, file), set()).update(numbers)
            called = name
        self.stacks.add(tuple((name, file) for name, file, _, _ in reversed(frames)))

    def write(self, path):
        lines = {key: set(numbers) for key, numbers in self.lines.items()}
        for key, codes in self.codes.items():
            numbers = {line for code in codes for _, line in dis.findlinestarts(code) if line is not None}
            lines.setdefault(key, set()).update(numbers | {code.co_firstlineno for code in codes})
        out = dict(self.extra, version=sys.version.split()[0], stacks=sorted(self.stacks),
                   calls=sorted(self.calls),
                   lines=[(name, file, sorted(numbers)) for (name, file), numbers in lines.items()])
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(out, file)
        os.rename(path + ".new", path)


def observe(report, stop):
    own = threading.get_ident()
    while not stopped.is_set():
        time.sleep(PERIOD)
        for thread, frame in sys._current_frames().items():
            if thread != own:
                report.add(frame)
        if stop and os.path.exists(stop):
            stopped.set()


def until_stopped(path):
    """Returns the file that stops the program, where no signal can: in a sub-interpreter."""
    try:
        signal.signal(signal.SIGTERM, lambda number, frame: stopped.set())
        return None
    except ValueError:
        return path + ".stop"


def note():
    """Adds the stack of the function that calls this one, until its thread is ready."""
    report = getattr(noted, "report", None)
    if report:
        report.add(sys._getframe(1))


def run(work, path, **extra):
    """Lets two threads run work(ready) and another one observe them. Writes the report to path."""
    report, ready = Report(**extra), threading.Barrier(2)

    def is_ready(path=None):
        noted.report = None
        ready.wait()
        if path:
            open(path, "w").close()

    def other():
        noted.report = report
        work(is_ready)

    sys.setswitchinterval(0.0005)
    threads = [threading.Thread(target=observe, args=(report, until_stopped(path))),
               threading.Thread(target=other)]
    for thread in threads:
        thread.start()
    noted.report = report
    work(lambda: is_ready(path + ".ready"))
    for thread in threads:
        thread.join()
    report.write(path)
