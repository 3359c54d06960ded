#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorded.py FORMAT FILE HZ[:EVENT] [PROCESS CHAIN]: checks that the format's readers can read FILE.

In 95 % of the samples of PROCESS the frames of CHAIN (a;b;c) must be in that order. Prints how many
samples there are. With EVENT, HZ is the event's period instead."""

import sys

import readers

kind, path, rate = sys.argv[1:4]
frequency, _, event = rate.partition(":")
readers.PERIOD = int(frequency) if event else 10 ** 9 // int(frequency)
readers.START = readers.DURATION = None
readers.set_event(event or None)
samples = readers.READERS[kind](path)
print(sum(sample.count for sample in samples))


def has(frames, chain):
    rest = iter(frames)
    return all(name in rest for name in chain)


if len(sys.argv) > 4:
    process, chain = sys.argv[4], sys.argv[5].split(";")
    of_process = [sample for sample in samples if sample.process == process]
    count = sum(sample.count for sample in of_process)
    good = sum(sample.count for sample in of_process if has(sample.frames, chain))
    if count == 0 or good < count * 0.95:
        sys.exit("%d of %d samples of %s have %s" % (good, count, process, sys.argv[5]))
