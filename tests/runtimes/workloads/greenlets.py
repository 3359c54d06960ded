# SPDX-License-Identifier: Apache-2.0
"""greenlets.py REPORT: greenlets, which have stacks of their own in one thread. See report.py."""

import sys

import gevent
import greenlet

import report


def burn():
    report.note()
    total = 0
    for i in range(20000):
        total += i * i
    return total


def inner():
    return burn()


def yields():
    for _ in range(3):
        inner()
        gevent.sleep(0)


def yields_too():
    for _ in range(3):
        burn()
        gevent.sleep(0)


def child(parent):
    while True:
        burn()
        parent.switch()


def by_gevent():
    gevent.joinall([gevent.spawn(yields), gevent.spawn(yields_too)])


def by_greenlet():
    one = greenlet.greenlet(child)
    for _ in range(3):
        one.switch(greenlet.getcurrent())


def work(ready):
    by_gevent()
    by_greenlet()
    ready()
    while not report.stopped.is_set():
        by_gevent()
        by_greenlet()


report.run(work, sys.argv[1], files=["greenlets.py"])
