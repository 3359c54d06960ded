# SPDX-License-Identifier: Apache-2.0
"""image.py REPORT: two threads whose functions stay where they are, for record_image.c.

One thread keeps the global lock, if there is one, and the other one has released it. Each thread writes
REPORT-held or REPORT-released before: its id, then line, file and name of each function, innermost first.
A function stays in the line in which it reports.
"""

import _thread
import functools
import itertools
import os
import sys
import time


def report(kind):
    frame, lines = sys._getframe(1), [str(_thread.get_native_id())]
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        lines.append(f"{frame.f_lineno}\t{code.co_filename}\t{name}")
        frame = frame.f_back
    path = f"{sys.argv[1]}-{kind}"
    with open(f"{path}.new", "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    os.rename(f"{path}.new", path)


class Größe:
    def method(self, further):
        return further()

    @classmethod
    def of_class(cls, further):
        return (
            further(
            )
        )


def nested(further):
    def inner():
        return further()
    return inner()


def generated(further):
    yield 1
    yield further()


def by_generator(further):
    return sum(value for value in generated(further))


def by_sort(further):
    return sorted([2, 1], key=lambda value: further())


def by_reduce(further):
    return functools.reduce(lambda left, right: further(), [1, 2])


def by_comprehension(further):
    return [further() for _ in range(2)]


def by_finally(further):
    try:
        raise ValueError
    except ValueError:
        pass
    finally:
        further()


def by_class(further):
    class Body:
        value = further()
    return Body


def recursive(further, depth=12):
    if depth == 0:
        return further()
    return recursive(further, depth - 1)


def 名前(further):
    return further()


def 𠀀(further):
    return further()


def with_a_name_that_is_longer_than_the_room_for_it_in_what_a_program_of_the_kernel_tells_of_it______________________________________________________________________________(further):
    return further()


async def awaited(further):
    return further()


def by_coroutine(further):
    try:
        awaited(further).send(None)
    except StopIteration:
        pass


MADE = {}
exec(compile("def made(further):\n\n    return further()\n", "<made>", "exec"), MADE)
exec(compile("def long(further):\n" + "    value = 1\n" * 600 + "    return further()\n", "long.py", "exec"), MADE)

STEPS = [Größe().method, Größe.of_class, nested, by_generator, by_sort, by_reduce, by_comprehension, by_finally,
         by_class, recursive, 名前, 𠀀, MADE["made"], MADE["long"], by_coroutine,
         with_a_name_that_is_longer_than_the_room_for_it_in_what_a_program_of_the_kernel_tells_of_it______________________________________________________________________________]


def chain(steps, last):
    if not steps:
        return last()
    return steps[0](lambda: chain(steps[1:], last))


def keep():  # sum() never gives the lock up
    report("held"); sum(itertools.repeat(0))


def release():
    report("released"); time.sleep(100000)


def main():
    _thread.start_new_thread(chain, (STEPS, release))
    while not os.path.exists(sys.argv[1] + "-released"):
        time.sleep(0.01)
    chain(STEPS, keep)


main()
