# SPDX-License-Identifier: Apache-2.0
"""Measures what a switch costs more: two processes on one CPU wake each other by pipes.

Rounds with and without keyhole take turns. The cost is the median of the differences between
neighbours, as others may keep the machine busy. So the cost has the hooks' programs and all that the
kernel does to call them. Rounds with an empty program show how much the latter is.
Further rounds have the kernel count the time of each program. That has the kernel's own readings of
a clock, so an empty program at the same tracepoint shows how much these are.
Arguments are those of keyhole ("stat" without any). LIMIT_NS bounds a program as the kernel counts
it. With "stat" it also bounds what a switch takes longer in all, without counters.
"""

import os
import subprocess
import sys
import tempfile
import time

import bpf

LIMIT_NS = 160
ROUNDS = 100
COUNTED_ROUNDS = 15
EMPTY = "nothing"
PASSES = 30000  # each of them is two switches
CPU = max(os.sched_getaffinity(0))
BUILD = os.path.realpath(os.environ.get("BUILD", "build"))
FOLDER = tempfile.TemporaryDirectory()  # of the files that "record" writes


def start(arguments):
    loader = subprocess.Popen([f"{BUILD}/keyhole", *arguments, "-v", "-d", "60"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              cwd=FOLDER.name)
    for line in loader.stderr:
        if " enabled " in line:
            return loader
    sys.exit(f"keyhole {arguments[0]} did not start")


def stop(loader):
    loader.terminate()
    loader.communicate()


def seconds():
    begun = time.perf_counter()
    subprocess.run([f"{BUILD}/workloads/accounted", "pingpong", str(PASSES)], check=True,
                   stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {CPU}))
    return time.perf_counter() - begun


def median(values):
    return sorted(values)[len(values) // 2]


def more(slow, fast):
    """The ns that a switch takes longer in the first rounds than in those beside them."""
    return median([(a - b) / (2 * PASSES) * 1e9 for a, b in zip(slow, fast)])


def seconds_traced():
    fds = bpf.attach_empty("sched_switch", EMPTY)
    try:
        return seconds()
    finally:
        for fd in fds:
            os.close(fd)


def time_programs(arguments):
    """The ns of a run of on_switch, and of an empty program: medians of rounds."""
    fds = [bpf.count_runs(), *bpf.attach_empty("sched_switch", EMPTY)]
    loader = start(arguments)
    rounds = {"on_switch": [], EMPTY: []}
    try:
        for _ in range(COUNTED_ROUNDS):
            before = bpf.program_runs()
            seconds()
            after = bpf.program_runs()
            for name, times in rounds.items():
                times.append((after[name][0] - before[name][0]) / (after[name][1] - before[name][1]))
    finally:
        stop(loader)
        for fd in fds:
            os.close(fd)
    return [median(times) for times in rounds.values()]


def main():
    arguments = sys.argv[1:] or ["stat"]
    without, traced, beside = [], [], []
    for _ in range(ROUNDS):
        without.append(seconds())
        traced.append(seconds_traced())
        loader = start(arguments)
        try:
            beside.append(seconds())
        finally:
            stop(loader)
    cost = more(beside, without)
    print(f"{median(without) / (2 * PASSES) * 1e9:.0f} ns a switch, with an empty program "
          f"{more(traced, without):.0f} ns more, beside keyhole {' '.join(arguments)} {cost:.0f} more "
          f"({more(beside, traced):.0f} more than with the empty one); {LIMIT_NS} allowed for stat")
    ours, nothing = time_programs(arguments)
    print(f"on_switch runs for {ours:.0f} ns as the kernel counts, an empty program for {nothing:.0f} ns; "
          f"{LIMIT_NS} allowed")
    return ours > LIMIT_NS or (arguments == ["stat"] and cost > LIMIT_NS)


sys.exit(main())
