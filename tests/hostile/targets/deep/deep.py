# SPDX-License-Identifier: Apache-2.0
"""Calls getppid() below 50 functions: tests/hostile/targets/scribble.c."""
import os


def deep_leaf():
    os.getppid()


def deep_step(depth):
    if depth:
        deep_step(depth - 1)
    else:
        deep_leaf()


deep_step(50)
