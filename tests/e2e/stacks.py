#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks into what `keyhole record` wrote (.folded or .pb.gz).

stacks.py summary FILE                  samples, completeness and reasons of each process
stacks.py check FILE PROCESS ...        holds one process (a regular expression) against what a
                                        test knows of it; says what differs and exits 1, or
                                        75 where there are but too few samples
stacks.py pprof FILE                    every field that readers of pprof use is there and right
stacks.py top FILE [NUMBER]             the hottest functions
stacks.py total FILE                    the number of samples

A sample is complete when no frame of it is a marker "[cut: reason]" or "[guessed]" (pprof: no
label "cut" or "reason" that names one). Samples taken before a process was known are reported apart: their share
is readiness, not completeness.
"""

import argparse
import collections
import re
import sys

import pprof

STARVED = 75  # EX_TEMPFAIL
CUT = re.compile(r"^\[cut: (.*)\]$")
GUESSED = "[guessed]"
NOT_READY = re.compile(r"not[ _]ready|not known|exec|replacing")
SLOW = re.compile("budget|functions")  # the time of a walk was used up

Sample = collections.namedtuple("Sample", "process frames count reason")


def split(frames):
    """Returns why the stack is not complete, and its frames without the markers."""
    reasons = [CUT.match(frame).group(1) for frame in frames if CUT.match(frame)]
    if GUESSED in frames:
        reasons.append("guessed")
    return reasons, [frame for frame in frames if not CUT.match(frame) and frame != GUESSED]


def from_folded(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            process, *frames = stack.split(";")
            reasons, frames = split(frames)
            yield Sample(process, frames, int(count), reasons[0] if reasons else None)


def from_pprof(path):
    profile = pprof.Profile(path)
    for sample in profile.samples:
        labels = sample["labels"]
        frames = [profile.frame(number) for number in reversed(sample["locations"])]
        reasons, frames = split(frames)
        reason = reasons[0] if reasons else labels.get("cut") or labels.get("reason")
        if reason and not reasons and not reason.startswith(("cut", "guess")):
            reason = None
        yield Sample(str(labels.get("comm", "?")), frames, sample["values"][0], reason)


def read(path):
    return list(from_pprof(path) if path.endswith((".pb.gz", ".pb")) else from_folded(path))


def percent(part, whole):
    return 100.0 * part / whole if whole else 0.0


def figures(samples):
    """samples, samples past readiness, complete ones, {reason: samples}"""
    reasons = collections.Counter()
    taken = complete = 0
    for sample in samples:
        taken += sample.count
        if sample.reason is None:
            complete += sample.count
        else:
            reasons[sample.reason] += sample.count
    waiting = sum(n for reason, n in reasons.items() if NOT_READY.search(reason))
    return taken, taken - waiting, complete, reasons


def summary(args):
    processes = collections.defaultdict(list)
    for sample in read(args.file):
        processes[sample.process].append(sample)
    rows = [(name, *figures(samples)) for name, samples in processes.items()]
    print("%-24s %8s %8s %10s  %s" % ("process", "samples", "ready", "complete", "cut"))
    for name, taken, ready, complete, reasons in sorted(rows, key=lambda row: -row[1]):
        cut = ", ".join("%s %d" % pair for pair in reasons.most_common())
        print("%-24s %8d %8d %9.2f%%  %s" % (name, taken, ready, percent(complete, ready), cut))
    return 0


def examples(samples, number=3):
    lines = collections.Counter()
    for sample in samples:
        cut = "[cut: %s];" % sample.reason if sample.reason else ""
        lines[cut + ";".join(sample.frames)] += sample.count
    return ["    %s %d" % (line[:1500], count) for line, count in lines.most_common(number)]


class Few(str):
    """A failure that a busy machine can bring about."""


def check_chains(args, samples, taken):
    """Checks that so many of the complete samples with LEAF have the expected chain."""
    for leaf, chain in args.chain:
        there = [s for s in samples if s.reason is None and
                 any(re.fullmatch(leaf, frame) for frame in s.frames)]
        wrong = [s for s in there if not re.search(chain, ";".join(s.frames) + ";")]
        total = sum(s.count for s in there)
        right = total - sum(s.count for s in wrong)
        print("  %s: %d samples, %.2f %% with the expected callers" %
              (leaf, total, percent(right, total)))
        if total < args.leaf_samples:
            yield Few("%s: %d samples, at least %d expected" % (leaf, total, args.leaf_samples))
        elif percent(right, total) < args.share:
            text = "\n".join(["%s: other callers than %s:" % (leaf, chain)] + examples(wrong))
            # of few samples, one that is between two calls may be more than the share
            yield Few(text) if taken < args.samples and total - right <= 2 else text


def check(args):
    samples = [s for s in read(args.file) if re.fullmatch(args.process, s.process)]
    excused = [s for s in samples if s.reason and args.excuse and s.frames and
               re.search(args.excuse, s.frames[-1])]
    kept = [s for s in samples if s not in excused] if excused else samples
    taken, ready, complete, reasons = figures(kept)
    print("  %s: %d samples, %d past readiness, %.2f %% complete, %d excused; %s" % (
        args.process, taken, ready, percent(complete, ready), sum(s.count for s in excused),
        ", ".join("%s %d" % pair for pair in reasons.most_common()) or "none cut"))
    problems = list(check_chains(args, samples, taken))
    if taken < args.samples:
        problems.append(Few("%d samples, at least %d expected" % (taken, args.samples)))
    if percent(complete, ready) < args.complete:
        cut = [s for s in kept if s.reason and not NOT_READY.search(s.reason)]
        text = "\n".join(["less than %g %% complete:" % args.complete] + examples(cut))
        slow = sum(n for reason, n in reasons.items() if SLOW.fullmatch(reason))
        is_slow = percent(complete + slow, ready) >= args.complete
        problems.append(Few(text) if is_slow else text)
    if percent(ready, taken) < args.ready:
        problems.append(Few("%.1f %% past readiness, at least %g expected" %
                            (percent(ready, taken), args.ready)))
    for never in args.never:
        bad = [s for s in samples if any(re.search(never, frame) for frame in s.frames)]
        if bad:
            problems.append("\n".join(["%s occurs:" % never] + examples(bad)))
    for problem in problems:
        print("  " + problem)
    if problems and all(isinstance(problem, Few) for problem in problems):
        return STARVED
    return 1 if problems else 0


def check_pprof(args):
    problems = list(dict.fromkeys(pprof.Profile(args.file).problems()))
    for problem in problems[:20]:
        print("  " + problem)
    return 1 if problems else 0


def top(args):
    functions = collections.Counter()
    for sample in read(args.file):
        functions[sample.frames[-1] if sample.frames else "?"] += sample.count
    total = sum(functions.values())
    for name, count in functions.most_common(args.number):
        print("%6d %5.1f%%  %s" % (count, percent(count, total), name))
    return 0


def total(args):
    print(sum(sample.count for sample in read(args.file)))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, function in (("summary", summary), ("check", check), ("pprof", check_pprof),
                           ("top", top), ("total", total)):
        command = commands.add_parser(name)
        command.add_argument("file")
        command.set_defaults(function=function)
        if function is top:
            command.add_argument("number", type=int, nargs="?", default=10)
        if function is not check:
            continue
        command.add_argument("process")
        command.add_argument("--samples", type=int, default=20, help="at least so many")
        command.add_argument("--complete", type=float, default=99.5, help="percent of ready ones")
        command.add_argument("--ready", type=float, default=70, help="percent past readiness")
        command.add_argument("--chain", nargs=2, action="append", default=[],
                             metavar=("LEAF", "CHAIN"), help="callers of a function, root first")
        command.add_argument("--share", type=float, default=99.5, help="percent with that chain")
        command.add_argument("--leaf-samples", type=int, default=5)
        command.add_argument("--excuse", help="leaf functions whose samples may be cut")
        command.add_argument("--never", action="append", default=[], help="a frame not to be seen")
    args = parser.parse_args()
    return args.function(args)


sys.exit(main())
