#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how soon new processes are unwound: COUNT processes of 50 ms each, of a known file and of
a fresh copy each. Expected samples come from the processes' own CPU time. A process was not ready for
the number of its samples that were cut as not ready, times the period."""

import argparse
import collections
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import pprof  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
SHORT = BUILD + "/workloads/short"


def run_short(program):
    """Runs it to its end; the CPU time it took."""
    child = os.fork()
    if child == 0:
        os.execl(program, program, "50")
    usage = os.wait4(child, 0)[2]
    return usage.ru_utime + usage.ru_stime


def processes(count, fresh, folder):
    spent = 0.0
    for number in range(count):
        program = SHORT
        if fresh:
            program = "%s/short" % folder
            shutil.copy(SHORT, program + ".new")
            os.rename(program + ".new", program)
            if number % 100 == 99:
                time.sleep(0.1)
        spent += run_short(program)
    return spent


def reason(sample, profile):
    for location in sample["locations"]:
        name = profile.frame(location)
        if name.startswith("[cut: "):
            return name[6:-1]
    return None


def measure(count, rate, fresh, folder):
    path = "%s/p.pb.gz" % folder
    recorder = subprocess.Popen([BUILD + "/keyhole", "record", "-a", "-v", "--force", "-F",
                                 str(rate), "-o", path], stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    if not fresh:
        run_short(SHORT)
        time.sleep(1)
    spent = processes(count, fresh, folder)
    recorder.send_signal(signal.SIGINT)
    log = recorder.communicate()[1]
    if recorder.returncode != 0:
        print(log)
        return False

    profile = pprof.Profile(path)
    there = complete = 0
    reasons, waiting = collections.Counter(), collections.Counter()
    for sample in profile.samples:
        if sample["labels"].get("comm") != "short":
            continue
        number, why = sample["values"][0], reason(sample, profile)
        there += number
        waiting[sample["labels"]["pid"]] += 0
        if why is None:
            complete += number
            continue
        reasons[why] += number
        if "not_ready" in why or "not ready" in why or "not known" in why:
            waiting[sample["labels"]["pid"]] += number
    expected = spent * rate
    print("\n## %d processes of 50 ms, %s, %d Hz" % (
        count, "a fresh copy each" if fresh else "one known file", rate))
    print("expected %.0f, there %d (%.1f %%), there and complete %d (%.1f %%)" % (
        expected, there, 100 * there / expected, complete, 100 * complete / expected))
    print("cut: %s" % (", ".join("%s %d" % row for row in reasons.most_common()) or "none"))
    times = sorted(waits * 1000.0 / rate for waits in waiting.values())
    if times:
        print("not ready for (ms of its CPU time, +-%.1f): p50 %.1f, p90 %.1f, p99 %.1f, max %.1f" %
              (1000.0 / rate, times[len(times) // 2], times[int(len(times) * 0.9)],
               times[int(len(times) * 0.99)], times[-1]))
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rates", type=int, nargs="+", default=[99, 1999])
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="keyhole-readiness.")
    try:
        done = [measure(args.count, rate, fresh, folder)
                for rate in args.rates for fresh in (False, True)]
    finally:
        shutil.rmtree(folder)
    return 0 if all(done) else 1


sys.exit(main())
