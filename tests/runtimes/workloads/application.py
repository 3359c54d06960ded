# SPDX-License-Identifier: Apache-2.0
"""A WSGI application, of a server that loads an interpreter. Its report is at the side: application.json."""

import os
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import report  # noqa: E402

NOTED = 20  # requests that are noted
notes = report.Report(files=["application.py"], shown=80)
left = [NOTED]


def burn():
    total = 0
    for i in range(20000):
        total += i * i
    if left[0] > 0:
        notes.note()
    return total


class Größe:
    def method(self):
        return burn()


def compress():
    if left[0] > 0:
        notes.note()
    return zlib.compress(bytes(range(256)) * 500, 9)


def answer():
    return b"%d %d\n" % (Größe().method(), len(compress()))


def application(environ, start_response):
    body = answer()
    left[0] -= 1
    if left[0] == 0:
        notes.write(os.path.join(HERE, "application.json"))
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
