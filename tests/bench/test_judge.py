#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether duration.py tells a broken bound from a machine that loses its CPU: rows made up."""

import sys

import duration

SAMPLES = 50000

# name; samples, control: {us: of 100,000}, the rest takes what is said first; limit; it holds
CASES = [
    ("nothing late", (48, {}), (45, {}), 60, True),
    ("few late ones are allowed", (48, {90: 60}), (45, {}), 60, True),
    ("more than those allowed", (48, {90: 160}), (45, {}), 60, False),
    ("late as the control is", (48, {75: 1000, 150: 300}), (45, {72: 700, 147: 200}), 60, True),
    ("later than the control, as often", (48, {150: 3000}), (45, {58: 5000}), 60, False),
    ("small jitter of the control near the limit", (58, {150: 3000}), (45, {49: 5000}), 60, False),
    ("jitter alone, near the limit", (58, {62: 3000}), (45, {49: 5000}), 60, False),
    ("usual beyond the limit", (70, {}), (45, {}), 60, False),
    ("as late, three times as often", (48, {90: 3000}), (45, {88: 700}), 60, False),
    ("longest: none", (48, {150: 1000}), (45, {}), 200, True),
    ("longest: lost CPU", (48, {300: 50}), (45, {305: 40}), 200, True),
    ("longest: own", (48, {210: 50}), (45, {113: 5000}), 200, False),
    ("longest: own, far", (48, {900: 50}), (45, {203: 50}), 200, False),
]


# stalls of 10 s of samples, of 10 s of the control; it holds
RATES = [(0, 0, True), (10, 0, True), (11, 0, False), (900, 100, True), (1100, 100, False)]


def make_row(usual, late):
    row = duration.Row()
    counts = {us: SAMPLES * share // 100000 for us, share in late.items()}
    counts[usual] = SAMPLES - sum(counts.values())
    for us, count in counts.items():
        at = us if us < duration.FINE else duration.FINE + (us - duration.FINE) // duration.COARSE
        row.bucket[at] += count
        row.count += count
        row.nanoseconds += count * (1000 * us + 500)
        row.longest = max(row.longest, 1000 * us + 500)
    return row


def main():
    failed = 0
    print("1..%d" % (len(CASES) + len(RATES)))
    for number, (name, samples, control, limit, holds) in enumerate(CASES, 1):
        row = make_row(*samples)
        allowed = row.count * .001 if limit == duration.P999_US else 0
        good = duration.judge(row, make_row(*control), row.quantile(.5), limit, allowed)
        failed |= good != holds
        print("%s %d - judge: %s" % ("ok" if good == holds else "not ok", number, name))
    for number, (stalls, control_stalls, holds) in enumerate(RATES, len(CASES) + 1):
        worked, stalled, control_stalled = (duration.Row() for _ in range(3))
        worked.nanoseconds = 10**10
        stalled.count, control_stalled.count = stalls, control_stalls
        good = duration.judge_rates(worked, stalled, worked, control_stalled)
        failed |= good != holds
        print("%s %d - rates: %d, %d" % ("ok" if good == holds else "not ok", number, stalls,
                                         control_stalls))
    return failed


sys.exit(main())
