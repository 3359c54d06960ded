#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lists.py BUILD [VARIANT]: measures how much of a target's heap a worker gets that was taken over.

Makes a real recording with list_worker in place of keyhole-worker. It leads the walk over a
runtime's list over the secrets of two victims. The file of one has the name of a runtime. Prints
TAP and figures. With the variant, whose grants allow less, the account of lists must be reached.
Needs root.
"""
import collections
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import hostile

HZ = 1999
SAFE, GRANTED = 0, 1
EVENT, LIST = 10480, 8 * 2304 + 8       # bytes of an event, and of a list: bpf/abi.h
TOLD, LISTED = (4 << 20, 1024), (32 << 20, 64)  # bytes at once, ns for a byte: bpf/abi.h
SAMPLES = 200       # of each phase and victim, as in list_worker.c
THRIFT = 64         # tests/canary/thrifty.bpf.h
LOW = 0xffffffff
OVERDRAWN = 4       # enum runtime_result


class Report:
    def __init__(self):
        self.claims, self.bytes, self.controls, self.contexts = {}, {}, {}, {}
        self.labels = {}
        self.listed, self.told = collections.defaultdict(set), collections.defaultdict(set)
        self.results = collections.Counter()

    def take(self, line):
        letter, *rest = line.split()
        if letter == "G":
            self.claims[rest[0]] = int(rest[1])
        elif letter == "B":
            self.bytes[rest[0], int(rest[1])] = tuple(map(int, rest[2:]))
        elif letter == "W":
            self.listed[rest[0], int(rest[1])].add(int(rest[2], 16))
        elif letter == "T":
            self.told[rest[0], int(rest[1])].add(int(rest[2], 16))
        elif letter == "R":
            self.results[rest[0], int(rest[1]), int(rest[2])] += int(rest[3])
        elif letter == "X":
            self.contexts[rest[0], int(rest[1])] = tuple(map(int, rest[2:]))
        elif letter == "L":
            self.labels[rest[0], int(rest[1])] = int(rest[2])
        elif letter == "C":
            self.controls[rest[0]] = tuple(map(int, rest[1:]))


def mapping(pid, path, permissions):
    for line in open(f"/proc/{pid}/maps"):
        if path in line and permissions in line:
            return tuple(int(part, 16) for part in line.split()[0].split("-"))
    raise SystemExit("lists: no such mapping of the victim")


def written(victims, paths, control):
    """struct attack"""
    codes = [mapping(v.process.pid, path, "r-xp") for v, path in zip(victims, paths)]
    data = mapping(victims[GRANTED].process.pid, paths[GRANTED], "r--p")
    return b"".join(v.written(control) for v in victims) + struct.pack(
        "<6Q", codes[0][0], codes[1][0], codes[0][1], codes[1][1], *data)


def stack_words(victim):
    return [w for words in victim.kinds.values() for w in words] + list(victim.signal)


def judge_refused(victims, report, tap):
    wrong = {claim: error for claim, error in report.claims.items() if claim != "what-is-true"}
    tap(len(wrong) == 9 and all(error < 0 for error in wrong.values()),
        f"{len(wrong)} claims that are wrong were refused: {wrong}")
    for phase in ("ungranted", "ungranted-code", "ungranted-heaps", "ungranted-frames", "refused"):
        for number in (SAFE, GRANTED):
            lists, listed, told, _ = report.bytes[phase, number]
            samples = sum(n for (p, v, _), n in report.results.items() if (p, v) == (phase, number))
            tap(samples >= SAMPLES and lists == listed == told == 0,
                f"{phase}: victim {number} has no grant: {listed + told} bytes came out of "
                f"{samples} samples")
    for phase in ("told", "listed", "heaps", "frames", "stale"):
        lists, listed, told, _ = report.bytes[phase, SAFE]
        tap(lists == listed == told == 0,
            f"{phase}: {listed + told} bytes came out of the victim without a grant")


def judge_contexts(report, tap):
    """a grant of lists is none of contexts"""
    looked, taken = map(sum, zip(*report.contexts.values()))
    tap(looked >= SAMPLES and taken == 0,
        f"contexts: {taken} came out of {looked} samples, of victims that publish none")


def judge_labels(report, tap):
    """the worker claims labels for both victims, one of which has a grant; --go-labels is off"""
    looked, samples = sum(report.labels.values()), sum(report.results.values())
    tap(samples >= SAMPLES and looked == 0,
        f"labels of goroutines: BPF looked for them in {looked} of {samples} samples, as nobody has "
        "asked for them")


def bound(account, ns, most):
    """of one account: what it has kept, what it gets meanwhile, and one more on each CPU"""
    at_once, byte_ns = account
    return at_once + ns / byte_ns + most * len(os.sched_getaffinity(0))


def judge_budget(victims, report, tap, thrift):
    secrets = set(victims[GRANTED].nodes)
    halves = {w & LOW for w in secrets} | {w >> 32 for w in secrets}
    tap(report.claims["what-is-true"] == 0, "the victim with the name of a runtime has a grant")
    _, _, told, ns = report.bytes["told", GRANTED]
    most = bound(TOLD, ns, EVENT)
    came = len(secrets & report.told["told", GRANTED])
    tap(came > 100 and told <= most,
        f"told: {came} words of {len(secrets)} came out, {told} bytes in {ns / 1e9:.1f} s "
        f"(bound {most:.0f}); {60e9 / TOLD[1] / 1e6:.1f} MB a minute and {TOLD[0]} bytes at once")
    lists, listed, _, ns = report.bytes["listed", GRANTED]
    account = LISTED[0] // thrift, LISTED[1] * thrift
    most = bound(account, ns, LIST)
    came = len(halves & report.listed["listed", GRANTED])
    refused = report.results["listed", GRANTED, OVERDRAWN]
    tap(came > 100 and listed + 8 * lists <= most,
        f"listed: {came} halves of {len(halves)} words came out, {listed} bytes in {lists} lists "
        f"and {ns / 1e9:.1f} s (bound {most:.0f}); "
        f"{60e9 / account[1] / 1e6:.1f} MB a minute and {account[0]} bytes at once")
    for phase in ("heaps", "frames"):
        judge_functions(secrets, report, tap, phase, account)
    if thrift > 1:
        tap(refused > 50 and listed > 0.7 * (most - 2 * LIST),
            f"listed: the account was used up, and {refused} lists were refused")


def judge_functions(secrets, report, tap, phase, account):
    """of a runtime whose functions have frames on the stack: both accounts hold"""
    lists, listed, told, ns = report.bytes[phase, GRANTED]
    most, most_told = bound(account, ns, LIST), bound(TOLD, ns, EVENT)
    came = len(secrets & report.told[phase, GRANTED])
    tap(came > 100 and told <= most_told and listed + 8 * lists <= most,
        f"{phase}: {came} words of {len(secrets)} came out, {told} bytes in {ns / 1e9:.1f} s "
        f"(bound {most_told:.0f}), {60e-3 * told / ns * 1e6:.1f} MB a minute; and {listed} bytes "
        f"in {lists} lists (bound {most:.0f})")


def judge_stale(victims, report, tap):
    words = stack_words(victims[SAFE]) + victims[SAFE].nodes
    halves = {w & LOW for w in words} | {w >> 32 for w in words}
    # the two victims share parts of addresses
    halves -= {w >> 32 for w in victims[SAFE].kinds["pointer"] + victims[SAFE].kinds["called"] +
               victims[SAFE].kinds["code"]}
    came = halves & report.listed["stale", GRANTED]
    samples = sum(n for (p, v, _), n in report.results.items() if (p, v) == ("stale", GRANTED))
    tap(samples >= SAMPLES and not came,
        f"stale: {len(came)} halves of words of the one victim came out of {samples} samples of "
        "the other one")


def judge(victims, recording, tap, thrift):
    report = recording.report
    judge_refused(victims, report, tap)
    judge_contexts(report, tap)
    judge_labels(report, tap)
    judge_budget(victims, report, tap, thrift)
    judge_stale(victims, report, tap)
    before, during = recording.kept("idle"), recording.kept("listed")
    tap(during >= min(before, 1) * hostile.SAMPLES_KEPT,
        f"another process keeps its samples: {100 * during:.1f} % of its CPU time, "
        f"{100 * before:.1f} % before the attack")
    print(f"# results: {dict(report.results)}")


def main():
    if os.geteuid():
        print("not root", file=sys.stderr)
        return 77
    build, tap, thrift = os.path.abspath(sys.argv[1]), hostile.Tap("lists"), 1
    programs = build
    if len(sys.argv) > 2:
        programs, thrift = os.path.join(build, sys.argv[2]), THRIFT
        tap.part = "lists, " + sys.argv[2]
    cpus = sorted(os.sched_getaffinity(0))
    started = []
    try:
        with tempfile.TemporaryDirectory(prefix="keyhole-canary.") as folder:
            os.chmod(folder, 0o755)
            paths = [os.path.join(folder, name) for name in ("victim", "python3.11")]
            for path in paths:
                shutil.copy(os.path.join(build, "canary", "victim"), path)
            victims = [hostile.Victim(build, cpus[0], path) for path in paths]
            started += [victim.process for victim in victims]
            control = subprocess.Popen([paths[0], "spin", str(hostile.SECONDS + 10)])
            started.append(control)
            os.sched_setaffinity(control.pid, {cpus[-1]})
            recording = hostile.Recording(programs, folder,
                                          os.path.join(build, "canary", "list-worker"),
                                          written(victims, paths, control.pid), control.pid,
                                          Report(), HZ)
            recording.follow()
            if recording.done:
                judge(victims, recording, tap, thrift)
            else:
                tap(False, f"the attack did not come to its end: {recording.others[:3]}")
    finally:
        for process in started:
            process.kill()
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main())
