#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reads.py: how much memory of a Java and of a Node.js with 1 GB of heap is read when keyhole attaches.

A keyhole built with OBSERVER=tests/bench/reads.bpf.h (make reads-build) counts all bytes that BPF reads, those of
stacks included. No process of keyhole reads the memory of another one. Attaching lasts until nothing is told of: here
SECONDS at 99 Hz. One TAP stream. Needs root.
"""

import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench"))
import bpf  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
KEYHOLE = os.path.join(BUILD, "reads", "keyhole")
SECONDS, LIMIT, SAMPLES = 3, 4 << 20, 20
START_S = 60
HEAP = 1 << 30
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "keyhole", "runtimes")
FILL = "global.kept = []; while (require('worker_threads').isMainThread && process.memoryUsage().heapUsed < 2 ** 30)" \
    " for (let i = 0; i < 1000; i++) kept.push(new Array(200).fill({ i }));"


def java(folder):
    """Returns the command of a Java with 1 GB of heap, or None."""
    if not shutil.which("javac") or not shutil.which("java"):
        return None
    subprocess.run(["javac", "-nowarn", "--release", "8", "-g", "-d", folder, os.path.join(HERE, "workloads/Calls.java")],
                   check=True, stderr=subprocess.DEVNULL)
    return ["java", "-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch", "-cp", folder, "Calls"]


def node(folder):
    """Returns the command of a Node.js with 1 GB of heap, or None."""
    program = os.path.join(CACHE, "node-22.23.3", "bin", "node")
    if not os.path.exists(program):
        program = shutil.which("node")
    if not program:
        return None
    fill = os.path.join(folder, "fill.js")
    with open(fill, "w", encoding="ascii") as file:
        file.write(FILL)
    return [program, "--max-old-space-size=2000", "-r", fill, os.path.join(HERE, "workloads/calls.js")]


def resident(pid):
    with open("/proc/%d/statm" % pid, encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def until_ready(process, report):
    end = time.monotonic() + START_S
    while not os.path.exists(report + ".ready"):
        if process.poll() is not None or time.monotonic() > end:
            sys.exit("the program did not start")
        time.sleep(0.1)


def counted(fd):
    """Returns the bytes that were read, and the samples."""
    value, key = (ctypes.c_uint64 * 2)(), ctypes.c_uint32(0)
    bpf.bpf(bpf.MAP_LOOKUP,
                 (ctypes.c_uint64 * 4)(fd, ctypes.addressof(key), ctypes.addressof(value), 0))
    return value[0], value[1]


def attach(pid, folder):
    """Records for a while. Returns the same."""
    known, fd = bpf.map_ids(), None
    process = subprocess.Popen([KEYHOLE, "record", "-d", str(SECONDS), "-p", str(pid), "-o",
                                os.path.join(folder, "profile.folded")], stderr=subprocess.DEVNULL)
    while fd is None and process.poll() is None:
        fd = bpf.find_map(".data.reads", known)
        time.sleep(0.02)
    if process.wait() or fd is None:
        sys.exit("keyhole did not record")
    return counted(fd)


def measure(name, make):
    """Returns the rest of the line of a row."""
    with tempfile.TemporaryDirectory(prefix="keyhole-reads.") as folder:
        command = make(folder)
        if not command:
            return "ok", " # SKIP it is not installed"
        report = os.path.join(folder, "report.json")
        process = subprocess.Popen([*command, report], stdout=subprocess.DEVNULL)
        try:
            until_ready(process, report)
            size = resident(process.pid)
            read, samples = attach(process.pid, folder)
        finally:
            process.kill()
            process.wait()
    print("# | %s: %.2f MB resident, %.2f MB read in %d samples" % (name, size / 2**20, read / 2**20, samples))
    good = size >= HEAP and samples >= SAMPLES and read <= LIMIT
    return "ok" if good else "not ok", ""


def main():
    if os.geteuid():
        print("1..0 # SKIP needs root: sudo make check-runtimes")
        sys.exit(77)
    failed = False
    for number, (name, make) in enumerate((("Java", java), ("Node.js", node)), 1):
        result, reason = measure(name, make)
        print("%s %d - at most 4 MB of a %s with 1 GB of heap are read%s" % (result, number, name, reason))
        failed |= result != "ok"
    print("1..2")
    sys.exit(failed)


main()
