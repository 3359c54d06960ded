#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compiled.py: what keyhole costs more where a Java compiles 10,000 functions a minute.

Runs workloads/Compiled.java twice, with and without new functions, and records it at 99 Hz. The costs are the CPU time
of all processes of keyhole, and that of its programs in the kernel. One TAP stream. Needs root.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench"))
import bench  # noqa: E402

KEYHOLE = os.path.join(os.environ.get("BUILD", "build"), "keyhole")
METHODS, ENOUGH = 10000, 0.9
SETTLE, SECONDS, START_S = 3, 10, 60
LIMIT = 0.3  # percent of a core
STATS = "/proc/sys/kernel/bpf_stats_enabled"


def programs(processes):
    """The numbers of the programs in the kernel that the processes hold."""
    found = set()
    for pid in processes:
        folder = "/proc/%d/fdinfo" % pid
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="ascii") as file:
                found.update(int(line.split()[1]) for line in file if line.startswith("prog_id:"))
    return found


def kernel_seconds(processes):
    held = programs(processes)
    return sum(entry.get("run_time_ns", 0) for number, entry in bench.bpftool("prog", "show").items()
               if number in held) / 1e9


def spent(processes):
    return sum(bench.cpu_seconds(pid) for pid in processes), kernel_seconds(processes)


def until_ready(process, path):
    end = time.monotonic() + START_S
    while not os.path.exists(path):
        if process.poll() is not None or time.monotonic() > end:
            sys.exit("the program did not start")
        time.sleep(0.05)


def made(path):
    with open(path, encoding="ascii") as file:
        return int(file.read() or 0)


def record(pid, report, folder):
    """Returns percents of a core, user's and kernel's, and functions a minute."""
    process = subprocess.Popen([KEYHOLE, "record", "--force", "-f", "pprof", "-o", os.path.join(folder, "profile.pb.gz"),
                                "-p", str(pid)], stderr=subprocess.DEVNULL)
    time.sleep(SETTLE)
    processes = bench.tree(process.pid)
    before, began, first = spent(processes), time.monotonic(), made(report)
    time.sleep(SECONDS)
    after, window, last = spent(processes), time.monotonic() - began, made(report)
    process.send_signal(signal.SIGINT)
    if process.wait():
        sys.exit("keyhole did not record")
    return *(100 * (late - early) / window for early, late in zip(before, after)), (last - first) * 60 / window


def measure(methods, folder):
    report = os.path.join(folder, "report%d" % methods)
    process = subprocess.Popen(["java", "-XX:TieredStopAtLevel=1", "-cp", folder, "Compiled", report, str(methods)])
    try:
        until_ready(process, report)
        user, kernel, rate = record(process.pid, report, folder)
    finally:
        process.kill()
        process.wait()
    print("# | %d functions a minute: %.3f %% of a core, %.3f %% of them in the kernel" % (rate, user + kernel, kernel))
    return user + kernel, rate


def main():
    if os.geteuid():
        print("1..0 # SKIP needs root: sudo make check-runtimes")
        sys.exit(77)
    if not shutil.which("javac") or not shutil.which("bpftool"):
        print("1..0 # SKIP javac or bpftool is not installed")
        return
    with open(STATS, encoding="ascii") as file:
        stats = file.read()
    with open(STATS, "w", encoding="ascii") as file:
        file.write("1")
    try:
        with tempfile.TemporaryDirectory(prefix="keyhole-compiled.") as folder:
            subprocess.run(["javac", "-g", "-d", folder, os.path.join(HERE, "workloads/Compiled.java")], check=True)
            without, _ = measure(0, folder)
            cost, rate = measure(METHODS, folder)
    finally:
        with open(STATS, "w", encoding="ascii") as file:
            file.write(stats)
    good = cost - without <= LIMIT and rate >= METHODS * ENOUGH
    print("%s 1 - %d functions a minute cost %.3f %% of a core more" % ("ok" if good else "not ok", METHODS, cost - without))
    print("1..1")
    sys.exit(not good)


main()
