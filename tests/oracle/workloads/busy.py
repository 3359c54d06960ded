# SPDX-License-Identifier: Apache-2.0
"""busy.py SECONDS: an interpreter that calls much C: json, re, sorting, compression, hashes."""

import hashlib
import json
import random
import re
import sys
import time
import zlib

FIELD = re.compile(r'"(\w+)":\s*("[^"]*"|\[[^\]]*\]|[0-9.]+)')


def depth(text, left):
    return depth(text, left - 1) + 1 if left else len(text)


def turn(data, text):
    json.loads(text)
    json.dumps(data, indent=1)
    FIELD.findall(text)
    FIELD.sub(lambda match: match.group(1), text)
    sorted(data, key=lambda item: item["name"][::-1])
    depth(text, 60)
    zlib.compress(text.encode())
    hashlib.sha256(text.encode()).digest()
    "".join(random.choice("abc") for _ in range(200))
    return repr(data), [x**3 % 7 for x in range(2000)]


def main():
    seconds = float(sys.argv[1])
    end = time.monotonic() + seconds
    random.seed(1)
    data = [
        {"id": i, "name": f"n{i}", "tags": [str(j) for j in range(i % 7)], "x": i / 3}
        for i in range(300)
    ]
    text = json.dumps(data)
    while time.monotonic() < end or time.process_time() < seconds / 2:
        turn(data, text)


main()
