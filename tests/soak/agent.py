#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""agent.py BUILD: `keyhole agent` for SOAK_SECONDS (600) beside EXECS (200) new processes a second, with a server
that takes all. From a quarter of the time on, memory of the processes, memory of BPF's maps and descriptors stay
as they are. Prints TAP and the curve. SOAK_ONLY=1: the agent sees these processes alone, where others are busy. Root.
"""
import http.server
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))
EXECS = float(os.environ.get("SOAK_EXECS", "200"))
NEW_PROGRAM = 1000      # of so many execs, one is of a program that nobody has seen
ONLY = os.environ.get("SOAK_ONLY") == "1"
STEP = 2                # s between two looks
ROWS = 12               # of the curve
MIB = 1 << 20
# Growth of medians from the second quarter of the time to the last one, in MiB. Some caches fill up slowly.
GROWTH, MAPS_GROWTH = 3, 0.5
# The worker keeps files of programs for a while after their last process, and closes many at once
# (TRACKER_SWEEP_OBJECTS of worker/process/tracker.h). Other processes may have a window or a socket under way.
WORKER_DESCRIPTORS, DESCRIPTORS = 2048, 2
OK_BODY = b"\x0a\x00"


class Sink(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests = received = 0

    def do_POST(self):
        Sink.received += len(self.rfile.read(int(self.headers["Content-Length"])))
        Sink.requests += 1
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(OK_BODY)))
        self.end_headers()
        self.wfile.write(OK_BODY)

    def log_message(self, *arguments):
        del arguments


class Execs(threading.Thread):
    """Starts programs at the rate, as well as the machine can."""

    def __init__(self, program, folder):
        super().__init__(daemon=True)
        self.program, self.folder, self.count, self.ended = program, folder, 0, False

    def start_one(self):
        program = self.program
        if self.count % NEW_PROGRAM == 0:
            program = os.path.join(self.folder, f"program{self.count // NEW_PROGRAM}")
            with open(self.program, "rb") as file, open(program, "wb") as copy:
                copy.write(file.read() + str(self.count).encode())
            os.chmod(program, 0o755)
        pid = os.posix_spawn(program, [program, "1"], {})
        if program != self.program:
            os.waitpid(pid, 0)
            os.unlink(program)
        self.count += 1

    def run(self):
        begun = time.monotonic()
        while not self.ended:
            if self.count < (time.monotonic() - begun) * EXECS:
                self.start_one()
            else:
                time.sleep(0.5 / EXECS)
            self.reap()
        self.reap()

    @staticmethod
    def reap():
        """All that have ended but the agent, which has a group of its own."""
        try:
            while os.waitid(os.P_PGID, os.getpgid(0), os.WEXITED | os.WNOHANG):
                pass
        except ChildProcessError:
            pass


def text_of(*path):
    with open(os.path.join(*path), encoding="ascii", errors="replace") as file:
        return file.read()


def children(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        found += [int(child) for child in text_of(f"/proc/{pid}/task/{task}/children").split()]
    return found


def family(pid):
    pids = [pid]
    for one in pids:
        pids += children(one)
    return pids


def maps_of(pid, found):
    """Adds {id: bytes} of the maps of BPF that a process holds."""
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            rows = dict(re.findall(r"^(\w+):\s+(\S+)$", text_of(f"/proc/{pid}/fdinfo/{name}"), re.M))
        except OSError:
            continue
        if "map_id" in rows:
            found[rows["map_id"]] = int(rows["memlock"])


def look(agent):
    """(MiB resident, MiB of them private, MiB of maps, {process but a broker: descriptors}). Pages that processes share
    count once, and so do those of maps."""
    resident = private = 0
    maps, descriptors = {}, {}
    for pid in family(agent):
        try:
            rows = dict(re.findall(r"^(\w+):\s+(\d+) kB", text_of(f"/proc/{pid}/smaps_rollup"), re.M))
        except ProcessLookupError:
            continue  # it has ended, and nobody has waited for it yet
        resident += int(rows["Pss"]) / 1024
        private += int(rows["Pss_Anon"]) / 1024
        name = text_of(f"/proc/{pid}/comm").strip()
        if name != "keyhole-broker":  # which is replaced where a process hangs it
            descriptors[f"{name} {pid}"] = len(os.listdir(f"/proc/{pid}/fd"))
        maps_of(pid, maps)
    return resident, private, sum(maps.values()) / MIB, descriptors


class Results:
    count = failed = 0


def tap(holds, name):
    Results.count += 1
    Results.failed += not holds
    print(f"{'ok' if holds else 'not ok'} {Results.count} - soak: agent: {name}", flush=True)
    return holds


def watch(agent, execs):
    """[(seconds, look())]"""
    begun, looks, shown = time.monotonic(), [], 0
    while time.monotonic() - begun < SECONDS and agent.poll() is None:
        time.sleep(STEP)
        try:
            looks.append((time.monotonic() - begun, look(agent.pid)))
        except OSError:
            continue  # a process that has just ended
        seconds, (resident, private, maps, descriptors) = looks[-1]
        if seconds >= shown * SECONDS / ROWS:
            shown += 1
            print(f"# {seconds:5.0f} s {execs.count:7d} execs {resident:6.1f} MiB resident, {private:5.1f} private, "
                  f"{maps:5.1f} of maps, {sum(descriptors.values()):4d} descriptors of {len(descriptors)} processes, "
                  f"{Sink.requests} requests", flush=True)
    return looks


def median(looks, first, last, column):
    return statistics.median(row[column] for seconds, row in looks
                             if first * SECONDS <= seconds <= last * SECONDS)


def judge(looks):
    for column, name, limit in ((0, "resident memory", GROWTH), (1, "private memory", GROWTH),
                                (2, "memory of maps", MAPS_GROWTH)):
        before, after = median(looks, 0.25, 0.5, column), median(looks, 0.75, 1, column)
        print(f"# {name}: {before:.1f} MiB in the second quarter, {after:.1f} in the last one, at most "
              f"{max(row[column] for _, row in looks):.1f}")
        tap(after - before <= limit, f"{name} is flat")
    quarter = [row[3] for seconds, row in looks if 0.25 * SECONDS <= seconds <= 0.5 * SECONDS]
    last = [row[3] for seconds, row in looks if seconds >= 0.75 * SECONDS]
    before, after = ({name: max(row.get(name, 0) for row in rows) for name in rows[-1]} for rows in (quarter, last))
    for name in before.keys() ^ after.keys():
        print("# not always there:", name)
    tap(before.keys() == after.keys(), "the same processes to the end, but for brokers")
    worker = next(name for name in after if name.startswith("keyhole-worker"))
    print(f"# descriptors: the worker's {before.get(worker, 0)} at most in the second quarter, {after[worker]} in the "
          "last one")
    tap(after[worker] <= WORKER_DESCRIPTORS, "the worker's descriptors are bounded")
    tap(all(after.get(name, 0) <= before[name] + DESCRIPTORS for name in before.keys() - {worker}),
        "other descriptors are flat")


def soak(build, folder, port):
    log, spool = os.path.join(folder, "log"), os.path.join(folder, "spool")
    os.mkdir(spool)
    with open(log, "w", encoding="utf-8") as file:
        agent = subprocess.Popen(
            [build + "/keyhole", "agent", "-v", "--endpoint", f"http://127.0.0.1:{port}", "--interval", "5", "--spool",
             "64M", "--directory", spool, *(["-p", str(os.getpid())] if ONLY else [])],
            stdin=subprocess.DEVNULL, stderr=file, process_group=0)
    execs = Execs(build + "/workloads/short", folder)
    try:
        time.sleep(2)
        execs.start()
        looks = watch(agent, execs)
    finally:
        execs.ended = True
        if execs.ident:
            execs.join()
        agent.send_signal(signal.SIGTERM)
        status = agent.wait()
    if not tap(len(looks) > SECONDS / STEP / 4, "it runs to the end"):
        print("# " + "\n# ".join(text_of(log).splitlines()[-5:]))
        return
    rate = execs.count / SECONDS
    print(f"# {rate:.0f} execs a second, {Sink.requests} requests of {Sink.received / MIB:.2f} MiB together")
    judge(looks)
    tap(status == 0, "it ends well")
    tap(Sink.requests >= SECONDS / 5 * 0.8, "each window came")
    tap(not os.listdir(spool), "nothing stays on disk")
    for line in text_of(log).splitlines():
        if re.match(r"samples: |  (lost|note) |.*(tables|stream|names|requests): ", line):
            print("# " + line)


def main():
    if os.geteuid():
        print("not root", file=sys.stderr)
        return 77
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BUILD", "build"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="keyhole-agent.") as folder:
        soak(build, folder, server.server_address[1])
    server.shutdown()
    print(f"1..{Results.count}")
    return Results.failed > 0


if __name__ == "__main__":
    sys.exit(main())
