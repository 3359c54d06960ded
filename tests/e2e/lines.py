#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lines.py PROFILE FILE: the addresses of FILE in a pprof profile, as addr2line -a -f -i has them.

lines.py count PROFILE FILE: how many of them have a line, and how many functions are inlined.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pprof  # noqa: E402


def main(arguments):
    counts = arguments[0] == "count"
    name, path = arguments[counts:]
    profile = pprof.Profile(name)
    found = sorted((one for one in profile.locations.values()
                    if profile.mappings.get(one["mapping"], {}).get("file") == path),
                   key=lambda one: one["address"])
    if counts:
        print(sum(one["lines"][0] > 0 for one in found),
              sum(len(one["lines"]) - 1 for one in found))
        return 0
    for location in found:
        print(f"0x{location['address']:x}")
        for number, line in zip(location["functions"], location["lines"]):
            function = profile.functions[number]
            print(f"{function['system_name']}\n{function['file'] or '??'}:{line}")
    return not found


sys.exit(main(sys.argv[1:]))
