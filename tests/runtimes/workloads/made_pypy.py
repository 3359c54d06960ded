# SPDX-License-Identifier: Apache-2.0
"""made_pypy.py REPORT: works in leaf() nearly all the time, in code that the compiler makes. REPORT: see made.py.

PyPy writes no map. A program may write one itself: PyPy tells it of the code of each loop and bridge.
"""

import json
import os
import platform
import sys
import time

import pypyjit

perf_map = open("/tmp/perf-%d.map" % os.getpid(), "w")


def compiled(info):
    place = info.greenkey or [None]
    name = getattr(place[0], "co_name", "?")
    perf_map.write("%x %x py::%s:%s\n" % (info.asmaddr, info.asmlen, name, getattr(place[0], "co_filename", "?")))
    perf_map.flush()


def leaf(n):
    total = 0
    for i in range(n):
        total = (total * 31 + i) & 0xffffff
    return total


def middle(n):
    total = 0
    for i in range(50):
        total ^= leaf(n + i)
    return total


def outer(seconds):
    finish = time.monotonic() + seconds
    while time.monotonic() < finish:
        middle(2000)


pypyjit.set_compile_hook(compiled)
report = sys.argv[1]
outer(0.5)
with open(report, "w") as file:
    json.dump({"version": "PyPy %d.%d" % sys.pypy_version_info[:2], "leaf": "py::(leaf|middle)", "callers": []}, file)
open(report + ".ready", "w").close()
outer(60)
