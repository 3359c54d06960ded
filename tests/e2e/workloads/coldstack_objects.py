#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coldstack_objects.py OBJECT FOLDER COUNT: copies that differ in build id and unwind table."""

import os
import sys

BUILD_ID = bytes.fromhex("00112233445566778899aabbccddeeff00112233")  # workloads.mk
OWN = 0x155558  # coldstack_object.S


def cfa_offset(offset):
    """DW_CFA_def_cfa_offset with an operand of three bytes."""
    return bytes([0x0e, offset & 127 | 128, offset >> 7 & 127 | 128, offset >> 14])


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    assert BUILD_ID in data and cfa_offset(OWN) in data
    os.makedirs(sys.argv[2], exist_ok=True)
    for number in range(int(sys.argv[3])):
        with open("%s/%d.so" % (sys.argv[2], number), "wb") as file:
            file.write(data.replace(BUILD_ID, number.to_bytes(len(BUILD_ID), "big"))
                       .replace(cfa_offset(OWN), cfa_offset(OWN + 8 * (number + 1))))


main()
