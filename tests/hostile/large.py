#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""large.py FILE FRAMES                 makes an ELF file of so many FDEs, each of 40 rows, all valid
large.py SECONDS FILE FOLDER UID...  each user, at nice 19, maps fresh copies of FILE as code in a loop;
                                     prints how many there were"""

import mmap
import os
import shutil
import struct
import sys
import time

ROWS = 40
EHDR_BYTES, PHDR_BYTES, SHDR_BYTES = 64, 56, 64
PERIOD = 0.25		# seconds between two copies of a user


def frames(count):
    """.eh_frame: absolute addresses of 4 bytes; each FDE has a row for each byte of its range"""
    cie = struct.pack("<IIB", 0, 0, 1) + b"zR\0" + bytes((1, 0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1))
    cie += b"\0" * (-len(cie) % 4)
    cie = struct.pack("<I", len(cie) - 4) + cie[4:]
    # DW_CFA_advance_loc 1, DW_CFA_def_cfa_offset
    rows = b"".join(bytes((0x41, 0x0e, 8 + 8 * (i % 9))) for i in range(ROWS - 1))
    body = b"\0" + rows
    body += b"\0" * (-len(body) % 4)
    size = 16 + len(body)
    fdes = bytearray((struct.pack("<IIII", size - 4, 0, 0, ROWS) + body) * count)
    for i in range(count):
        at = i * size
        struct.pack_into("<II", fdes, at + 4, len(cie) + at + 4, EHDR_BYTES + i * ROWS)
    return cie + bytes(fdes) + b"\0\0\0\0"


def make(path, count):
    """One executable segment is the whole file; what its code would be matters to nobody."""
    table = frames(count)
    names = b"\0.eh_frame\0.shstrtab\0"
    at = EHDR_BYTES + PHDR_BYTES + 8
    shoff = at + len(table) + len(names)
    shoff += -shoff % 8
    size = shoff + 3 * SHDR_BYTES
    with open(path, "wb") as file:
        file.write(struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 3, 62, 1, 0, EHDR_BYTES,
                               shoff, 0, EHDR_BYTES, PHDR_BYTES, 1, SHDR_BYTES, 3, 2))
        file.write(struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096))
        file.write(b"\0" * 8 + table + names)
        file.write(b"\0" * (shoff - at - len(table) - len(names) + SHDR_BYTES))
        file.write(struct.pack("<IIQQQQIIQQ", 1, 1, 2, at, at, len(table), 0, 0, 8, 0))
        file.write(struct.pack("<IIQQQQIIQQ", 11, 3, 0, 0, at + len(table), len(names), 0, 0, 1, 0))


def be_user(uid):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    os.nice(19)


def use(path, seconds):
    """Maps a file as code, and computes for so long, so that the process is sampled."""
    end = time.monotonic() + seconds
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
    os.unlink(path)
    while time.monotonic() < end:
        sum(range(10000))
    mapped.close()


def flood(uid, template, folder, end):
    be_user(uid)
    count = 0
    while time.monotonic() < end:
        path = "%s/%d.%d" % (folder, uid, count)
        shutil.copyfile(template, path)
        count += 1
        if os.fork() == 0:
            use(path, 2 * PERIOD)
            os._exit(0)
        time.sleep(PERIOD)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
    print("%d mapped by uid %d" % (count, uid), flush=True)


def main():
    if len(sys.argv) == 3:
        make(sys.argv[1], int(sys.argv[2]))
        return
    template, folder = sys.argv[2:4]
    end = time.monotonic() + float(sys.argv[1])
    for uid in map(int, sys.argv[4:]):
        if os.fork() == 0:
            flood(uid, template, folder, end)
            os._exit(0)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


main()
