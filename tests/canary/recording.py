# SPDX-License-Identifier: Apache-2.0
"""A recording and, as root sees them from outside, its processes, maps, rings and output."""
import glob
import gzip
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time

START = 20      # seconds
PT_LOAD = 1
PARSERS = ("keyhole-worker", "keyhole")     # of files; of the kernel's types
TEXT = 0xffffffff80000000


class Recording:
    """keyhole record in a folder of its own; name says which."""

    def __init__(self, build, folder, name, output, arguments):
        self.folder, self.log = folder, os.path.join(folder, name + ".log")
        self.output = os.path.join(folder, name + output)
        command = [os.path.join(build, "keyhole")] + self.words() + arguments
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        begun = time.monotonic()
        while "enabled" not in open(self.log).read():
            if self.process.poll() is not None or time.monotonic() > begun + START:
                raise SystemExit("recording: " + open(self.log).read()[-500:])
            time.sleep(0.01)
        self.processes = family(self.process.pid)

    def words(self):
        return ["record", "-v", "-o", self.output]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def end(self):
        """True when it ended well; the files that it left."""
        self.process.send_signal(signal.SIGINT)
        good = self.process.wait() == 0
        files = [self.log] + glob.glob(self.output)
        for path in files:
            if path.endswith(".gz"):
                with open(path + ".plain", "wb") as file:
                    file.write(gzip.open(path).read())
                files.append(path + ".plain")
        return good, files

    def maps(self):
        """map places, by the ids of what the loader holds"""
        ids = set()
        for path in glob.glob(f"/proc/{self.process.pid}/fdinfo/*"):
            try:
                ids |= set(re.findall(r"^map_id:\s*(\d+)", open(path).read(), re.M))
            except OSError:
                pass
        return [f"map:{number}" for number in sorted(ids, key=int)]

    def rings(self):
        """perf rings, through the worker's descriptors"""
        worker = next(pid for pid, name in self.processes.items() if name == "keyhole-worker")
        sizes = {int(end, 16) - int(start, 16) for start, end in
                 re.findall(r"^(\w+)-(\w+) .*anon_inode:\[perf_event\]",
                            open(f"/proc/{worker}/maps").read(), re.M)}
        return [f"perf:{worker}:{fd}:{max(sizes)}" for fd in os.listdir(f"/proc/{worker}/fd")
                if link_of(worker, fd) == "anon_inode:[perf_event]"]

    def memory(self):
        return [("parser" if name in PARSERS else "memory") + f":{pid}"
                for pid, name in self.processes.items()]


class Agent(Recording):
    """keyhole agent; its output is what its server gets, and what it keeps on disk for the server."""

    def __init__(self, build, folder, name, arguments):
        self.traffic = os.path.join(folder, name + ".traffic")
        self.server = Server(self.traffic)
        self.spool = os.path.join(folder, name)
        os.mkdir(self.spool)
        super().__init__(build, folder, name, "/*", arguments)

    def words(self):
        return ["agent", "-v", "--endpoint", f"http://127.0.0.1:{self.server.port}", "--compression", "none",
                "--interval", "1", "--directory", self.spool, "--spool", "64M"]

    def end(self):
        good, files = super().end()
        self.server.close()
        return good, files + [self.traffic]


class Server:
    """Takes requests by HTTP and keeps their bytes, as they come on the wire."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.requests = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                link, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link):
        """Half of the requests find no room, so that the agent keeps profiles on disk meanwhile."""
        with link, link.makefile("rb") as stream:
            while self.take(stream):
                self.requests += 1
                answer = "200 OK"
                if self.requests % 2:
                    answer = "503 Service Unavailable\r\nRetry-After: 1"
                link.sendall(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n".encode())

    def take(self, stream):
        size = None
        while line := stream.readline():
            self.file.write(line)
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
            if line == b"\r\n":
                self.file.write(stream.read(size))
                self.file.flush()
                return True
        return False

    def close(self):
        self.socket.close()
        self.file.close()


def link_of(pid, fd):
    """The worker opens and closes some all the time: None is one that is closed by now."""
    try:
        return os.readlink(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return None


def family(root):
    """{pid: comm} of a process and all below it"""
    parents, names = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = open(f"/proc/{name}/stat", errors="replace").read()
        except OSError:
            continue
        comm, rest = text.split("(", 1)[1].rsplit(")", 1)
        names[int(name)], parents[int(name)] = comm, int(rest.split()[1])
    found, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return {pid: names[pid] for pid in found}


# ---- where the kernel is ------------------------------------------------------------------------

def core_ranges():
    """Returns the ranges that /proc/kcore names: vmalloc, direct map and vmemmap."""
    try:
        with open("/proc/kcore", "rb") as file:
            head = file.read(64)
            at, = struct.unpack_from("<Q", head, 32)
            width, count = struct.unpack_from("<HH", head, 54)
            file.seek(at)
            table = file.read(width * count)
    except OSError:
        return []
    found = []
    for i in range(count):
        kind, _, _, start, _, _, size, _ = struct.unpack_from("<IIQQQQQQ", table, i * width)
        if kind == PT_LOAD and size and start < TEXT:
            found.append((start, start + size, "~kcore"))
    return found


def kernel_ranges():
    """[(start, end, name)], read now. Named with "~": so wide that much else lies in it."""
    text, others = [], []
    for line in open("/proc/kallsyms"):
        address, _, name = line.split()[:3]
        if name in ("_stext", "_etext"):
            text.append(int(address, 16))
        elif line.rstrip().endswith("]") and int(address, 16) >= TEXT:
            others.append(int(address, 16))
    if not text or not text[0]:
        raise SystemExit("recording: /proc/kallsyms: no addresses")
    found = [(min(text), max(text), "text")]
    if others:
        found.append((min(others), max(others) + 4096, "modules-and-BPF"))
    # without /proc/kcore: Documentation/arch/x86/x86_64/mm.rst, where nothing is random
    return found + (core_ranges() or [(0xffffc90000000000, 0xffffe90000000000, "~vmalloc"),
                                      (0xffffea0000000000, 0xffffeb0000000000, "~vmemmap")])
