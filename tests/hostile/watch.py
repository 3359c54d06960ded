#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watch.py PID LOG SECONDS CONTROL: watches keyhole (PID) and its children. Begins at the line in LOG
that says that sampling began, and ends a second early.

Prints for each thread the CPU time from one sleep to the next, and how long the thread was blocked
(state D, or by FUSE). Prints by how much the worker's memory grew, after the first fifth of the time. The last line is the CPU time, in ms, of another process (CONTROL). Exits with
1 when a thread of keyhole stalls.
"""

import os
import sys
import time

STALL = 0.1		# seconds, loader and worker
STUCK = 2.0		# the broker
PARSER = 1		# the worker's second thread may compute as long as it likes


def stat(path):
    """state, parent; None when it is gone"""
    try:
        with open(path + "/stat", "rb") as file:
            fields = file.read().rsplit(b")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return fields[0].decode(), int(fields[1])


def schedstat(path):
    """CPU time in seconds"""
    try:
        with open(path + "/schedstat") as file:
            return int(file.read().split()[0]) / 1e9
    except (OSError, ValueError):
        return 0.0


def comm(pid):
    try:
        with open("/proc/%d/comm" % pid) as file:
            return file.read().strip()
    except OSError:
        return ""


def family(root):
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = stat("/proc/" + name)
            if found:
                parents[int(name)] = found[1]
    members, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in members} - members
        members |= more
        grown = bool(more)
    return members


def threads(root):
    """[(program, number of the thread, path)] of the parts of keyhole"""
    result = []
    for pid in family(root):
        program = "loader" if pid == root else comm(pid)
        if program != "loader" and not program.startswith("keyhole-"):
            continue
        try:
            numbers = sorted(os.listdir("/proc/%d/task" % pid), key=int)
        except OSError:
            continue
        result += [(program, i, "/proc/%d/task/%s" % (pid, number))
                   for i, number in enumerate(numbers)]
    return result


def wait_for_start(log):
    for _ in range(2000):
        try:
            with open(log, "rb") as file:
                if b"enabled" in file.read():
                    return True
        except OSError:
            pass
        time.sleep(0.01)
    return False


def status(path):
    """state, how often it went to sleep by itself"""
    try:
        with open(path + "/status") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
        return lines["State"].strip()[0], int(lines["voluntary_ctxt_switches"])
    except (OSError, KeyError, ValueError):
        return "X", 0


def waits_for_fuse(path):
    """A FUSE request is waited for in state S at first, in D from the first signal on."""
    try:
        with open(path + "/wchan") as file:
            return "request_wait_answer" in file.read()
    except OSError:
        return False


class Thread:
    """CPU time from one sleep to the next, and time in D; the longest of each. Waiting for a CPU is
    neither."""

    def __init__(self, path, now):
        self.path = path
        self.longest = [0.0, 0.0]
        self.blocked = now	# since when
        self.slept = self.used = 0

    def look(self):
        state, slept = status(self.path)
        used, now = schedstat(self.path), time.monotonic()
        stuck = state == "D" or (state == "S" and waits_for_fuse(self.path))
        if (state in "SIZX" and not stuck) or (slept != self.slept):
            self.slept, self.used, self.blocked = slept, used, now
            return
        self.longest[0] = max(self.longest[0], used - self.used)
        if stuck:
            self.longest[1] = max(self.longest[1], now - self.blocked)
        else:
            self.blocked = now


def resident(path):
    """MB of a thread's process"""
    try:
        with open(path + "/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


def watch(parts, seconds):
    now = time.monotonic()
    end, settled = now + seconds, now + seconds / 5
    threads_seen = {part: Thread(part[2], now) for part in parts}
    worker = [path for program, _, path in parts if program == "keyhole-worker"][:1]
    least, most = None, 0.0
    while time.monotonic() < end:
        for thread in threads_seen.values():
            thread.look()
        if worker and time.monotonic() >= settled:
            size = resident(worker[0])
            least, most = least or size, max(most, size)
        time.sleep(0.003)
    if worker:
        print("  keyhole-worker: %.0f MB, grew by %.0f MB" % (most, most - (least or 0)))
    return {part: thread.longest for part, thread in threads_seen.items()}


def main():
    root, log, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    if not wait_for_start(log):
        print("  sampling did not begin")
        return 1
    parts = threads(root)
    failed = 0
    control = "/proc/" + sys.argv[4]
    before = schedstat(control)
    for part, (busy, stuck) in sorted(watch(parts, max(seconds - 1, 1)).items()):
        program, number, _ = part
        slow = program in ("loader", "keyhole-worker") and number != PARSER
        bad = (slow and busy > STALL) or stuck > (STALL if slow else STUCK)
        failed |= bad
        print("  %-16s thread %d: busy %.0f ms at most, blocked %.0f ms%s" % (
            program, number, busy * 1e3, stuck * 1e3, "  <- stalls" if bad else ""))
    if not any(part[0] == "keyhole-worker" for part in parts):
        print("  no worker")
        failed = 1
    print("%.0f" % ((schedstat(control) - before) * 1e3))
    return int(failed)


sys.exit(main())
