#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py BUILD: measures how much of a target's stack a worker gets that was taken over.

Makes a real recording with hostile_worker in place of keyhole-worker, over a victim whose secrets
are known here. Compares the words that come out of the records with the secrets. Prints TAP and
figures. Needs root.
"""
import bisect
import collections
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HZ = 997
SECONDS = 120       # at most
KINDS = ("random", "small", "called", "code", "pointer")
SLOTS, CODE, REGISTERS = 16, 1024, 8
VICTIM = struct.Struct("<2I5Q5Q8Q")
SECRETS = struct.Struct(f"<{len(KINDS) * SLOTS + SLOTS + REGISTERS + CODE}Q")
DEFAULT_HZ = 99
FRAMES_MAX = 1024   # bpf/abi.h
SAMPLES_KEPT = 0.99
NODES, NODE_WORDS, NODE_SECRETS = 4096, 8, 3


def read_all(fd, size):
    data = b""
    while len(data) < size:
        piece = os.read(fd, size - len(data))
        if not piece:
            raise SystemExit("hostile: the victim said nothing")
        data += piece
    return data


class Victim:
    def __init__(self, build, cpu, program=None):
        ours, theirs = os.pipe()
        program = program or os.path.join(build, "canary", "victim")
        self.process = subprocess.Popen([program, str(theirs), str(SECONDS + 10)],
                                        pass_fds=[theirs])
        os.sched_setaffinity(self.process.pid, {cpu})
        os.close(theirs)
        self.told = read_all(ours, VICTIM.size)
        words = SECRETS.unpack(read_all(ours, SECRETS.size))
        nodes = struct.unpack(f"<{NODES * NODE_WORDS}Q", read_all(ours, NODES * NODE_WORDS * 8))
        os.close(ours)
        self.nodes = [word for i, word in enumerate(nodes)
                      if i % NODE_WORDS >= NODE_WORDS - NODE_SECRETS]
        self.kinds = {kind: words[i * SLOTS:(i + 1) * SLOTS] for i, kind in enumerate(KINDS)}
        words = words[len(KINDS) * SLOTS:]
        self.signal, self.registers = words[:SLOTS], words[SLOTS:SLOTS + REGISTERS]
        self.run = words[SLOTS + REGISTERS:]

    def written(self, control):
        """struct victim as the worker gets it"""
        return self.told[:4] + struct.pack("<I", control) + self.told[8:]


def cpu_time(pid):
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0])


class Report:
    """The lines that the worker wrote."""

    def __init__(self):
        self.words, self.found, self.controls = {}, {}, {}
        self.asked, self.answered = collections.Counter(), collections.Counter()
        self.reasons, self.long, self.switches = {}, None, {}

    def take(self, line):
        letter, *rest = line.split()
        if letter == "W":
            self.words.setdefault(int(rest[1], 16), rest[0])
        elif letter == "O":
            self.found[rest[0], int(rest[1])] = int(rest[2], 16)
        elif letter == "C":
            self.controls[rest[0]] = tuple(map(int, rest[1:]))
        elif letter == "A":
            self.asked[rest[0]], self.answered[rest[0]] = int(rest[1]), int(rest[2])
        elif letter == "R":
            self.reasons[rest[0]] = int(rest[1])
        elif letter == "S":
            self.switches[rest[0]] = int(rest[1]), int(rest[2])
        elif letter == "F":
            self.long = tuple(map(int, rest))


class Recording:
    def __init__(self, build, folder, worker, written, control, report, hz=HZ):
        """worker: built for this test; written: bytes that it gets"""
        self.control, self.report, self.others = control, report, []
        self.done, self.clock, self.hz = False, [], hz
        for name in ("keyhole", "keyhole-broker", "keyhole-exporter", "keyhole-kernel-symbols",
                     "keyhole-options", "keyhole-output", "keyhole-audit",
                     "keyhole-rules", "keyhole-debug-reader", "keyhole-connector"):
            os.symlink(os.path.join(build, name), os.path.join(folder, name))
        # the loader looks for the others beside itself
        os.unlink(os.path.join(folder, "keyhole"))
        shutil.copy(os.path.join(build, "keyhole"), folder)
        image = bytearray(open(worker, "rb").read())
        at = image.index(b"canary-victim\0") + 16
        image[at:at + len(written)] = written
        worker = os.path.join(folder, "keyhole-worker")
        with open(worker, "wb") as file:
            file.write(image)
        os.chmod(worker, 0o755)
        command = [os.path.join(folder, "keyhole"), "record", "-F", str(hz), "-d", str(SECONDS),
                   "-o", os.path.join(folder, "p.folded")]
        environment = {"PATH": "/usr/bin:/bin", "KEYHOLE_DEBUG_STDERR": "1"}
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=environment)

    def follow(self):
        """Until all attacks were made."""
        watcher = threading.Thread(target=self.watch_control, daemon=True)
        watcher.start()
        for line in self.process.stderr:
            if line.startswith("P done"):
                self.done = True
                self.process.send_signal(signal.SIGINT)
            elif re.fullmatch(r"[A-Z] .*\n", line):
                self.report.take(line)
            else:
                self.others.append(line.rstrip())
        self.process.wait()
        watcher.join()

    def watch_control(self):
        """Its CPU time, moment by moment."""
        while self.process.poll() is None:
            self.clock.append((time.monotonic_ns(), cpu_time(self.control)))
            time.sleep(0.01)

    def used(self, moment):
        at = max(bisect.bisect_left(self.clock, (moment, 0)), 1)
        (t0, c0), (t1, c1) = self.clock[at - 1], self.clock[min(at, len(self.clock) - 1)]
        return c0 + (c1 - c0) * (moment - t0) / max(t1 - t0, 1)

    def kept(self, phase):
        """Samples of the control beside those that its CPU time is worth."""
        count, begun, ended = self.report.controls[phase]
        return count / ((self.used(ended) - self.used(begun)) * self.hz / 1e9)


class Tap:
    failed = 0

    def __init__(self, part):
        self.part = part

    def __call__(self, good, text):
        self.failed += not good
        print(("ok" if good else "not ok") + f" - {self.part}: {text}", flush=True)


def minute(words, samples):
    """bytes a minute and CPU at the default rate, from words in so many samples"""
    return words * 8 / max(samples, 1) * DEFAULT_HZ * 60


def judge_switches(report, tap):
    """the victim has words that claim a goroutine, at one offset"""
    crossed, refused = report.switches["none"]
    tap(crossed == 0 and refused > SLOTS,
        f"stacks of Go: {crossed} of {crossed + refused} walks found one where there is no goroutine")
    crossed, refused = report.switches["word"]
    tap(crossed >= SLOTS * 0.8,
        f"control: {crossed} of {crossed + refused} walks went to the claimed goroutine by a word")
    crossed, refused = report.switches["all"]
    tap(crossed >= SLOTS and refused >= SLOTS,
        f"stacks of Go: {crossed} walks went to the claimed goroutine, and {refused} did not; "
        "see above for the words that came out")


def judge(victim, recording, tap):
    report = recording.report
    answered, asked = sum(report.answered.values()), sum(report.asked.values())
    tap(answered > 500 and answered > asked * 0.9,
        f"{answered} of {asked} attempts were answered by a record")
    got = {kind: len(set(words) & set(report.words)) for kind, words in victim.kinds.items()}
    got["signal"] = len(set(victim.signal) & set(report.words))
    got["registers"] = len(set(victim.registers) & set(report.words))
    for kind, count in got.items():
        forms = {report.words[w] for w in report.words
                 if w in set(victim.kinds.get(kind, victim.signal + victim.registers))}
        print(f"# words of kind {kind}: {count} came out {' '.join(sorted(forms))}")
    tap(got["called"] >= SLOTS * 0.9,
        f"control: {got['called']} of {SLOTS} addresses behind calls came out: the attack works")
    tap(got["random"] == 0, "random words of 64 bits: none came out")
    tap(got["small"] == 0, "random words below 2^47: none came out")
    tap(got["signal"] == 0, "random words in what looks like a signal's context: none came out")
    tap(got["registers"] == 0, "random words in registers: none came out")
    secrets = {("register", i): w for i, w in enumerate(victim.registers)}
    for i, word in enumerate(victim.kinds["small"]):
        secrets["sp", i] = secrets["saved", i] = secrets["switch", i] = word
    guessed = [key for key, word in report.found.items() if secrets.get(key) == word]
    tap(report.found and not guessed,
        f"asked bit by bit: {len(guessed)} of {len(report.found)} words were found out")
    tap(got["pointer"] <= SLOTS // 4,
        f"pointers to random bytes: {got['pointer']} of {SLOTS} came out (expected: 1 in 160)")
    judge_switches(report, tap)
    frames, samples, _ = report.long
    tap(0 < frames / samples <= FRAMES_MAX,
        f"addresses of code: {frames / samples:.0f} in a sample, "
        f"{minute(frames, samples) / 1e6:.1f} MB a minute and CPU at {DEFAULT_HZ} Hz; "
        f"bound {minute(FRAMES_MAX, 1) / 1e6:.1f} MB")
    before, during = recording.kept("idle"), recording.kept("attack")
    tap(during >= min(before, 1) * SAMPLES_KEPT,
        f"another process keeps its samples: {100 * during:.1f} % of its CPU time, "
        f"{100 * before:.1f} % before the attack")
    print(f"# ends of walks: {report.reasons}")


def main():
    if os.geteuid():
        print("not root", file=sys.stderr)
        return 77
    build, tap = os.path.abspath(sys.argv[1]), Tap("hostile")
    cpus = sorted(os.sched_getaffinity(0))
    victim = Victim(build, cpus[0])
    control = subprocess.Popen([os.path.join(build, "canary", "victim"), "spin", str(SECONDS + 10)])
    os.sched_setaffinity(control.pid, {cpus[-1]})
    try:
        with tempfile.TemporaryDirectory(prefix="keyhole-canary.") as folder:
            os.chmod(folder, 0o755)
            recording = Recording(build, folder, os.path.join(build, "canary", "hostile-worker"),
                                  victim.written(control.pid),
                                  control.pid, Report())
            begun = time.monotonic()
            recording.follow()
            print(f"# {time.monotonic() - begun:.0f} s")
            if not recording.done:
                tap(False, f"the attack did not come to its end: {recording.others[:3]}")
            else:
                judge(victim, recording, tap)
    finally:
        victim.process.kill()
        control.kill()
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main())
