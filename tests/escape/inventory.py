#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inventory.py BUILD [print]: which descriptors each process of a recording holds.

Kind, access mode and number of each, against the table below: when sampling starts, while it goes
on, and after ESCAPE_SOAK_SECONDS (60). Prints TAP. Root.
"""
import collections
import fcntl
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time

SOAK = float(os.environ.get("ESCAPE_SOAK_SECONDS", "60"))
CPUS = os.cpu_count()
START = 20              # seconds at most
STEADY = 60             # the same, until the same processes are there for a second
COUNTERS_BYTES = 512    # sizeof(struct counters), bpf/abi.h
FILE_BYTES_MAX = 1 << 30 # RLIMIT_FSIZE of the worker, policy/roles.h
MEMORY_MAX = 3 * 2**30 + 2**20  # SECURITY.md
F_GET_SEALS, F_SEAL_GROW = 1034, 4
RULES_MAX = 320         # DENY_KEYS_MAX, bpf/abi.h
POSSIBLE = 4096         # objects that the worker may have open
MODES = ("r", "w", "rw", "?")
NAMES = {"keyhole": "loader", "keyhole-output": "committer", "keyhole-spawner": "spawner",
         "keyhole-exporte": "keyhole-exporter"}

# kind of descriptor, mode: least, most, and what it is for.
GOLDEN = {
    "loader": {
        ("inherited", "*"): (3, 3, "standard input, output and error of who started it"),
        ("memfd", "rw"): (0, 1, "kernel symbols, given to the worker"),
        ("file", "w"): (1, 1, "the temporary output, given to the exporter"),
        ("file", "r"): (1, 1, "the list of CPUs that are online"),
        ("file", "rw"): (0, 1, "without a name, for samples beyond memory, given to the worker"),
        ("signalfd", "rw"): (1, 1, "the signals that would end keyhole"),
        ("socket", "rw"): (8, 9, "three or four children, four spawners, the committer"),
        ("folder", "path"): (0, 1, "/proc, to look at children"),
        ("map ringbuf", "rw"): (1, 1, "events"),
        ("map array", "rw"): (8, 80, "segments, rings, tails, processes, counters, constants"),
        ("map other", "rw"): (1, 16, "segments, targets, caches of the sampler"),
        ("map other", "r"): (1, 1, "processes and whether they are denied"),
        ("prog", "rw"): (1, 16, "programs"),
        ("link", "r"): (1, 16, "attachments: tracepoints and the task iterator"),
        ("iter", "r"): (1, 2, "run time of all tasks, one for each end, given to the committer"),
        ("perf", "rw"): (2 * 1, 2 * CPUS, "sampling and side-band of each CPU"),
        ("btf", "r"): (0, 2, "types of the object"),
        ("pipe", "r"): (0, 1, "symbols, from the process that reads them"),
    },
    "committer": {
        ("inherited", "*"): (3, 3, "as the loader"),
        ("socket", "rw"): (1, 1, "loader"),
        ("file", "w"): (0, 1, "the temporary output"),
        ("iter", "r"): (1, 1, "run time of all tasks, for the end"),
        ("folder", "path"): (0, 8, "folders of debug files"),
        ("program", "path"): (1, 1, "what reads debug information, to execute it"),
    },
    "keyhole-debug": {
        ("inherited", "*"): (3, 3, "as the loader"),
        ("socket", "rw"): (1, 1, "worker"),
        ("folder", "path"): (0, 8, "folders of debug files"),
        ("program", "path"): (1, 1, "what reads debug information, to execute it"),
    },
    "spawner": {
        ("null", "rw"): (3, 3, "standard input, output and error"),
        ("socket", "rw"): (1, 1, "loader"),
        ("program", "path"): (1, 1, "the role's program, to execute it again"),
        ("pidfd", "rw"): (0, 1, "its child, which a penal broker's has after a hang"),
    },
    "keyhole-worker": {
        ("null", "rw"): (3, 3, "standard input, output and error"),
        ("socket", "rw"): (4, 5, "loader, one or two brokers, exporter, debug files"),
        ("eventpoll", "rw"): (1, 1, "event loop"),
        ("eventfd", "rw"): (0, 2, "parser thread to event loop"),
        ("timerfd", "rw"): (0, 1, "event loop"),
        ("pipe", "r"): (0, 2, "signals of the event loop; what a process says, from the broker"),
        ("pipe", "w"): (0, 1, "signals of the event loop"),
        ("map ringbuf", "rw"): (1, 1, "events: it writes how far it has read"),
        ("map array", "rw"): (0, 1100, "rings, tails, process table, segments"),
        ("perf", "rw"): (1, CPUS, "side-band: cannot sample"),
        ("file", "r"): (0, POSSIBLE, "objects that are being read, from the broker"),
        ("file", "rw"): (0, 1, "without a name, for samples beyond memory"),
        ("memfd", "rw"): (6, 6, "profiles, and questions for source lines"),
        ("maps", "r"): (0, 64, "lists of mappings, from the broker"),
    },
    "keyhole-exporter": {
        ("null", "rw"): (3, 3, "standard input, output and error"),
        ("socket", "rw"): (2, 2, "loader, worker"),
        ("file", "w"): (1, 1, "the temporary output"),
        ("eventpoll", "rw"): (1, 1, "event loop"),
        ("pipe", "r"): (0, 1, "signals of the event loop"),
        ("pipe", "w"): (0, 1, "signals of the event loop"),
    },
    "keyhole-broker": {
        ("null", "rw"): (3, 3, "standard input, output and error"),
        ("socket", "rw"): (2, 2, "loader, worker"),
        ("map other", "rw"): (2, 2, "map of segments, map of grants"),
        ("map other", "r"): (1, 1, "processes and whether they are denied"),
        ("file", "r"): (0, 1, "on its way to the worker"),
        ("file", "path"): (0, 1, "being looked at"),
        ("maps", "r"): (0, 1, "on its way to the worker"),
        ("map array", "rw"): (0, 1, "a segment on its way to the worker"),
        ("pipe", "r"): (0, 1, "what a process says, on its way to the worker"),
        ("pipe", "w"): (0, 1, "the same, while it is filled"),
    },
}


def facts_of(pid, number):
    """Target, status and fdinfo of one descriptor, or None when it is closed by now."""
    path = f"/proc/{pid}/fd/{number}"
    try:
        while True:
            target, status = os.readlink(path), os.stat(path)
            with open(f"/proc/{pid}/fdinfo/{number}") as file:
                info = dict(re.findall(r"^([\w-]+):\s+(\S+)", file.read(), re.M))
            # closed meanwhile, the number may be another's
            if os.readlink(path) == target:
                return target, status, info
    except OSError:
        return None


def kind_of(pid, number, role):
    facts = facts_of(pid, number)
    if not facts:
        return None
    target, status, info = facts
    flags = int(info["flags"], 8)
    mode = "path" if flags & os.O_PATH else MODES[flags & 3]
    if role in ("loader", "committer", "keyhole-debug") and int(number) <= 2:
        return "inherited", "*"
    if target == "/dev/null":
        return "null", mode
    if "map_type" in info:
        names = {"2": "map array", "27": "map ringbuf"}
        return names.get(info["map_type"], "map other"), mode
    for text, kind in (("socket:", "socket"), ("pipe:", "pipe"), ("anon_inode:bpf-prog", "prog"),
                       ("anon_inode:bpf_link", "link"), ("anon_inode:bpf_iter", "iter"),
                       ("anon_inode:bpf-link", "link"), ("anon_inode:btf", "btf"),
                       ("anon_inode:[perf_event]", "perf"), ("pidfd:", "pidfd")):
        if target.startswith(text):
            return kind, mode
    # a program may have been a memfd
    if target.startswith("/memfd:") and role == "loader" or \
            target.startswith("/memfd:keyhole-") and mode == "rw" and role == "keyhole-worker":
        return "memfd", mode
    match = re.match(r"anon_inode:\[(\w+)\]", target)
    if match:
        return match.group(1), mode
    if re.search(r"/\d*/?maps$", target):
        return "maps", mode
    if stat.S_ISDIR(status.st_mode):
        return "folder", mode
    starters = ("spawner", "committer", "keyhole-debug")
    if role in starters and mode == "path" and os.path.basename(target).startswith("keyhole-"):
        return "program", mode
    return "file", mode


def inventory(pid, role):
    kinds = (kind_of(pid, number, role) for number in os.listdir(f"/proc/{pid}/fd"))
    return collections.Counter(kind for kind in kinds if kind)


def stat_of(pid):
    comm, rest = open(f"/proc/{pid}/stat", errors="replace").read().split("(", 1)[1].rsplit(")", 1)
    return comm, int(rest.split()[1])


def processes(loader):
    """{pid: role} of the recording."""
    parents, names = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                names[int(name)], parents[int(name)] = stat_of(name)
            except OSError:
                pass
    family = {loader}
    for _ in range(2):
        family |= {pid for pid, parent in parents.items() if parent in family}
    return {pid: NAMES.get(names[pid], names[pid]) for pid in family if pid in names}


def differences(role, found):
    golden = GOLDEN.get(role)
    if golden is None:
        return [f"a process that is not in the table: {role}"]
    wrong = [f"{kind} {mode}: {count}, not in the table" for (kind, mode), count in found.items()
             if (kind, mode) not in golden]
    for (kind, mode), (least, most, _) in golden.items():
        if not least <= found[kind, mode] <= most:
            wrong.append(f"{kind} {mode}: {found[kind, mode]}, not {least} to {most}")
    return wrong


class Tap:
    count = failed = 0

    def __call__(self, good, text):
        self.count += 1
        self.failed += not good
        print(("ok" if good else "not ok") + f" - {text}", flush=True)


def waits_for_children(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            ignored = re.search(r"^SigIgn:\s+(\w+)$", file.read(), re.M).group(1)
    except OSError:
        return False
    return not int(ignored, 16) >> signal.SIGCHLD - 1 & 1


def await_debug(loader):
    """Waits until keyhole-debug is itself: it was forked before sampling starts, but may still have
    its parent's name or descriptors. The last thing that keyhole-debug changes is that it heeds
    SIGCHLD, as its parent does not."""
    begun = time.monotonic()
    while time.monotonic() < begun + START and \
            not any(role == "keyhole-debug" and waits_for_children(pid)
                    for pid, role in processes(loader).items()):
        time.sleep(0.01)


def brokers_of(roles):
    """The other recordings of the suite may starve a broker: the penal one starts beside it."""
    return max(1, min(2, sum(role == "keyhole-broker" for role in roles)))


def sockets_fit(loader):
    """Returns whether the worker has a socket for each broker, as both are now."""
    roles = processes(loader)
    worker = next((pid for pid, role in roles.items() if role == "keyhole-worker"), None)
    try:
        return inventory(worker, "keyhole-worker")["socket", "rw"] == 3 + brokers_of(roles.values())
    except OSError:
        return False


def look(tap, loader, when, show):
    roles = sorted(processes(loader).items(), key=lambda item: item[1])
    wrong, total, sockets = [], 0, 0
    for pid, role in roles:
        try:
            found = inventory(pid, role)
        except OSError:
            wrong.append(f"{role}: gone")
            continue
        total += sum(found.values())
        if role == "keyhole-worker":
            sockets = found["socket", "rw"]
        if show:
            print(f"# {role}: " + ", ".join(f"{k} {m} {n}" for (k, m), n in sorted(found.items())))
        # what is on its way may be seen twice or not at all: look again
        bad = differences(role, found)
        try:
            if bad and differences(role, inventory(pid, role)):
                wrong += [f"{role}: {text}" for text in bad]
        except OSError:
            wrong.append(f"{role}: gone")
    brokers = brokers_of(role for _, role in roles)
    expected = sorted(["loader", "committer"] + ["spawner"] * 4 + ["keyhole-broker"] * brokers +
                      ["keyhole-worker", "keyhole-exporter", "keyhole-debug"])
    if sorted(role for _, role in roles) != expected:
        wrong.append(f"processes: {[role for _, role in roles]}")
    # a broker may have started between the list of processes and that of the worker's descriptors
    if sockets and sockets != 3 + brokers and not sockets_fit(loader):
        wrong.append(f"keyhole-worker: {sockets} sockets, with {brokers} brokers")
    for text in wrong:
        print(f"# {text}")
    tap(not wrong, f"inventory: {len(roles)} processes hold {total} descriptors as listed, {when}")


def counters_are_frozen(tap, loader):
    """Checks that nobody but BPF can write to the committer's maps, by any descriptor."""
    frozen = []
    for number in os.listdir(f"/proc/{loader}/fd"):
        _, _, info = facts_of(loader, number) or (None, None, {})
        if info.get("map_type") == "2" and \
                (info["value_size"] == str(COUNTERS_BYTES) or info["max_entries"] == str(RULES_MAX + 1)):
            frozen.append(info["frozen"])
    tap(frozen == ["1", "1"], "inventory: the maps of counters and of denied samples are frozen")


def memory_is_bounded(tap, loader):
    """All files that the worker can fill with memory: sealed sizes, and one up to RLIMIT_FSIZE."""
    total = 0
    for pid, role in processes(loader).items():
        for number in os.listdir(f"/proc/{pid}/fd") if role == "keyhole-worker" else ():
            if not os.readlink(f"/proc/{pid}/fd/{number}").startswith("/memfd:keyhole-") or \
                    kind_of(pid, number, role) != ("memfd", "rw"):
                continue
            with open(f"/proc/{pid}/fd/{number}", "rb") as file:
                sealed = fcntl.fcntl(file, F_GET_SEALS) & F_SEAL_GROW
                total += os.fstat(file.fileno()).st_size if sealed else FILE_BYTES_MAX
    tap(0 < total <= MEMORY_MAX, f"inventory: the worker's memory files hold at most {total >> 20} MiB")


def ends_first(tap, loader):
    """The kernel must end worker and exporter first, because their memory files are in no RSS."""
    wrong = []
    with open("/proc/self/oom_score_adj") as file:
        own = file.read()
    for pid, role in processes(loader).items():
        with open(f"/proc/{pid}/oom_score_adj") as file:
            score = file.read()
        if role != "spawner" and \
                score != ("1000\n" if role in ("keyhole-worker", "keyhole-exporter") else own):
            wrong.append(f"{role} {score.strip()}")
    tap(not wrong, f"inventory: worker and exporter end first when memory is short {wrong or ''}")


# One of each kind that is not made by the process itself.
HELD = {
    "keyhole-worker": {("file", "r"): "object", ("map ringbuf", "rw"): "ring",
                       ("perf", "rw"): "sideband", ("socket", "rw"): "socket",
                       ("null", "rw"): "null", ("file", "rw"): "spill",
                       ("memfd", "rw"): "memory"},
    "keyhole-exporter": {("file", "w"): "output", ("socket", "rw"): "socket"},
    "keyhole-broker": {("map other", "rw"): "segments", ("map other", "r"): "processes",
                       ("socket", "rw"): "socket"},
    "loader": {("perf", "rw"): "sampling", ("file", "w"): "output", ("map ringbuf", "rw"): "ring",
               ("file", "rw"): "spill",
               ("prog", "rw"): "program", ("socket", "rw"): "socket",
               ("folder", "path"): "folder", ("map array", "rw"): "array",
               ("map other", "rw"): "map", ("link", "r"): "link", ("iter", "r"): "iterator",
               ("memfd", "rw"): "symbols", ("signalfd", "rw"): "signals"},
}


def run_held(loader):
    """Returns the lines of test_held, of one descriptor of each kind."""
    arguments = []
    roles = [item for item in sorted(processes(loader).items()) if item[1] in HELD]
    before = {pid: set(os.listdir(f"/proc/{pid}/fd")) for pid, _ in roles}
    time.sleep(0.3)     # not one that is on its way
    for pid, role in roles:
        wanted = dict(HELD[role])
        for number in sorted(before[pid] & set(os.listdir(f"/proc/{pid}/fd")), key=int,
                             reverse=role == "keyhole-worker"):
            label = wanted.pop(kind_of(pid, number, role), None)
            if label:
                name = "keyhole" if role == "loader" else role
                arguments.append(f"{name}:{label}:{pid}:{number}")
    run = subprocess.run([os.path.join(sys.argv[1], "escape", "test_held")] + arguments,
                         stdout=subprocess.PIPE, text=True)
    return run.stdout.splitlines()


def try_held(tap, loader):
    """A broker that is replaced meanwhile takes its sockets along: then all is tried once more. On a
    busy machine a burst of brokers starts a second apart, then one in 6 s (loader/starts.c)."""
    lines = []
    end = time.monotonic() + STEADY
    while time.monotonic() < end:
        before = processes(loader)
        try:
            lines = run_held(loader)
        except FileNotFoundError:  # of a process that is gone
            continue
        if processes(loader) == before:
            break
        print("# another broker came while descriptors were tried: once more")
    results = [line for line in lines if line.startswith(("ok", "not ok"))]
    tap(results and f"1..{len(results)}" in lines, "inventory: test_held gave each result it planned")
    for line in lines:
        if line in results:
            tap(line.startswith("ok"), line.split(" - ", 1)[1])
        elif line.startswith("#"):
            print(line)


def main():
    if os.geteuid():
        print("not root", file=sys.stderr)
        return 77
    keyhole = os.path.join(sys.argv[1], "keyhole")
    show = len(sys.argv) > 2
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="keyhole-escape.") as folder:
        log = open(folder + "/log", "w+")
        process = subprocess.Popen([keyhole, "record", "-v", "-d", str(SOAK + 120), "-o",
                                    folder + "/p.folded"],
                                   stderr=log, stdin=subprocess.DEVNULL)
        begun = time.monotonic()
        while "enabled" not in open(folder + "/log").read() and time.monotonic() < begun + START:
            time.sleep(0.01)
        await_debug(process.pid)
        look(tap, process.pid, "at the start", show)
        counters_are_frozen(tap, process.pid)
        ends_first(tap, process.pid)
        memory_is_bounded(tap, process.pid)
        time.sleep(min(5, SOAK / 2))
        look(tap, process.pid, "while sampling", show)
        while time.monotonic() < begun + SOAK and process.poll() is None:
            time.sleep(0.2)
        look(tap, process.pid, f"after {SOAK:.0f} s", show)
        try_held(tap, process.pid)
        process.send_signal(signal.SIGINT)
        status = process.wait()
        tap(status == 0, f"inventory: the recording ended well after {SOAK:.0f} s")
        if status:
            print("# " + open(folder + "/log").read()[-500:].replace("\n", "\n# "))
    print(f"1..{tap.count}")
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main())
