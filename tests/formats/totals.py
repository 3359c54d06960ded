#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""totals.py RENDER FOLDER: one profile in every format of the registry. The readers of each format
must be able to read it. All formats must agree on the number of samples and on each function's self
and total. Formats that know them must agree on processes, threads, inlined functions, files and
lines. Prints TAP."""

import collections
import os
import subprocess
import sys

import readers

PROFILES = ("small", "hostile", "inlined", "empty", "counted")
render, folder = sys.argv[1:3]
number = 0


def result(passed, name, why=""):
    global number
    number += 1
    print("%sok %d - %s" % ("" if passed else "not ", number, name))
    for line in str(why).splitlines() if not passed else []:
        print("# " + line)


def skip(name, reason):
    global number
    number += 1
    print("ok %d - %s # SKIP %s" % (number, name, reason))


def figures(samples):
    """Folded stacks have ':' where a name has ';'."""
    self_, total = collections.Counter(), collections.Counter()
    inlined, places = collections.Counter(), collections.Counter()
    for sample in samples:
        for frame in set((frame, frame.inlined) for frame in sample.frames):
            inlined[frame[0].replace(";", ":"), frame[1]] += sample.count
        for place in set((str(frame), frame.place) for frame in sample.frames):
            places[place] += sample.count
        frames = [frame.replace(";", ":") for frame in sample.frames]
        for frame in set(frames):
            total[frame] += sample.count
        if frames:
            self_[frames[-1]] += sample.count
    return {"samples": sum(sample.count for sample in samples), "self": self_, "total": total,
            "inlined": inlined, "place": places}


def by(samples, *keys):
    counts = collections.Counter()
    for sample in samples:
        counts[tuple(getattr(sample, key) for key in keys)] += sample.count
    return counts


def differences(ours, theirs):
    for key in sorted(set(ours) | set(theirs), key=str):
        if ours.get(key) != theirs.get(key):
            yield "%s: %s, expected %s" % (key, ours.get(key), theirs.get(key))


def compare(name, samples, expected):
    """expected: those of pprof, which has everything."""
    ours, theirs = figures(samples), figures(expected)
    why = []
    keys = ["self", "total"]
    frames = [frame for sample in samples for frame in sample.frames][:1]
    keys += [key for key in ("inlined", "place") for frame in frames
             if getattr(frame, key) is not None]
    for key in keys:
        why += ["%s of %s" % (key, line) for line in differences(ours[key], theirs[key])]
    if ours["samples"] != theirs["samples"]:
        why.append("%d samples, expected %d" % (ours["samples"], theirs["samples"]))
    if samples and samples[0].pid is not None:
        why += list(differences(by(samples, "process", "pid", "tid"),
                                by(expected, "process", "pid", "tid")))
    result(not why, name + ": agrees", "\n".join(why[:20]))


def main():
    listing = subprocess.run([render], check=True, capture_output=True, text=True).stdout
    formats = [line.split()[0] for line in listing.splitlines()]
    for profile in PROFILES:
        paths = {}
        readers.set_event("instructions" if profile == "counted" else None)
        for name in formats:
            paths[name] = os.path.join(folder, "%s.%s" % (profile, name))
            with open(paths[name], "wb") as file:
                done = subprocess.run([render, name, profile], stdout=file,
                                      stderr=subprocess.PIPE, check=False)
            if done.returncode:
                result(False, "%s of %s: is written" % (name, profile), done.stderr.decode())
        expected = readers.pprof(paths["pprof"])
        for name in formats:
            title = "%s of %s" % (name, profile)
            if name not in readers.READERS:
                skip(title, "tests/formats/readers.py does not read it")
                continue
            try:
                samples = readers.READERS[name](paths[name])
            except readers.Hidden as error:
                total = sum(sample.count for sample in expected)
                result(error.total == total, "%s: has its total, but %s" % (title, error),
                       "%d samples, expected %d" % (error.total, total))
                continue
            except (readers.Wrong, readers.otlp_check.Broken, ValueError, KeyError, IndexError, TypeError) as error:
                result(False, title + ": is well-formed", "%s: %s" % (type(error).__name__, error))
                continue
            result(True, title + ": is well-formed")
            compare(title, samples, expected)
        same = (readers.otlp_message(paths["otlp"]) == readers.otlp_json_message(paths["otlp-json"]))
        result(same, "otlp-json of %s: is the same message as otlp" % profile)
    print("1..%d" % number)


main()
