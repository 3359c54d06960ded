# SPDX-License-Identifier: Apache-2.0
"""below.py REPORT: C code below functions, and functions below C code, until SIGTERM. See report.py."""

import ctypes
import sys
import zlib

import report

try:
    import numpy
except ImportError:
    numpy = None

LIBC = ctypes.CDLL("libc.so.6")
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
DATA = bytes(range(256)) * 2000
# The last function, and what is in its stack in this order: names of functions or of files.
ORDERS = [["compared", ["by_qsort", "libffi", "libc.so", "libffi", "compared"]],
          ["by_zlib", ["by_zlib", "libz"]]]


def burn():
    report.note()
    total = 0
    for i in range(50):
        total += i
    return total


def compared(left, right):
    report.note()
    total = 0
    for i in range(50):
        total += i
    return left[0] - right[0]


CALLED_BACK = COMPARE(compared)


def by_qsort():
    values = (ctypes.c_int * 200)(*[i * 7919 % 200 for i in range(200)])
    LIBC.qsort(values, 200, 4, CALLED_BACK)


def by_zlib():
    return zlib.compress(DATA, 9)


WORK = [by_qsort, by_zlib]
if numpy:
    MATRIX = numpy.random.rand(300, 300)

    def by_product():
        return MATRIX @ MATRIX

    def by_function():
        return numpy.apply_along_axis(lambda row: burn() and row, 1, MATRIX)

    WORK += [by_product, by_function]
    ORDERS.append(["by_product", ["by_product", "_multiarray_umath", "libscipy_openblas"]])


def work(ready):
    for one in WORK:
        one()
    ready()
    while not report.stopped.is_set():
        for one in WORK:
            one()


report.run(work, sys.argv[1], files=["below.py"], orders=ORDERS)
