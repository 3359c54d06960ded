#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a keyhole built with OBSERVER=tests/bench/duration.bpf.h; prints how long samples took.

duration.py [--judge | --judge-longest | --judge-all] -- COMMAND...
--judge: fails where the bounds do not hold, after subtracting what the machine itself adds. Also
fails where the clock cut too few samples to tell. --judge-longest: judges the longest sample alone.
This is for low rates, where some walks may take longer than 99.9 % may at high rates (bpf/README.md).
--judge-all: both bounds hold for all samples, whether or not the clock cut them.

A virtual machine loses its CPU at times, with interrupts off as well. A control replaces every other
walk and shows how often: samples may be late as often a second, and by as much.
tests/bench/test_judge.py tests the judgement.
"""

import ctypes
import math
import os
import subprocess
import sys
import time

from bpf import MAP_LOOKUP, bpf, find_map, map_ids

BUCKETS, FINE, COARSE, ROWS = 512, 400, 100, 32  # duration.bpf.h
WORDS = 3 + BUCKETS
KINDS = "control", "all less stalls", "control less stalls", "stalls", "stalls of the control"
P999_US, LONGEST_US = 60, 200
MARGIN_US = 8  # from the usual walk to a limit: less would pass for jitter
ENOUGH, ENOUGH_LONGEST = 2000, 200  # samples cut by the clock
STARVED = 75  # exit status where there are but too few
STALLS = 10  # of walks, to one of the control
CHANCE = 0.001  # that a good build is called broken

def possible_cpus():
    with open("/sys/devices/system/cpu/possible", encoding="ascii") as file:
        return int(file.read().replace(",", "-").split("-")[-1]) + 1


class Row:
    """Durations of one kind: a histogram in microseconds."""

    def __init__(self):
        self.count = self.nanoseconds = self.longest = 0
        self.bucket = [0] * BUCKETS

    def add(self, words):
        self.count += words[0]
        self.nanoseconds += words[1]
        self.longest = max(self.longest, words[2])
        for i in range(BUCKETS):
            self.bucket[i] += words[3 + i]

    def merge(self, other):
        self.add([other.count, other.nanoseconds, other.longest, *other.bucket])
        return self

    def mean(self):
        return self.nanoseconds / 1e3 / max(1, self.count)

    def quantile(self, share):
        """Upper end of the bucket that holds it."""
        left = self.count - math.floor(self.count * (1 - share))
        for i, number in enumerate(self.bucket):
            left -= number
            if left <= 0:
                return i + 1 if i < FINE else FINE + (i + 1 - FINE) * COARSE
        return 0

    def above(self, microseconds):
        return sum(self.bucket[microseconds:])


def read_rows(fd):
    """[user, kernel], each {row number: Row}"""
    cpus = possible_cpus()
    value = (ctypes.c_uint64 * (WORDS * cpus))()
    result = [{}, {}]
    for number in range(2 * ROWS):
        key = ctypes.c_uint32(number)
        attributes = (ctypes.c_uint64 * 4)(fd, ctypes.addressof(key), ctypes.addressof(value), 0)
        bpf(MAP_LOOKUP, attributes)
        row = Row()
        for cpu in range(cpus):
            row.add(value[cpu * WORDS:(cpu + 1) * WORDS])
        if row.count:
            result[number // ROWS][number % ROWS] = row
    return result


def reasons():
    path = os.path.join(os.path.dirname(__file__), "..", "..", "bpf", "counters.def")
    with open(path, encoding="ascii") as file:
        return [line[2:].split(",")[0] for line in file if line.startswith("X(")]


LINE = "%-22s %8s %7s %6s %6s %6s %7s %7s %6s %6s %9s"


def show(name, row):
    print(LINE % (name, row.count, "%.1f" % row.mean(), row.quantile(.5), row.quantile(.9),
                  row.quantile(.99), row.quantile(.999), row.quantile(.9999),
                  row.above(P999_US), row.above(LONGEST_US), "%.1f" % (row.longest / 1e3)))


def histogram(row, control):
    print("%14s %19s %19s" % ("us", "samples", "control"))
    for low in [*range(0, 100, 10), *range(100, 200, 50)]:
        high = low + (10 if low < 100 else 50)
        counts = [sum(one.bucket[low:high]) for one in (row, control)]
        if any(counts):
            print("    %4d - %-4d %9d %7.3f %% %9d %7.3f %%" % (
                low, high, counts[0], 100 * counts[0] / max(1, row.count),
                counts[1], 100 * counts[1] / max(1, control.count)))
    print("    %4d and up %8d %9s %10d" % (LONGEST_US, row.above(LONGEST_US), "",
                                           control.above(LONGEST_US)))


def chance(late, control_late, share):
    """Returns the chance of so many late samples or more, if one cause made both late at any time.

    share: what the samples took of all time with interrupts off.
    """
    total = late + control_late
    if not late or not 0 < share < 1:
        return 1.0

    def binomial(i):
        return math.exp(math.lgamma(total + 1) - math.lgamma(i + 1) - math.lgamma(total - i + 1)
                        + i * math.log(share) + (total - i) * math.log(1 - share))
    return min(1.0, sum(binomial(i) for i in range(late, total + 1)))


def lateness(limit, usual):
    """[us beyond the usual]: from what passes the limit on, ever later."""
    result = [max(1, limit - usual)]
    while usual + result[-1] * 3 // 2 + 1 < FINE:
        result.append(result[-1] * 3 // 2 + 1)
    return result


def judge(everything, control, usual, limit, allowed):
    """Whether a bound holds but for so many samples and for what the machine adds.

    Like is compared with like: what is late by so much or more with what of the control is. So a
    control that is often a little late excuses nothing that is late by much.
    """
    share = everything.nanoseconds / max(1, everything.nanoseconds + control.nanoseconds)
    likely, by, counts = 1.0, 0, (0, 0)
    control_usual = control.quantile(.5)
    steps = lateness(limit, usual)
    for beyond in steps:
        late = max(0, everything.above(usual + beyond) - math.floor(allowed))
        control_late = control.above(control_usual + beyond)
        one = chance(late, control_late, share)
        if one < likely or not by:
            likely, by, counts = one, beyond, (late, control_late)
    good = usual <= limit - MARGIN_US and likely >= CHANCE / len(steps)
    print("%s: above %d us %d of %d; usual %d; least likely: later than that by %d us, beyond those "
          "allowed %d in %.1f s, of the control %d in %.1f s; chance %.5f" % (
              "holds" if good else "BROKEN", limit, everything.above(limit), everything.count,
              usual, by, counts[0], everything.nanoseconds / 1e9, counts[1],
              control.nanoseconds / 1e9, likely))
    return good


def judge_rates(everything, stalls, control, control_stalls):
    """Whether samples stall at most STALLS times as often as the control, in as much time."""
    most = STALLS * (control_stalls.count + 1) * everything.nanoseconds / max(1, control.nanoseconds)
    good = stalls.count <= most
    print("%s: stalls %d in %.1f s, of the control %d in %.1f s: at most %d" % (
        "holds" if good else "BROKEN", stalls.count, everything.nanoseconds / 1e9,
        control_stalls.count, control.nanoseconds / 1e9, most))
    return good


def run(command):
    """(exit status, fd of the map)"""
    known, fd = map_ids(), None
    process = subprocess.Popen(command)
    while fd is None and process.poll() is None:
        fd = find_map("durations", known)
        time.sleep(0.02)
    status = process.wait()
    if fd is None:
        sys.exit("no map of durations: is it built with OBSERVER=tests/bench/duration.bpf.h?")
    return status, fd



def main():
    split = sys.argv.index("--")
    option, command = sys.argv[1:split], sys.argv[split + 1:]
    if option not in ([], ["--judge"], ["--judge-longest"], ["--judge-all"]):
        sys.exit(__doc__)
    longest_only = option == ["--judge-longest"]
    all_count = option in ([], ["--judge-all"])
    status, fd = run(command)
    names, everything, cut = reasons(), Row(), Row()
    control, own, control_own, stalls, control_stalls = kinds = [Row() for _ in KINDS]
    print(LINE % ("us", "samples", "mean", "p50", "p90", "p99", "p99.9", "p99.99",
                  ">%d" % P999_US, ">%d" % LONGEST_US, "longest"))
    for mode, rows in zip(("user", "kernel"), read_rows(fd)):
        for number, row in rows.items():
            if number >= len(names):
                kinds[number - len(names)].merge(row)
                continue
            show("%s %s" % (mode, names[number]), row)
            everything.merge(row)
            if names[number] == "cut_budget":
                cut.merge(row)
    show("all", everything)
    for kind, row in zip(KINDS, kinds):
        show(kind, row)
    histogram(everything, control)
    slow = everything if all_count else cut  # many cheap samples must not make room for late ones
    good, samples = True, everything
    if control_stalls.count > control.count * .001:
        print("noisy: fixed work of %d samples stalled %d times: judged less the stalls" % (
            control.count, control_stalls.count))
        good = judge_rates(everything, stalls, control, control_stalls)
        samples, control = own, control_own
    usual = (control if longest_only else slow).quantile(.5)
    good &= judge(samples, control, usual, LONGEST_US, 0)
    if not longest_only:
        good &= judge(samples, control, usual, P999_US, slow.count * .001)
    if option and slow.count < (ENOUGH_LONGEST if longest_only else ENOUGH):
        print("too few samples%s: %d" % ("" if all_count else " cut by the clock", slow.count))
        return status or (STARVED if good else 1)
    return status or int(bool(option) and not good)


if __name__ == "__main__":
    sys.exit(main())
