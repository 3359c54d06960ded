#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""canary.py BUILD: what no recording may hold of a target's secrets and of the kernel's addresses.

Secrets: tests/canary/target.c. Where they are looked for: search.c. Addresses: watch.c. Each kind of
search is first shown to find what is there. Prints TAP and figures. Root.
"""
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time

from recording import START, Agent, Recording, kernel_ranges

GIVEN = 16          # secrets in arguments, and as many in the environment
RECORD_SECONDS = 3
WATCH_SECONDS = 6
HZ = "997"
WATCH_HZ = "1999"
SECRET = 16
HEAP = 512          # secrets, target.c
PRIVATE_LOOKS = 10  # what is there is of the last sample


class Tap:
    failed = 0

    def __call__(self, good, text):
        self.failed += not good
        print(("ok" if good else "not ok") + f" - canary: {text}", flush=True)


class Target:
    """Runs until it is ended; collects what it says of its secrets."""

    def __init__(self, build, seconds):
        given = [bytes(secrets.randbelow(255) + 1 for _ in range(SECRET)) for _ in range(2 * GIVEN)]
        ours, theirs = os.pipe()
        environment = {b"PATH": b"/usr/bin:/bin"}
        for i, secret in enumerate(given[GIVEN:]):
            environment[b"SECRET_%d" % i] = secret
        program = os.path.join(build, "canary", "target").encode()
        self.process = subprocess.Popen([program, str(theirs), str(seconds)] + given[:GIVEN],
                                        env=environment, pass_fds=[theirs])
        os.close(theirs)
        self.given, self.made = given, bytearray()
        self.reader = threading.Thread(target=self.read, args=(ours,), daemon=True)
        self.reader.start()

    def read(self, fd):
        while piece := os.read(fd, 65536):
            self.made += piece

    def await_secrets(self):
        """Waits for the secrets in the heap, the first that the target makes."""
        begun = time.monotonic()
        while len(self.made) < HEAP * SECRET and time.monotonic() < begun + START:
            time.sleep(0.01)

    def secrets(self):
        return bytes(self.made[:len(self.made) // SECRET * SECRET]) + b"".join(self.given)

    def end(self):
        subprocess.run(["pkill", "-KILL", "-P", str(self.process.pid)], check=False)
        self.process.kill()
        self.process.wait()


class Search:
    """Adds up what the looks found."""

    def __init__(self, build):
        self.program = os.path.join(build, "canary", "search")
        self.looks = self.bytes = 0
        self.hits, self.places = {}, {}

    def look(self, target, places):
        run = subprocess.run([self.program] + places, input=target.secrets(), check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.looks += 1
        for line in run.stdout.decode().splitlines():
            place, name, size, hits = line.split("\t")
            if name == "not there":
                continue
            self.bytes += int(size)
            self.places[place] = name
            self.hits[place] = self.hits.get(place, 0) + int(hits)

    def count(self, private):
        return sum(hits for place, hits in self.hits.items()
                   if self.places[place].startswith("private") == private)

    def where(self):
        return sorted(self.places[place] for place, hits in self.hits.items() if hits)


# ---- secrets --------------------------------------------------------------------------------------

def look_on(search, target, recording, seconds):
    begun = time.monotonic()
    places = recording.maps() + recording.rings() + recording.memory()
    while time.monotonic() < begun + seconds:
        search.look(target, places)
    private = [place for place, name in search.places.items() if name.startswith("private")]
    for _ in range(PRIVATE_LOOKS):
        search.look(target, private)
    return places


def test_record(tap, build, folder, target, name, output, arguments):
    return check(tap, build, target, name,
                 Recording(build, folder, name, output, ["-F", HZ, "-d", "60"] + arguments))


def test_agent(tap, build, folder, target):
    """The exporter's memory, the bytes for the server, and what waits on disk."""
    agent = Agent(build, folder, "agent", ["-F", HZ, "-p", str(target.process.pid)])
    private = check(tap, build, target, "agent", agent)
    size = os.path.getsize(agent.traffic)
    tap(agent.server.requests > 1 and size > 1000,
        f"agent: its server got {agent.server.requests} requests of {size >> 10} KB together")
    return private


def check(tap, build, target, name, started):
    search = Search(build)
    with started as recording:
        places = look_on(search, target, recording, RECORD_SECONDS)
        good, files = recording.end()
    search.look(target, [f"file:{path}" for path in files])
    missing = [place for place in places if place not in search.places and place[:3] != "map"]
    tap(good and not missing, f"{name}: the recording ended well, all could be looked at {missing}")
    kinds = {}
    for place in search.places:
        kinds[place.split(":")[0]] = kinds.get(place.split(":")[0], 0) + 1
    text = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    tap(search.count(private=False) == 0,
        f"{name}: {len(target.secrets()) // SECRET} secrets, {search.looks - PRIVATE_LOOKS} looks, "
        f"{search.bytes >> 20} MB ({text}): no hit {[w for w in search.where() if w[:7] != 'private']}")
    return search.count(private=True)


def test_search_finds(tap, build, folder, target):
    search = Search(build)
    search.look(target, [f"memory:{target.process.pid}"])
    found = search.count(private=False)
    tap(found > 2 * GIVEN, f"control: {found} hits in the target itself")
    word = int.from_bytes(target.given[0][8:], "little")
    path = os.path.join(folder, "planted")
    for what, text in (("bytes", b"x" + target.given[0][4:12] + b"x"),
                       ("an address in text", b"?? 0x%x ??\n" % word),
                       ("48 bits of one", b";%x;" % (word & (1 << 48) - 1)),
                       ("a dump", target.given[0].hex().encode())):
        with open(path, "wb") as file:
            file.write(text)
        search = Search(build)
        search.look(target, [f"file:{path}"])
        tap(search.count(private=False) > 0, f"control: found as {what} in a file")


def test_leaky(tap, build, folder, target):
    search = Search(build)
    with Recording(os.path.join(build, "leaky"), folder, "leaky", ".folded",
                   ["-F", HZ, "-d", "60"]) as recording:
        begun = time.monotonic()
        while "map rings" not in search.where() and time.monotonic() < begun + 10:
            search.look(target, recording.maps())
        hits, *_ = watch(build, recording, "all", 1)
        recording.end()
    found = search.where()
    tap("map rings" in found, f"control: a sampler that tells stack words is found out: {found}")
    tap(hits["kernel"][2] > 0,
        f"control: one that tells kernel addresses is found out: {hits['kernel'][2]} times")
    tap(hits["others"][2] > 0, f"control: and what private maps hold: {hits['others'][2]} words")


# ---- kernel addresses ---------------------------------------------------------------------------

def watch(build, recording, what, seconds):
    """{thread: (passes, bytes, hits, those in ranges with "~" alone)}, places, output"""
    ranges = "".join(f"{start:x} {end:x} {name}\n" for start, end, name in kernel_ranges())
    places = recording.maps() + recording.rings() + recording.memory()
    run = subprocess.run([os.path.join(build, "canary", "watch"), what, str(seconds)] + places,
                         input=ranges, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, check=True)
    result = {}
    for line in run.stdout.splitlines():
        if not line.startswith("#"):
            name, *numbers = line.split("\t")
            result[name] = tuple(map(int, numbers))
    return result, places, [line for line in run.stdout.splitlines() if line.startswith("#")]


def test_kernel(tap, build, folder, name):
    """Hits beside what the kernel writes, how many of them chance can explain, where that is."""
    with Recording(build, folder, name, ".folded", ["-F", WATCH_HZ, "-d", "60"]) as recording:
        load = subprocess.Popen([os.path.join(build, "canary", "load"), str(WATCH_SECONDS)])
        result, places, lines = watch(build, recording, "mapped", WATCH_SECONDS)
        load.wait()
        good, files = recording.end()
    passes, size, hits, _ = result["kernel"]
    for line in lines:
        print(line)
    kernel = sum(1 for line in open(files[1]) if ";[kernel];" in line or "_[k]" in line)
    print(f"# {kernel} lines with kernel frames in the output")
    tap(good and hits == 0 and passes > 100,
        f"no kernel address in what the kernel writes: {passes} passes of "
        f"{size // max(passes, 1) >> 10} KB in {WATCH_SECONDS} s "
        f"({sum(p[:4] == 'perf' for p in places)} side-band rings, sample rings, events, counters)")
    texts = [path for path in files if has_address(path)]
    tap(not texts, f"none in logs and output {texts}")
    passes, size, hits, wide = result["others"]
    return hits, wide, (f"the memory of {len(recording.processes)} processes and in what they "
                        f"write for BPF: {passes} passes, {size >> 20} MB")


def test_kernel_twice(tap, build, folder):
    """A word that is random is another one in another recording; an address is there again."""
    hits, wide, where = test_kernel(tap, build, folder, "kernel")
    if hits and hits == wide:
        print(f"# {hits} in {where}; by chance, perhaps: once more")
        hits, _, where = test_kernel(tap, build, folder, "again")
    tap(hits == 0, f"none in {where}")


def has_address(path):
    """Sixteen hexadecimal digits that begin as all kernel addresses do."""
    import re
    return re.search(rb"(?<![0-9a-f])ffff[89a-f][0-9a-f]{11}(?![0-9a-f])",
                     open(path, "rb").read()) is not None


def main():
    if os.geteuid():
        print("not root", file=sys.stderr)
        return 77
    build, tap = os.path.abspath(sys.argv[1]), Tap()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="keyhole-canary.") as folder:
        target = Target(build, 60)
        try:
            target.await_secrets()
            test_search_finds(tap, build, folder, target)
            private = test_record(tap, build, folder, target, "folded", ".folded", [])
            private += test_record(tap, build, folder, target, "pprof", ".pb.gz",
                                   ["--by-thread", "-p", str(target.process.pid)])
            private += test_agent(tap, build, folder, target)
            tap(private > 0, f"control: {private} hits in scratch memory that nobody can map: the "
                "sampler did see secrets")
            test_leaky(tap, build, folder, target)
        finally:
            target.end()
        test_kernel_twice(tap, build, folder)
    print(f"# {time.monotonic() - begun:.0f} s")
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main())
