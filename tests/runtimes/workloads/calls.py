# SPDX-License-Identifier: Apache-2.0
"""calls.py REPORT: functions that call each other in ways that are known, until SIGTERM.

REPORT.ready is there when all functions have run once.

One thread notes what the interpreter itself says of the others. At the end REPORT has that as JSON:
stacks, outermost function first; calls, as (caller, line, called function); lines of each function.
"""

import asyncio
import dis
import functools
import json
import re
import signal
import sys
import threading
import time

PERIOD = 0.002  # seconds
DEPTH = 250
stopped = threading.Event()


def burn(rounds=20000):
    total = 0
    for i in range(rounds):
        total += (
            i *
            i
        )
    return total


class Größe:
    def method(self):
        return burn()

    @staticmethod
    def static():
        return burn()

    @classmethod
    def of_class(cls):
        return cls.static()

    @property
    def value(self):
        return burn()


def nested():
    def inner():
        return burn()
    return inner()


def generated():
    yield burn()


def delegated():
    yield from generated()


def by_generator():
    return sum(
        delegated()
    )


def by_sort():
    return sorted([3, 1, 2], key=lambda value: value * burn())


def by_regex():
    return re.sub("x", lambda match: str(burn()), "xx")


def by_reduce():
    return functools.reduce(lambda left, right: left + burn() + right, [1, 2, 3])


def by_comprehension():
    return [burn() for _ in range(2)]


def recursive(depth):
    if depth == 0:
        return burn(100000)
    return recursive(depth - 1)


async def awaited():
    return burn()


async def waits():
    return await awaited()


def by_coroutine():
    return asyncio.run(waits())


def by_finally():
    try:
        raise ValueError
    except ValueError:
        return burn()
    finally:
        burn()


MADE = {}
exec(compile("def made(work):\n\n    return work()\n", "<made>", "exec"), MADE)

WORK = [Größe().method, Größe.of_class, lambda: Größe().value, nested, by_generator, by_sort, by_regex,
        by_reduce, by_comprehension, by_coroutine, by_finally, lambda: recursive(DEPTH),
        lambda: MADE["made"](burn)]


def work(ready):
    for one in WORK:
        one()
    ready()
    while not stopped.is_set():
        for one in WORK:
            one()


# ---- what the interpreter says -----------------------------------------------------------------

def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def file_of(code):
    return code.co_filename.rsplit("/", 1)[-1]


class Report:
    """stacks: tuples of (name, file); calls: (name, file, line, called name); codes by (name, file)."""

    def __init__(self):
        self.stacks = set()
        self.calls = set()
        self.codes = {}

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

    def write(self, path):
        lines = [(name, file, sorted({line for code in codes for _, line in dis.findlinestarts(code)
                                      if line is not None} | {code.co_firstlineno for code in codes}))
                 for (name, file), codes in self.codes.items()]
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"version": sys.version.split()[0], "stacks": sorted(self.stacks),
                       "calls": sorted(self.calls), "lines": lines}, out)


def observe(report):
    own = threading.get_ident()
    while not stopped.is_set():
        time.sleep(PERIOD)
        for thread, frame in sys._current_frames().items():
            if thread != own:
                report.add(frame)


def main():
    report = Report()
    sys.setrecursionlimit(4 * DEPTH)
    sys.setswitchinterval(0.0005)
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.set())
    threads = [threading.Thread(target=observe, args=(report,)),
               threading.Thread(target=work, args=(lambda: None,))]
    for thread in threads:
        thread.start()
    work(lambda: open(sys.argv[1] + ".ready", "w").close())
    for thread in threads:
        thread.join()
    report.write(sys.argv[1])


main()
