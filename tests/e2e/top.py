#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keyhole top on a terminal of 80 columns and 24 lines: top.py KEYHOLE keys|ends|screen|stream|members ..."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import zlib

KEYHOLE = sys.argv[1]


def fail(why, terminal=None):
    print(f"  {why}")
    if terminal:
        print("\n".join(terminal.lines()))
    sys.exit(1)


class Terminal:
    """A terminal that knows the sequences of keyhole top. Any other sequence is a failure."""

    def __init__(self, *arguments, columns=80, lines=24):
        self.columns, self.rows, self.pending = columns, lines, b""
        self.modes, self.grid, self.x, self.y = set(), [[" "] * columns for _ in range(lines)], 0, 0
        ready, is_ready = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.read(ready, 1)
            os.execv(KEYHOLE, [KEYHOLE, "top", *arguments])
        self.resize(columns, lines)
        self.before = termios.tcgetattr(self.fd)
        os.write(is_ready, b"r")
        os.close(ready)
        os.close(is_ready)
        self.status = None

    def resize(self, columns, lines):
        self.columns, self.rows = columns, lines
        self.grid, self.x, self.y = [[" "] * columns for _ in range(lines)], 0, 0
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def sequence(self, match):
        numbers, final = match[1], match[2]
        if final == "H" and not numbers:
            self.x = self.y = 0
        elif final == "K" and not numbers:
            self.grid[self.y][self.x:] = [" "] * (self.columns - self.x)
        elif final in "hl" and numbers in ("?1049", "?25"):
            (self.modes.add if final == "h" else self.modes.discard)(numbers)
        elif final != "m":
            fail(f"the terminal got {match[0]!r}", self)

    def put(self, character):
        if character == "\r":
            self.x = 0
        elif character == "\n":
            self.y += 1
            if self.y >= self.rows and "?1049" in self.modes:
                fail("it scrolled", self)
            self.y = min(self.y, self.rows - 1)
        elif "?1049" in self.modes:
            if self.x >= self.columns or ord(character) < 32:
                fail(f"beyond the border, or control: {character!r}", self)
            self.grid[self.y][self.x] = character
            self.x += 1

    def take(self, data):
        text, at = (self.pending + data).decode("utf-8", "replace"), 0
        self.pending = b""
        while at < len(text):
            if text[at] != "\033":
                self.put(text[at])
                at += 1
                continue
            match = re.compile(r"\033\[([?0-9;]*)([A-Za-z])").match(text, at)
            if not match:
                if len(text) - at > 12:
                    fail(f"the terminal got {text[at:at + 12]!r}", self)
                self.pending = text[at:].encode()
                return
            self.sequence(match)
            at = match.end()

    def pump(self, seconds, until=None):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if until and until():
                return True
            if not select.select([self.fd], [], [], min(left, 0.1))[0]:
                continue
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # nobody has it open: who had may still be about to end
                if not until:
                    break
                time.sleep(0.02)
                continue
            self.take(data)
        return bool(until and until())

    def lines(self):
        return ["".join(line).rstrip() for line in self.grid]

    def wait(self, text, what, seconds=15):
        if not self.pump(seconds, lambda: any(re.search(text, line) for line in self.lines())):
            fail(f"{what}: no {text!r} on the screen", self)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def family(pid):
    """Returns a process and all below it, each with its start time, because pids come again."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            children.setdefault(parent_of(name), []).append(int(name))
        except OSError:
            pass
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return {one: started(one) for one in found}


def started(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[19] if fields[0] != "Z" else None
    except OSError:
        return None


def left_of(processes):
    return [pid for pid, start in processes.items() if start and started(pid) == start]


def gone(terminal, processes, what):
    end = time.monotonic() + 10
    while left_of(processes) and time.monotonic() < end:
        terminal.ended()
        time.sleep(0.05)
    if left_of(processes):
        fail(f"{what}: left: {left_of(processes)}")


def test_keys(pid):
    terminal = Terminal("-p", pid, "-F", "199")
    terminal.wait(r"% of stacks complete", "start")
    terminal.pump(1.5)
    first = terminal.lines()[4]
    if not re.match(r" *[0-9.]+% +[0-9.]+% +spin_inner +spin +spin$", first):
        fail("spin_inner is not the first", terminal)
    terminal.press("\r")
    terminal.wait(r"callers and callees of spin_inner", "Enter")
    terminal.wait(r"< spin_outer", "its caller")
    terminal.press("\033")
    terminal.wait(r"^functions by self, [0-9]+$", "Escape")
    terminal.press("/outer$\r")
    terminal.wait(r'matching "outer\$", 1$', "filter")
    if "spin_outer" not in terminal.lines()[4]:
        fail("the filter shows something else", terminal)
    terminal.press("p")
    terminal.wait(rf" {pid}  spin$|nothing matches", "processes")
    terminal.press("\033")
    terminal.wait(rf" {pid}  spin$", "processes without a filter")
    terminal.resize(40, 10)
    terminal.press("f")
    terminal.wait(r"spin_inner$", "a smaller terminal")
    processes = family(terminal.pid)
    terminal.press("q")
    if not terminal.pump(10, terminal.ended) or terminal.status:
        fail(f"q: status {terminal.status}", terminal)
    restored(terminal, "q")
    gone(terminal, processes, "q")


def restored(terminal, what):
    terminal.pump(5, lambda: terminal.modes == {"?25"})
    if terminal.modes != {"?25"} or termios.tcgetattr(terminal.fd) != terminal.before:
        fail(f"{what}: the terminal is not as it was: {terminal.modes}")


def viewer_of(terminal):
    """The one of its two processes that is the other one's child."""
    return [pid for pid in family(terminal.pid)
            if pid != terminal.pid and parent_of(pid) == terminal.pid
            and open(f"/proc/{pid}/comm").read() == "keyhole-top\n"][0]


def check_rights(terminal):
    for pid in (terminal.pid, viewer_of(terminal)):
        with open(f"/proc/{pid}/status") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
        if status["Uid"].split() != ["65534"] * 4 or int(status["CapPrm"], 16) or \
                status["NoNewPrivs"] != "1" or status.get("Groups", "").strip():
            fail(f"{pid}: {status['Uid']} {status['CapPrm']} {status['NoNewPrivs']}")
    if status["Seccomp"] != "2":
        fail("the viewer has no filter")


def test_ends(*ways):
    acts = {
        "quit": lambda t: t.press("q"),
        "interrupt": lambda t: t.press("\x03"),
        "terminate": lambda t: os.kill(t.pid, signal.SIGTERM),
        "other": lambda t: os.kill(t.pid, signal.SIGUSR1),
        "kill": lambda t: os.kill(t.pid, signal.SIGKILL),
        "hangup": lambda t: os.close(t.fd),
        "crash": lambda t: os.kill(viewer_of(t), signal.SIGSEGV),
    }
    for way in ways:
        terminal = Terminal()
        terminal.wait(r"% of stacks complete", way)
        check_rights(terminal)
        processes = family(terminal.pid)
        if len(processes) < 8:
            fail(f"{way}: only {processes}")
        acts[way](terminal)
        if way != "hangup":
            terminal.pump(10, terminal.ended)
        gone(terminal, processes, way)
        if way not in ("hangup", "kill"):
            restored(terminal, way)
        print(f"  {way}: status {terminal.status}")


def test_screen(pid):
    """Records a process with a hostile name. Terminal fails at any effect of the name on the
    screen."""
    terminal = Terminal("-p", pid)
    terminal.wait(r"spin_inner .*vil", "the process")
    for key in "pth?ff":
        terminal.press(key)
        terminal.pump(0.2)
    terminal.press("q")
    terminal.pump(10, terminal.ended)
    restored(terminal, "q")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 2:
            size, at = varint(data, at)
            yield key >> 3, data[at:at + size]
            at += size
        else:
            value, at = varint(data, at)
            yield key >> 3, value


def samples_of(profile):
    """Sums of the first value of each sample (proto/profile.proto: sample 2, its value 2)."""
    total = 0
    for number, sample in fields(profile):
        if number == 2:
            values = dict(fields(sample))[2]
            total += varint(values, 0)[0] if isinstance(values, bytes) else values
    return total


def members_of(path):
    """The samples of each profile."""
    with open(path, "rb") as file:
        data = file.read()
    sums = []
    while data:
        member = zlib.decompressobj(zlib.MAX_WBITS + 16)
        sums.append(samples_of(member.decompress(data)))
        if not member.eof:
            fail("the last one is cut")
        data = member.unused_data
    print(f"  {sums}")
    return sums


def test_members(path, least=3):
    if len(members_of(path)) < int(least):
        fail("too few profiles")


def test_stream(path, log):
    sums = members_of(path)
    with open(log) as file:
        said = re.search(r"taken ([0-9]+), .*lost ([0-9]+)", file.read())
    print(f"  taken {said[1]}, lost {said[2]}")
    if sum(sums) != int(said[1]) - int(said[2]) or not 2 <= len(sums) <= 6:
        fail("not each sample once")


TESTS = {"keys": test_keys, "ends": test_ends, "screen": test_screen, "stream": test_stream,
         "members": test_members}
TESTS[sys.argv[2]](*sys.argv[3:])
