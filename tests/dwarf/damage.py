#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""damage.py FROM TO SEED: a copy with some bytes of its debug sections changed, or with it cut."""
import random
import struct
import sys

SECTION = struct.Struct("<IIQQQQIIQQ")


def sections(data):
    offset, = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3c)
    rows = [SECTION.unpack_from(data, offset + i * SECTION.size) for i in range(count)]
    for row in rows:
        start = rows[names][4] + row[0]
        yield data[start:data.index(b"\0", start)].decode(), row[4], row[5]


def main():
    data = bytearray(open(sys.argv[1], "rb").read())
    rng = random.Random(int(sys.argv[3]))
    found = [(at, size) for name, at, size in sections(data)
             if name.startswith(".debug_") and size]
    for _ in range(rng.choice((1, 10, 100, 10000))):
        at, size = rng.choice(found)
        data[at + rng.randrange(size)] = rng.choice((0, 0x7f, 0x80, 0xff, rng.randrange(256)))
    if rng.random() < 0.1:
        at, size = rng.choice(found)
        data = data[:at + rng.randrange(size)]
    open(sys.argv[2], "wb").write(data)
    return 0


sys.exit(main())
