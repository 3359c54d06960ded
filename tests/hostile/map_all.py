#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""map_all.py SECONDS LIST: maps all files of LIST executable, says so, and computes for so long."""

import mmap
import sys
import time

end = time.monotonic() + float(sys.argv[1])
maps = []
with open(sys.argv[2]) as names:
    for name in names:
        with open(name.rstrip("\n"), "rb") as file:
            maps.append(mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
print("mapped", flush=True)
while time.monotonic() < end:
    sum(range(10000))
