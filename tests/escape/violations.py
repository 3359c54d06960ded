#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""violations.py BUILD [PATTERN]: real recordings whose worker has been taken over.

For each scenario the worker is malicious_worker with the scenario written into it. The recording
must fail at once with one line that says why, and leave neither a file nor a process behind. Where
the worker does allowed things, the recording must go on and stay in command. Prints TAP. Root.
"""
import ctypes
import os
import re
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORKERS = int(os.environ.get("ESCAPE_JOBS", "3"))
STALL_MS = 100
EXIT_WAIT_MS = 500  # loader/monitor.c, as the next one
LOG_LINES = 200
END_MS = 300        # from a signal to the end of everything, teardown in the kernel included
FIRST, START, RUN, FINISH = range(4)
(MESSAGE, FLOOD, STALL, EXIT, CRASH, HANG_UP, READY, SUMMARY, PROFILE, LOG, SEGMENTS,
 HAND_IN, DRAFTED) = range(13)
LOADER, BROKER, EXPORTER = range(3)
MOMENTS = ("first", "start", "run", "finish")
PHASES = {"START": 0, "RUN": 1, "FINISH": 2}
PR_SET_CHILD_SUBREAPER = 36
SO_PASSRIGHTS = 83  # Linux 6.16


def rows(path, letter):
    text = re.sub(r"/\*.*?\*/", "", open(os.path.join(ROOT, path)).read(), flags=re.S)
    return [[field.strip() for field in row.split(",")]
            for row in re.findall(r"^%s\(([^)]*)\)" % letter, text, re.M)]


TYPES = {row[0]: (number, row) for number, row in enumerate(rows("ipc/messages.def", "M"), 1)}
VARIANTS = {row[0]: number for number, row in enumerate(rows("tests/escape/variants.def", "V"))}
LIMITED = {"SURPLUS_FD", "TWICE", "CREDENTIALS", "GOOD"}
# RUNNING has no payload; what PROGRESS and SUMMARY say are numbers, and any will do
GOOD = {("HEAD_ONLY", "RUNNING"), ("NOISE", "RUNNING"), ("NOISE", "PROGRESS"), ("NOISE", "SUMMARY")}


def is_pending(pid, number):
    """Two signals of one kind that wait for a process are one."""
    try:
        text = open(f"/proc/{pid}/status").read()
    except OSError:
        return False
    return any(int(mask, 16) >> (number - 1) & 1
               for mask in re.findall(r"^(?:Sig|Shd)Pnd:\s*([0-9a-f]+)", text, re.M))


class Scenario:
    """expect: a pattern for the one line, or the name of a method of Run."""

    def __init__(self, name, moment, deed, expect, target=LOADER, kind="LOG", variant=0, **more):
        self.name, self.moment, self.deed, self.expect = name, moment, deed, expect
        self.target, self.kind, self.variant = target, TYPES[kind][0], variant
        self.seconds = more.get("seconds", "5")
        self.signals = more.get("signals", ())
        self.status = more.get("status", 1)
        self.limit = more.get("limit", 20)
        self.echo = more.get("echo")        # what may be printed before, LOG_LINES times at most
        self.stall = more.get("stall", STALL_MS)
        self.output = more.get("output", "p.folded")
        self.arguments = more.get("arguments", ())
        self.terminal = more.get("terminal", False)     # standard output is one

    def bytes(self):
        return struct.pack("<16s5I", b"escape-scenario", self.moment, self.deed, self.target,
                           self.kind, self.variant)


def allowed(kind, moment):
    _, sender, receiver, first, last, *rest = TYPES[kind][1]
    if sender not in ("WORKER", "CHILD") or receiver != "LOADER":
        return False
    phase = max(0, moment - 1)
    return (PHASES[first] <= phase <= PHASES[last]) and not (kind == "READY" and moment == START)


# The words of the loader at each moment. The start has no monitor yet.
VIOLATION = {
    FIRST: r"start: keyhole-worker: ",
    START: r"start: (keyhole-worker|equipping the children): ",
    RUN: r"monitor: keyhole-worker: violation of the protocol; ended",
    FINISH: r"monitor: keyhole-worker: violation of the protocol; ended",
}
# The exporter ends with the worker, and either may be seen first.
GONE = {
    START: r"(start|monitor): .*",
    RUN: r"monitor: keyhole-(worker|exporter|broker): (ended by itself|closed its channel)",
    FINISH: r"monitor: keyhole-(worker|exporter|broker): (ended by itself|closed its channel)",
}
# The worker ends each time that it runs.
ENDS = r"record: keyhole-worker: ended 3 times within 10 minutes; the recording ends"
REPLACED = (r"keyhole: monitor: keyhole-worker: ended by itself, (signal|status) \d+"
            r"|keyhole: record: keyhole-worker: replaced after \d+ ms; its samples are lost")
# Rather long: the recording ends when FINISH comes.
SECONDS = {FIRST: "5", START: "5", RUN: "5", FINISH: "0.2"}


def types():
    for moment in (FIRST, START, RUN, FINISH):
        for kind in TYPES:
            # before READY it is the same code as after
            if not allowed(kind, moment) and (moment != FIRST or kind in ("RUNNING", "MAPS")):
                yield Scenario(f"{kind} at {MOMENTS[moment]}", moment, MESSAGE, VIOLATION[moment],
                               kind=kind, seconds=SECONDS[moment])


def variants():
    for moment, kind in ((START, "RUNNING"), (RUN, "PROGRESS"), (FINISH, "SUMMARY")):
        for variant, number in VARIANTS.items():
            if variant in LIMITED or (variant, kind) in GOOD:
                continue
            yield Scenario(f"{kind} at {MOMENTS[moment]}, {variant}", moment, MESSAGE,
                           VIOLATION[moment], kind=kind, variant=number, seconds=SECONDS[moment])
    yield Scenario("SUMMARY at finish, TWICE", FINISH, MESSAGE, VIOLATION[FINISH], kind="SUMMARY",
                   variant=VARIANTS["TWICE"], seconds=SECONDS[FINISH])


def lies():
    for variant in range(5):
        yield Scenario(f"READY, lie {variant}", FIRST, READY,
                       "unproven" if variant == 3 else VIOLATION[FIRST], variant=variant)
    for variant in range(7):
        yield Scenario(f"LOG, lie {variant}", RUN, LOG, VIOLATION[RUN], variant=variant)
    yield Scenario("SUMMARY that cannot be", FINISH, SUMMARY, "clamped", seconds="0.2", status=0)
    for variant, reason in ((1, "Operation not permitted"), (2, "Bad message"),
                            (3, "Bad message"), (4, "Operation not permitted|Bad message|Invalid argument")):
        yield Scenario(f"PROFILE, lie {variant}", FINISH, PROFILE, rf"output: .*: ({reason})",
                       variant=variant, seconds="0.2")


def terminals():
    yield Scenario("PROFILE that commands a terminal", FINISH, PROFILE, "printable", variant=5,
                   seconds="0.2", output="-", terminal=True, status=0)


def ends():
    for moment in (START, RUN, FINISH):
        for deed, name in ((EXIT, "exits"), (CRASH, "crashes")):
            yield Scenario(f"{name} at {MOMENTS[moment]}", moment, deed,
                           ENDS if moment == RUN else GONE[moment], seconds=SECONDS[moment],
                           echo={START: r"keyhole: start: .*", RUN: REPLACED}.get(moment))
        # nothing is sampled any more while the loader waits for how it ended
        yield Scenario(f"hangs up at {MOMENTS[moment]}", moment, HANG_UP, GONE[moment],
                       seconds=SECONDS[moment], stall=STALL_MS + EXIT_WAIT_MS)


def commands():
    """The worker does what it may: the loader must still obey the third signal. The second one only
    does without names, where the worker has handed a draft over."""
    # neither the loader's time nor a terminal is the worker's to fill
    for moment in (RUN, FINISH):
        yield Scenario(f"flood of PROGRESS at {MOMENTS[moment]}", moment, FLOOD, VIOLATION[moment],
                       kind="PROGRESS", seconds=SECONDS[moment])
    for moment in (RUN, FINISH):
        yield Scenario(f"flood of LOG at {MOMENTS[moment]}", moment, FLOOD, VIOLATION[moment],
                       kind="LOG", seconds=SECONDS[moment], echo="keyhole-worker: x")
    # nor are the loader's turns
    yield Scenario("flood of BROKER_STUCK at run", RUN, FLOOD, VIOLATION[RUN],
                   kind="BROKER_STUCK", seconds="60",
                   echo=r"keyhole: (monitor: keyhole-broker: no valid answer|broker: ).*")
    yield Scenario("stall at run", RUN, STALL, "obeys", seconds="60", signals=(0.2, 0.4, 0.6))
    yield Scenario("stall at finish", FINISH, STALL, "obeys", seconds="0.2", signals=(0.3, 0.5, 0.7))
    yield Scenario("stall at first", FIRST, STALL, r"start: keyhole-worker: ", limit=8)
    yield Scenario("stall at start", START, STALL, r"start: .*", limit=8)
    # three brokers together give each of 24 segments once
    yield Scenario("segments of three brokers", RUN, SEGMENTS, "gives_once", variant=1, seconds="60",
                   signals=(3.0, 3.2, 3.4))
    yield Scenario("all segments", RUN, SEGMENTS, "obeys", seconds="60", signals=(1.0, 1.2, 1.4))


def peers():
    for target, name in ((BROKER, "broker"), (EXPORTER, "exporter")):
        for kind, variant in (("LOG", "GOOD"), ("STOP", "GOOD"), ("MAPS", "OVERSIZED"),
                              ("MAPS", "MANY_FDS"), ("MAPS", "EMPTY"), ("PROFILE", "TWO_FDS"),
                              ("OBJECT", "SHORT"), ("SEGMENT", "LONG"), ("GRANT", "SHORT"),
                              ("GRANT", "LONG"), ("GRANT", "SURPLUS_FD"),
                              ("CODE_FILE", "SHORT"), ("CODE_FILE", "SURPLUS_FD"),
                              ("CONTEXT", "SHORT"), ("CONTEXT", "SURPLUS_FD")):
            yield Scenario(f"{kind} to {name}, {variant}", RUN, MESSAGE,
                           "passed_on", target=target, kind=kind,
                           variant=VARIANTS[variant])
    # it reads no answer: whoever answers must not wait for it, and nobody for him
    yield Scenario("flood of MAPS to broker", RUN, FLOOD, "passed_on", target=BROKER, kind="MAPS")
    yield Scenario("flood of PROFILE to exporter", RUN, FLOOD, "passed_on", target=EXPORTER,
                   kind="PROFILE", seconds="60")
    yield Scenario("flood of PROFILE to exporter at finish", FINISH, FLOOD, "obeys",
                   target=EXPORTER, kind="PROFILE", seconds="0.2", signals=(0.3, 0.5, 0.7))


def early():
    """The worker gives a part of the profile before STOP, and ends. The output has nothing of that
    part: the exporter refuses the part, or is replaced with the worker before the look."""
    for kind in ("DRAFT", "PROFILE", "WINDOW"):
        for pause in (0, 300):
            for output in ("p.folded", "-"):
                yield Scenario(f"{kind} at run, {pause} ms, into {output}", RUN, HAND_IN, "refused_early",
                               target=EXPORTER, kind=kind, variant=pause, output=output)
    for kind in ("DRAFT", "PROFILE"):
        yield Scenario(f"{kind} at run, into a stream", RUN, HAND_IN, "refused_early",
                       target=EXPORTER, kind=kind, output="-", arguments=("--every", "1"))


def drafts():
    for variant, name in enumerate(("too many", "after SUMMARY")):
        yield Scenario(f"DRAFTED at finish, {name}", FINISH, DRAFTED, VIOLATION[FINISH],
                       variant=variant, seconds=SECONDS[FINISH])


def scenarios():
    for group in (commands, types, variants, lies, terminals, ends, peers, early, drafts):
        yield from group()


def chosen():
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    return [scenario for scenario in scenarios() if re.search(wanted, scenario.name)]


class Failure(Exception):
    pass


class Run:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.programs = os.path.join(folder, "bin")
        self.output = os.path.join(folder, "out")
        os.makedirs(self.programs)
        os.makedirs(self.output)
        os.chmod(folder, 0o755)
        shutil.copy(os.path.join(build, "keyhole"), self.programs)
        for name in ("keyhole-audit", "keyhole-broker", "keyhole-exporter", "keyhole-kernel-symbols",
                     "keyhole-options", "keyhole-output", "keyhole-rules", "keyhole-debug-reader",
                     "keyhole-connector"):
            os.symlink(os.path.join(build, name), os.path.join(self.programs, name))
        self.worker = open(os.path.join(build, "escape", "malicious_worker"), "rb").read()
        self.at = self.worker.index(b"escape-scenario\0")

    def write_worker(self, scenario):
        path = os.path.join(self.programs, "keyhole-worker")
        if os.path.lexists(path):
            os.unlink(path)
        image = bytearray(self.worker)
        image[self.at:self.at + len(scenario.bytes())] = scenario.bytes()
        with open(path, "wb") as file:
            file.write(image)
        os.chmod(path, 0o755)

    def execute(self, scenario):
        self.write_worker(scenario)
        output = scenario.output
        if output != "-":
            output = os.path.join(self.output, output)
        command = [os.path.join(self.programs, "keyhole"), "record", "-F", "997", "-d",
                   scenario.seconds, "-o", output, "-f", "folded", *scenario.arguments]
        environment = {"PATH": "/usr/bin:/bin", "KEYHOLE_DEBUG_STDERR": "1"}
        if scenario.terminal:
            self.execute_in_terminal(command, environment, scenario)
            return
        with tempfile.TemporaryFile() as printed:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed,
                                       stderr=subprocess.PIPE, env=environment)
            self.watch(process, scenario)
            self.printed = printed.seek(0, os.SEEK_END)

    def execute_in_terminal(self, command, environment, scenario):
        terminal, output = os.openpty()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.PIPE, env=environment)
        self.watch(process, scenario)
        self.shown = os.read(terminal, 65536)
        self.printed = len(self.shown)
        os.close(terminal)
        os.close(output)

    def watch(self, process, scenario):
        """Collects lines with the times they came at; sends the signals after the deed."""
        self.given = 0
        self.lines, self.deed, self.sent, self.refused, rest = [], None, [], 0, b""
        begun = time.monotonic()
        os.set_blocking(process.stderr.fileno(), False)
        selector = selectors.DefaultSelector()
        selector.register(process.stderr, selectors.EVENT_READ)
        signals = list(scenario.signals)
        while True:
            selector.select(0.01)
            now = time.monotonic()
            data = process.stderr.read(1 << 20)
            *whole, rest = (rest + (data or b"")).split(b"\n")
            for line in whole:
                if line.startswith(b"T "):
                    self.deed = int(line[2:]) / 1e9
                elif line.startswith(b"G "):
                    self.given = int(line[2:])
                elif line == b"R":
                    self.refused += 1
                elif len(self.lines) < 1000:
                    self.lines.append((now, line.decode(errors="replace")))
            if data == b"":
                break
            if self.deed and signals and now >= self.deed + signals[0] and \
                    not is_pending(process.pid, signal.SIGTERM):
                process.send_signal(signal.SIGTERM)
                self.sent.append(now)
                signals.pop(0)
            if now > begun + scenario.limit:
                process.kill()
                process.wait()
                self.clean()
                raise Failure(f"still there after {scenario.limit} s")
        self.status = process.wait()
        self.ended = time.monotonic()

    def children(self):
        """Lists the processes whose parent we became: the recording left them behind."""
        found, me = [], os.getpid()
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                fields = open(f"/proc/{name}/stat", errors="replace").read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == me:
                if fields[0] == "Z":
                    os.waitpid(int(name), 0)
                else:
                    found.append(int(name))
        return found

    def clean(self):
        for pid in self.children():
            os.kill(pid, signal.SIGKILL)
        for name in os.listdir(self.output):
            os.unlink(os.path.join(self.output, name))

    def check_nothing_left(self):
        deadline = time.monotonic() + 0.3
        while (left := self.children()) and time.monotonic() < deadline:
            time.sleep(0.01)
        if left:
            raise Failure(f"{len(left)} processes left")
        if self.status and os.listdir(self.output):
            raise Failure("a file was left")

    def check_line(self, scenario):
        """One; or the last, after what the worker or the start may say before."""
        texts = [line for _, line in self.lines]
        if scenario.echo and len(texts) <= LOG_LINES + 1 and \
                all(re.fullmatch(scenario.echo, text) for text in texts[:-1]):
            texts = texts[-1:]
        if len(texts) != 1:
            raise Failure(f"{len(texts)} lines, not one: {texts[:3]}")
        if not re.fullmatch(r"keyhole: " + scenario.expect + r".*", texts[0]):
            raise Failure(f"says: {texts[0]}")

    def clamped(self):
        text = "\n".join(line for _, line in self.lines)
        match = re.search(r"taken (\d+), complete (\d+) \([^)]*\)(?:, complete \(guessed\) (\d+))?"
                          r", cut (\d+).*without names (\d+), lost (\d+)", text)
        if not match:
            raise Failure("no summary: " + text[:200])
        taken, whole, guessed, cut, nameless, lost = (int(n or 0) for n in match.groups())
        if whole + guessed + cut + lost != taken or nameless > whole + guessed + cut:
            raise Failure("impossible: " + match.group())

    def printable(self):
        """The terminal got the words and no command."""
        if b"pwned" not in self.shown or \
                re.search(rb"[^ -~\r\n\t\xa0-\xff]|\xc2[\x80-\x9f]", self.shown):
            raise Failure(f"the terminal got: {self.shown}")

    def obeys(self):
        """The last of the signals ended it."""
        took = (self.ended - self.sent[-1]) * 1000 if self.sent else 1e9
        self.reaction = took
        if took > END_MS:
            raise Failure(f"obeyed after {took:.0f} ms")
        if len(self.lines) > 200:
            raise Failure(f"printed {len(self.lines)} lines or more")

    def gives_once(self):
        if self.given != 24:
            raise Failure(f"{self.given} segments, not 24")

    def passed_on(self):
        """The peer says what it saw, the loader that it is gone."""
        texts = [line for _, line in self.lines]
        if len(texts) != 2 or not re.match(r"keyhole-(\w+): \1: ", texts[0]) or \
                not re.match(r"keyhole: monitor: keyhole-\w+: ended by itself", texts[1]):
            raise Failure(f"says: {texts[:3]}")

    def refused_early(self):
        """Each worker does it, so the recording fails for the exporter or for the third worker."""
        texts = [line for _, line in self.lines]
        if self.printed:
            raise Failure(f"{self.printed} bytes in standard output")
        if not any(re.match(rf"keyhole: ({ENDS}|monitor: keyhole-exporter: ended by itself, status 1"
                            r"|output: -: Input/output error)", text) for text in texts):
            raise Failure(f"says: {texts}")

    def unproven(self):
        """A line for each layer."""
        for _, line in self.lines:
            if not re.match(r"keyhole: start: keyhole-worker: not confined: ", line):
                raise Failure(f"says: {line}")
        if not self.lines:
            raise Failure("nothing said")

    def judge(self, scenario):
        self.execute(scenario)
        try:
            if self.status != scenario.status:
                raise Failure(f"exit status {self.status}: {[l for _, l in self.lines[:3]]}")
            self.check_nothing_left()
            method = getattr(self, scenario.expect, None) if scenario.expect.isidentifier() else None
            if method:
                method()
            else:
                self.check_line(scenario)
                self.check_time(scenario)
        finally:
            self.clean()

    def check_time(self, scenario):
        """While it samples. Before, the loader looks at nobody until it has no rights."""
        if scenario.moment < RUN or not self.deed:
            return
        took = (self.lines[-1][0] - self.deed) * 1000
        self.reaction = took
        self.over = (self.ended - self.deed) * 1000
        if took > scenario.stall:
            raise Failure(f"noticed after {took:.0f} ms")


LATE = ("noticed after", "obeyed after")


def work(build, directory, results, scenarios, tries):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    run = Run(build, directory)
    with open(results, "w") as file:
        for scenario in scenarios:
            begun = time.monotonic()
            for _ in range(tries):
                run.reaction, run.deed, run.refused, run.over = 0, None, 0, 0
                try:
                    run.judge(scenario)
                    verdict = "ok"
                except Failure as failure:
                    verdict = str(failure)
                if not verdict.startswith(LATE):
                    break
            took = time.monotonic() - begun
            print(f"{scenario.name}\t{run.reaction:.1f}\t{took:.2f}\t{verdict}\t{run.refused}\t"
                  f"{run.over:.0f}", file=file,
                  flush=True)


def side_by_side(build, top, shares, tries=1):
    """Returns the lines of results, and whether a worker has crashed. shares: lists of scenarios."""
    pids = []
    for number, share in enumerate(shares):
        directory = os.path.join(top, f"{tries}-{number}")
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work(build, directory, directory + ".results", share, tries)
                status = 0
            except BaseException:
                traceback.print_exc()
            os._exit(status)
        pids.append(pid)
    crashed = any([os.waitpid(pid, 0)[1] for pid in pids])
    lines = [line.rstrip("\n").split("\t") for number in range(len(shares))
             for line in open(os.path.join(top, f"{tries}-{number}.results"))]
    return lines, crashed


def judge_all(build, top):
    """A stall of the loader comes again when no other recording floods it, a busy machine's may not."""
    lines, crashed = side_by_side(build, top, [chosen()[number::WORKERS]
                                               for number in range(WORKERS)])
    late = {line[0] for line in lines if line[3].startswith(LATE)}
    if late and not crashed:
        again, crashed = side_by_side(build, top, [[scenario for scenario in chosen()
                                                    if scenario.name in late]], tries=3)
        lines = [line for line in lines if line[0] not in late] + again
    return lines, crashed


def judge_refusals(count):
    """Where the kernel can refuse descriptors on a socket, none came as far as our checks."""
    what = f"violations: {count} messages with descriptors refused by the kernel itself"
    with socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0] as probe:
        try:
            probe.setsockopt(socket.SOL_SOCKET, SO_PASSRIGHTS, 0)
        except OSError:
            print(f"ok - {what} # SKIP it has no SO_PASSRIGHTS")
            return True
    print(f"{'ok' if count else 'not ok'} - {what}")
    return count > 0


def main():
    if os.geteuid():
        print("not root", file=sys.stderr)
        return 77
    build = os.path.abspath(sys.argv[1])
    planned = len(chosen())
    # one for each, one for their sum, one for descriptors that the kernel refuses
    print(f"1..{planned + 1 + (len(sys.argv) == 2)}", flush=True)
    top = tempfile.mkdtemp(prefix="keyhole-escape.")
    os.chmod(top, 0o755)
    try:
        lines, crashed = judge_all(build, top)
    finally:
        shutil.rmtree(top)
    bad = [line for line in lines if line[3] != "ok"]
    for line in lines:
        print(f"ok - violations: {line[0]}" if line[3] == "ok"
              else f"not ok - violations: {line[0]}: {line[3]}")
    slowest = max((float(line[1]) for line in lines if line[3] == "ok"), default=0)
    print(f"# {len(lines)} recordings, {sum(float(line[2]) for line in lines):.0f} s in all; "
          f"the slowest reaction took {slowest:.0f} ms")
    refused = len(sys.argv) > 2 or judge_refusals(sum(int(line[4]) for line in lines))
    late = max((int(line[5]) for line in lines if line[3] == "ok"), default=0)
    print(f"# {late} ms at most from a violation to the end of keyhole, and so of sampling")
    for line in sorted(lines, key=lambda l: -float(l[2]))[:5]:
        print(f"# {line[2]} s: {line[0]}")
    good = len(lines) > 0 and len(lines) == planned and not bad and not crashed
    print(f"{'ok' if good else 'not ok'} - violations: {len(lines)} recordings with a worker that "
          f"was taken over, of {planned}")
    return not (good and refused)


if __name__ == "__main__":
    sys.exit(main())
