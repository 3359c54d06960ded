# SPDX-License-Identifier: Apache-2.0
"""Compares `keyhole report` with other readers of the same file. The last argument of each command
is the program.

    report.py pprof FILE TYPE REPORT     self and total of every function, beside go tool pprof's
    report.py same FILE FILE REPORT      two files have the same rows
    report.py tree FILE REPORT           no node is less than what it calls
    report.py filters FILE REPORT        what filters leave and take away adds up
    report.py terminal FILE REPORT       width and colours on a terminal
    report.py confined FILE REPORT       what the process that reads can do
    report.py cost FILE SECONDS MB REPORT
    report.py deep REPORT                trees that are deep do not cost the square of that
"""

import fcntl
import json
import os
import pty
import re
import resource
import struct
import subprocess
import sys
import termios
import time


def fail(text):
    print("  " + text)
    sys.exit(1)


def report(program, *arguments):
    result = subprocess.run([program, *arguments], capture_output=True, check=False)
    if result.returncode:
        fail("report ended with %d: %s" % (result.returncode, result.stderr.decode()))
    return result.stdout.decode()


def rows(program, path, *arguments):
    lines = [] if "--tree" in arguments else ["-n", "0"]
    return json.loads(report(program, "--json", *lines, *arguments, path))


UNITS = {"ns": 1, "": 1, "B": 1}


def number(text):
    match = re.fullmatch(r"(-?[0-9.]+)([a-zA-Z]*)", text)
    return round(float(match[1]) * UNITS[match[2]])


def pprof_top(path, kind):
    """{name: (self, total)} and the order."""
    unit = {"cpu": "ns", "delay": "ns", "alloc_space": "B", "inuse_space": "B"}.get(kind, "count")
    text = subprocess.run(
        ["tests/pprof", "-top", "-symbolize=none", "-nodecount=1000000", "-nodefraction=0",
         "-edgefraction=0", "-trim=false", "-unit=" + unit, "-sample_index=" + kind, path],
        capture_output=True, check=False)
    if text.returncode:
        print(text.stderr.decode())
        sys.exit(1)
    found = {}
    for line in text.stdout.decode().splitlines():
        match = re.fullmatch(r" *(\S+) +\S+% +\S+% +(\S+) +\S+%  (.*)", line)
        if match:
            name = re.sub(r" \((partial-)?inline\)$", "", match[3])
            found[name] = number(match[1]), number(match[2])
    return found


def pprof(path, kind, program):
    theirs = pprof_top(path, kind)
    ours = {row["name"]: (row["self"], row["total"])
            for row in rows(program, path, "--sample-type", kind)["rows"]}
    for name in sorted(set(theirs) | set(ours)):
        if theirs.get(name, (0, 0)) != ours.get(name, (0, 0)):
            fail("%s: pprof %s, ours %s" % (name, theirs.get(name), ours.get(name)))
    print("  %s: %d functions, the same as pprof's" % (kind, len(ours)))
    if not ours:
        fail("no functions")


def same(first, second, program):
    a, b = rows(program, first), rows(program, second)
    for key in ("rows", "complete", "cut", "reasons"):
        if a.get(key) != b.get(key):
            fail("%s differ: %s, %s" % (key, str(a.get(key))[:500], str(b.get(key))[:500]))
    print("  %d rows are the same" % len(a["rows"]))


def check_node(node, total):
    if node["self"] + sum(call["total"] for call in node["calls"]) > node["total"]:
        fail("%s: calls more than it has" % node["name"])
    for call in node["calls"]:
        check_node(call, total)


def tree(path, program):
    whole = rows(program, path, "--tree", "--min", "0")
    if sum(node["total"] for node in whole["calls"]) != whole["profile"]["total"]:
        fail("the tree has not all samples")
    for node in whole["calls"]:
        check_node(node, whole["profile"]["total"])


def shown(program, path, *arguments):
    return rows(program, path, *arguments)["profile"]["shown"]


def filters(path, program):
    total = rows(program, path)["profile"]["total"]
    if shown(program, path, "--kernel") + shown(program, path, "--no-kernel") != total:
        fail("--kernel and --no-kernel do not add up")
    for what, option in (("process", "--comm"), ("object", "--object")):
        for row in rows(program, path, "--by", what)["rows"][:5]:
            got = shown(program, path, option, "^" + re.sub(r"([][+.*()^$\\{}|?])", r"\\\1",
                                                            row["name"]) + "$")
            if got != row["self"]:
                fail("%s %s: %d, the table has %d" % (option, row["name"], got, row["self"]))
    none = subprocess.run([program, "--json", "--comm", "no such process", path],
                          capture_output=True, check=False)
    if none.returncode != 1 or b"matches no process" not in none.stderr:
        fail("--comm of none ended with %d: %s" % (none.returncode, none.stderr.decode()))


def on_terminal(columns, environment, arguments):
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(arguments[0], arguments, environment)
    output = b""
    try:
        while True:
            output += os.read(fd, 65536)
    except OSError:
        pass
    os.close(fd)
    os.waitpid(pid, 0)
    return output.decode().replace("\r\n", "\n")


def terminal(path, program):
    plain = {"TERM": "xterm", "PATH": "/usr/bin:/bin"}
    for view in ([], ["--tree"], ["--callers", "."], ["--by", "object"]):
        for columns in (50, 80, 132):
            coloured = on_terminal(columns, plain, [program, *view, path])
            if "\033[" not in coloured:
                fail("no colours on a terminal")
            bare = re.sub("\033\\[[0-9;]*m", "", coloured)
            if "\033" in bare:
                fail("more than colours")
            table = bare.split("\n\n", 1)[1]
            wide = [line for line in table.splitlines()
                    if len(line) > columns and line.startswith(" ")]
            if wide:
                fail("wider than %d: %s" % (columns, wide[0]))
            for refusal in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
                if "\033" in on_terminal(columns, {**plain, **refusal}, [program, *view, path]):
                    fail("colours although %s" % refusal)
    if max(len(line) for line in report(program, path).split("\n\n", 1)[1].splitlines()) > 80:
        fail("wider than 80 where there is no terminal")
    if "\033" in report(program, path):
        fail("colours where there is no terminal")


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def confined(path, program):
    """The reader waits for the rest of standard input. By then it must have given everything up."""
    with subprocess.Popen([program, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as parent:
        parent.stdin.write(open(path, "rb").read()[:10])
        parent.stdin.flush()
        for _ in range(100):
            time.sleep(0.05)
            readers = children_of(parent.pid)
            if not readers:
                continue
            with open("/proc/%d/status" % readers[0], encoding="ascii") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
            with open("/proc/%d/limits" % readers[0], encoding="ascii") as file:
                limits = file.read()
            if status["Seccomp"] == "2":
                break
        parent.stdin.close()
        parent.wait()
    for key, value in (("Seccomp", "2"), ("NoNewPrivs", "1"), ("CapEff", "0" * 16),
                       ("CapPrm", "0" * 16)):
        if status[key] != value:
            fail("%s is %s" % (key, status[key]))
    for limit in ("Max address space +4294967296 ", "Max core file size +0 ", "Max open files +0 ",
                  "Max cpu time +120 "):
        if not re.search(limit, limits):
            fail("no limit %s" % limit)
    if parent.returncode != 1:
        fail("a cut file gives status %d" % parent.returncode)


def cost(path, seconds, megabytes, program):
    """CPU time: the machine may have other work. The best of three."""
    best = 1e9
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        report(program, path)
        wall = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, used)
        print("  %.2f s, CPU time %.2f s, %d MB" % (wall, used, after.ru_maxrss >> 10))
    if best > float(seconds) or after.ru_maxrss >> 10 > int(megabytes):
        fail("more than %s s or %s MB" % (seconds, megabytes))


def varint(number):
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def deep_profile(locations, lines, samples):
    """Samples of one stack: functions a and b by turns, `lines` of them inlined at a location."""
    strings = [b"", b"cpu", b"nanoseconds", b"a", b"b"]
    text = field(1, field(1, 1) + field(2, 2))
    for identity in 1, 2:
        text += field(5, field(1, identity) + field(2, identity + 2))
    for identity in range(1, locations + 1):
        text += field(4, field(1, identity) +
                      b"".join(field(4, field(1, (identity * lines + i) % 2 + 1)) for i in range(lines)))
    stack = field(1, b"".join(varint(identity) for identity in range(1, locations + 1)))
    text += b"".join(field(2, stack + field(2, varint(i + 1))) for i in range(samples))
    return text + b"".join(field(6, string) for string in strings)


def deep(program):
    text = deep_profile(1200, 1, 20000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    shown = subprocess.run([program, "--tree", "-"], input=text, capture_output=True, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    print("  20000 samples of 1200 calls: %d lines, CPU time %.2f s" % (shown.stdout.count(b"\n"), used))
    if shown.returncode or shown.stdout.count(b"\n") < 1200 or used > 10:
        fail(shown.stderr.decode())
    ended = subprocess.run([program, "--tree", "-"], input=deep_profile(70, 64, 100000), check=False,
                           capture_output=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 9)))
    print("  " + ended.stderr.decode().rstrip("\n"))
    if ended.returncode != 1 or b"CPU time, at most 120 s" not in ended.stderr:
        fail("status %d where time is over" % ended.returncode)


if __name__ == "__main__":
    sys.setrecursionlimit(50000)  # JSON of trees is as deep as they are
    globals()[sys.argv[1]](*sys.argv[2:])
