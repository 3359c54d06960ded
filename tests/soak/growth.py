#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth.py BUILD: what the worker's memory grows by, which is the profile and nothing else.

Three recordings of GROWTH_SECONDS (20) at 4,999 Hz: one stack again and again, a new stack each
time, a new process each time. Private memory grows by what is distinct in the profile that was
written, at the sizes below, and not with the number of samples. Prints TAP. Root.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("escape", "e2e"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import inventory  # noqa: E402
import pprof  # noqa: E402

SECONDS = float(os.environ.get("GROWTH_SECONDS", "20"))
SETTLE = 3          # s, until tables and buffers have their size
RATE = 4999
MIB = 1 << 20

# Bytes in profile/profile.c and base/intern.c. An interned item has an entry (16) in an array that
# doubles, and up to 8/3 slots (4 each). Its bytes and a NUL are rounded up to 8.
ITEM = 2 * 16 + 4 * 8 / 3
SAMPLE = ITEM + 48 + 2 * 40         # a key, and struct profile_sample in an array that doubles
STACK = ITEM + 8                    # and 4 for each frame
LOCATION = ITEM + 24 + 2 * 24
PROCESS = 512                       # and what the worker remembers of one that is gone
FIXED = MIB / 8                     # blocks of strings, and what is not there yet after SETTLE


def of_profile(profile):
    """Bytes that what is distinct in a profile takes at most, and how much of it there is."""
    stacks = {tuple(sample["locations"]) for sample in profile.samples}
    pids = {sample["labels"].get("pid") for sample in profile.samples}
    size = SAMPLE * len(profile.samples) + LOCATION * len(profile.locations) + \
        PROCESS * len(pids) + sum(STACK + 4 * len(stack) for stack in stacks)
    return size, f"{len(profile.samples)} distinct samples, {len(stacks)} stacks, " \
        f"{len(pids)} processes"


def private(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"^RssAnon:\s+(\d+) kB", file.read(), re.M).group(1)) * 1024


def record(build, folder, workload):
    """(bytes of growth, the profile)"""
    path = folder + "/p.pb.gz"
    target = subprocess.Popen([build + "/workloads/" + workload, str(SECONDS + 20)])
    process = subprocess.Popen(
        [build + "/keyhole", "record", "-F", str(RATE), "-p", str(target.pid), "--force",
         "-o", path], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        time.sleep(SETTLE)
        worker = next(pid for pid, role in inventory.processes(process.pid).items()
                      if role == "keyhole-worker")
        before = private(worker)
        time.sleep(SECONDS)
        after = private(worker)
        process.send_signal(signal.SIGINT)
        _, text = process.communicate()
    finally:
        target.kill()
        target.wait()
        process.kill()
    print("# " + text.strip().replace("\n", "\n# "))
    return after - before, pprof.Profile(path)


def main():
    if os.geteuid():
        print("not root", file=sys.stderr)
        return 77
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BUILD", "build"))
    tap = inventory.Tap()
    with tempfile.TemporaryDirectory(prefix="keyhole-growth.") as folder:
        for workload in ("spin", "paths", "forkserver"):
            grown, profile = record(build, folder, workload)
            taken = sum(sample["values"][0] for sample in profile.samples)
            size, text = of_profile(profile)
            print(f"# {workload}: {taken} samples; {text}: {grown} bytes more, "
                  f"{grown / taken:.0f} a sample, {grown / len(profile.samples):.0f} a distinct one")
            tap(grown <= size + FIXED,
                f"growth: {workload}: {grown / 1024:.0f} KiB, "
                f"at most {(size + FIXED) / 1024:.0f} KiB")
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main())
