#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py BUILD: a recording of the whole machine for SOAK_SECONDS (600), beside a busy mixture.

At the start, in the middle and at the end, the descriptors that each process holds are compared with
the golden table of tests/escape/inventory.py. Memory is compared with the table below. Prints TAP. Root.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for part in (".", "../escape", "../e2e"):
    sys.path.insert(0, os.path.join(HERE, part))
import inventory  # noqa: E402
import pprof  # noqa: E402
from growth import of_profile as of_distinct  # noqa: E402

SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))
MIB = 1024

RATE = 99
# The worker keeps the profile for good: one entry for each distinct sample (process, thread, stack) and
# one for each distinct stack. Another sample of the same takes nothing. growth.py shows both: a sample
# with a stack of 26 frames of its own takes 250 bytes. Beside processes that all are new, hardly two
# samples are the same; each took 190 bytes. A CPU has at most RATE samples a second, and the final
# profile says how many were distinct. RLIMIT_DATA (policy/roles.h) ends the growth at 2 GiB; samples
# without room are counted.
BYTES_OF_SAMPLE = 256

# The largest VmRSS, in MiB, without the profile. The worker's includes rings and tables, which it shares.
LIMITS = {
    "keyhole-worker": 96,
    "keyhole-broker": 8,
    "keyhole-exporter": 8,
    "keyhole-debug": 8,
    "loader": 48,
    "committer": 48,
    "spawner": 48,
}
# Growth of private memory from the middle to the end, in MiB, without the profile.
GROWTH = {"keyhole-worker": 16}
GROWTH_OF_OTHERS = 1


def of_profile(role, seconds):
    """MiB that so many seconds of samples may take"""
    samples = RATE * inventory.CPUS * seconds if role == "keyhole-worker" else 0
    return samples * BYTES_OF_SAMPLE / MIB / 1024


def memory(pid):
    """(VmRSS, RssAnon) in MiB"""
    with open(f"/proc/{pid}/status") as file:
        kib = dict(re.findall(r"^(VmRSS|RssAnon):\s+(\d+) kB", file.read(), re.M))
    return int(kib.get("VmRSS", 0)) / MIB, int(kib.get("RssAnon", 0)) / MIB


def measure(tap, loader, when, seconds):
    """{pid: (role, VmRSS, RssAnon)}"""
    inventory.look(tap, loader, when, False)
    found = {}
    for pid, role in inventory.processes(loader).items():
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
        found[pid] = (role, *memory(pid))
        print("# %-8s %-16s %4d descriptors, %6.1f MiB resident, %6.1f MiB private" % (
            when.split()[-1], role, descriptors, *found[pid][1:]), flush=True)
    large = []
    for role, rss, _ in found.values():
        limit = LIMITS.get(role, 0) + of_profile(role, seconds)
        if rss > limit:
            large.append(f"{role}: {rss:.1f} MiB, limit {limit:.1f}")
    for text in large:
        print("# " + text)
    tap(not large, f"soak: memory is within the table, {when}")
    return found


def growth(tap, middle, end, profile):
    tap(middle.keys() == end.keys(), "soak: the same processes from the middle to the end")
    grown = []
    distinct, text = of_distinct(profile)
    print(f"# the profile: {text}, at most {distinct / MIB / 1024:.1f} MiB")
    for pid in middle.keys() & end.keys():
        role, more = end[pid][0], end[pid][2] - middle[pid][2]
        limit = GROWTH.get(role, GROWTH_OF_OTHERS) + \
            min(of_profile(role, SECONDS / 2), distinct / MIB / 1024)
        if more > limit:
            grown.append(f"{role}: {more:.1f} MiB more, limit {limit:.1f}")
    for text in grown:
        print("# " + text)
    tap(not grown, "soak: private memory grows by the profile alone from the middle to the end")


def wait_for(text, path, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with open(path) as file:
            if text in file.read():
                return True
        time.sleep(0.05)
    return False


def sleep_until(when, process):
    while time.monotonic() < when and process.poll() is None:
        time.sleep(0.2)


def soak(tap, build, folder):
    log = folder + "/log"
    with open(log, "w") as file:
        process = subprocess.Popen(
            [build + "/keyhole", "record", "-v", "-a", "-F", str(RATE), "-d", str(SECONDS + 600),
             "-o", folder + "/p.pb.gz"], stderr=file, stdin=subprocess.DEVNULL)
    begun = time.monotonic()
    tap(wait_for("enabled", log, 20), "soak: sampling begins")
    time.sleep(1)
    measure(tap, process.pid, "at the start", 0)
    sleep_until(begun + SECONDS / 2, process)
    middle = measure(tap, process.pid, "in the middle", SECONDS / 2)
    sleep_until(begun + SECONDS, process)
    end = measure(tap, process.pid, f"after {SECONDS:.0f} s, at the end", SECONDS)
    process.send_signal(signal.SIGINT)
    status = process.wait()
    tap(status == 0, f"soak: the recording ends well after {SECONDS:.0f} s")
    if status == 0:
        growth(tap, middle, end, pprof.Profile(folder + "/p.pb.gz"))
    with open(log) as file:
        lines = file.read().splitlines()
    for line in lines:
        if re.match(r"samples: |  (cut|lost|note) |.*tables: ", line):
            print("# " + line)
    if status:
        print("# " + "\n# ".join(lines[-5:]))


def main():
    if os.geteuid():
        print("not root", file=sys.stderr)
        return 77
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BUILD", "build"))
    tap = inventory.Tap()
    with tempfile.TemporaryDirectory(prefix="keyhole-soak.") as folder:
        mixture = subprocess.Popen([HERE + "/mixture.sh", build + "/workloads", folder],
                                   start_new_session=True, stdout=subprocess.DEVNULL)
        try:
            soak(tap, build, folder)
            tap(mixture.poll() is None, "soak: the mixture went on to the end")
        finally:
            os.killpg(mixture.pid, signal.SIGTERM)
            mixture.wait()
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main())
