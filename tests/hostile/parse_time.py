#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parse_time.py PID: follows the worker of a recording (keyhole's PID) to its end. Prints the CPU time
in ms of its second thread, which parses, that of all its threads, and the nice value of the second."""

import os
import sys
import time


def read(path):
    with open(path, "rb") as file:
        return file.read()


def worker_of(pid):
    """the first keyhole-worker that descends from a process"""
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for child in map(int, read("/proc/%d/task/%d/children" % (parent, parent)).split()):
            if read("/proc/%d/comm" % child).strip() == b"keyhole-worker":
                return child
            waiting.append(child)
    return 0


def look(worker):
    """CPU times of the threads in ms, nice of the second"""
    folder = "/proc/%d/task" % worker
    threads = sorted(map(int, os.listdir(folder)))
    times = [int(read("%s/%d/schedstat" % (folder, thread)).split()[0]) // 1000000
             for thread in threads]
    nice = read("%s/%d/stat" % (folder, threads[1])).rsplit(b")", 1)[1].split()[16]
    return times, int(nice)


def main():
    pid, seen = int(sys.argv[1]), None
    while os.path.exists("/proc/%d" % pid):
        try:
            seen = look(worker_of(pid))
        except (OSError, IndexError):
            pass
        time.sleep(0.02)
    times, nice = seen
    print(times[1], sum(times), nice)


main()
