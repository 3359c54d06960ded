# SPDX-License-Identifier: Apache-2.0
"""host.py LIBRARY MILLISECONDS: has a library of Go work, which calls a function of Python."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
BACK = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)


def spin_in_python(n):
    total = 0
    for i in range(n // 100):
        total += i
    return total & 0xffffff


def called_back(n):
    return (spin_in_python(n) + library.shared_spin(n)) & 0xffffffff


library.shared_work(int(sys.argv[2]), BACK(called_back))
