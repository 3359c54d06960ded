#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""autofs.py MOUNTPOINT PROGRAM SECONDS: runs a program, in this mount namespace, beside an automount
point whose daemon (this process) never answers."""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
mountpoint, program, seconds = sys.argv[1:]
_, requests = os.pipe()
os.set_inheritable(requests, True)
options = "fd=%d,pgrp=%d,minproto=5,maxproto=5,indirect" % (requests, os.getpgrp())
if libc.mount(b"hostile", os.fsencode(mountpoint), b"autofs", 0, options.encode()):
    print("autofs: " + os.strerror(ctypes.get_errno()), flush=True)
    sys.exit(77)
print("running", flush=True)
os.execv(program, [program, seconds])
