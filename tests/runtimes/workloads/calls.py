# SPDX-License-Identifier: Apache-2.0
"""calls.py REPORT: functions that call each other in ways that are known, until SIGTERM.

REPORT.ready is there when all functions have run once. At the end REPORT has what report.py noted.
"""

import asyncio
import functools
import re
import sys

import report

# A trampoline for perf is a frame whose code the walk reads: the time of a walk ends after some dozen.
TRAMPOLINES = getattr(sys, "is_stack_trampoline_active", lambda: False)()
DEPTH = 20 if TRAMPOLINES else 250


def burn(rounds=20000):
    report.note()
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


async def generated_later():
    yield await awaited()


async def task():
    async for _ in generated_later():
        await waits()


async def together():
    await asyncio.gather(
        task(),
        asyncio.create_task(task())
    )


def by_tasks():
    return asyncio.run(together())


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
        by_reduce, by_comprehension, by_coroutine, by_tasks, by_finally, lambda: recursive(DEPTH),
        lambda: MADE["made"](burn)]


def work(ready):
    for one in WORK:
        one()
    ready()
    while not report.stopped.is_set():
        for one in WORK:
            one()


sys.setrecursionlimit(1000)
report.run(work, sys.argv[1], files=["calls.py", "<made>"])
