# SPDX-License-Identifier: Apache-2.0
"""Starts keyhole in several ways and looks at its processes from outside, by /proc, as root.

starts.py KEYHOLE README [print]: the rows between the two marks of README are what was measured.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

BEGIN, END = "<!-- measured by tests/privsep/starts.sh -->", "<!-- end -->"
PROGRAMS = ["keyhole", "keyhole-worker", "keyhole-exporter", "keyhole-broker"]
NAMESPACES = ["user", "pid", "mnt", "net", "ipc", "uts", "cgroup"]
CAPABILITIES = {2: "DAC_READ_SEARCH", 19: "SYS_PTRACE", 21: "SYS_ADMIN", 39: "BPF",
                40: "CHECKPOINT_RESTORE"}
HEAD = ["process", "uid", "capabilities", "own namespaces", "root", "filters", "locked",
        "spawner"]

# Run by sh -c with the command in "$@". A root that is no mount point: pivot_root() refuses it,
# and the kernel refuses user namespaces there.
CHROOT = """
mount -t tmpfs none "$STARTS_FOLDER" && cd "$STARTS_FOLDER" && mkdir root && cd root || exit 1
for f in /*; do
	if [ -L "$f" ]; then cp -P "$f" .; continue; fi
	[ -d "$f" ] && mkdir ".$f" && mount --rbind "$f" ".$f"
done
"""
WITHOUT = 'exec capsh --drop=cap_sys_admin -- -c \'exec "$@"\' - "$@"'
STARTS = [
    ("sudo", None),
    ("sudo, /proc with hidepid=2", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'),
    ("sudo, in a chroot", CHROOT + 'exec chroot . "$@"'),
    ("without CAP_SYS_ADMIN (container)", WITHOUT),
    ("without CAP_SYS_ADMIN, no user namespaces",
     CHROOT + "exec chroot . /bin/sh -c '" + WITHOUT.replace("'", "'\\''") + "' - \"$@\""),
]


def status(pid):
    with open(f"/proc/{pid}/status") as file:
        lines = (line.rstrip("\n").split(":\t", 1) for line in file)
        return {pair[0]: pair[1] for pair in lines if len(pair) == 2}


def family(root):
    """{pid: comm} of root and, after it, of all below it, whose pids may be lower than its own."""
    parents, names = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            of = status(entry)
            names[int(entry)], parents[int(entry)] = of["Name"], int(of["PPid"])
        except (OSError, KeyError):
            pass
    found, more = {root: names[root]}, True
    while more:
        more = {pid: names[pid] for pid, parent in sorted(parents.items())
                if parent in found and pid not in found}
        found.update(more)
    return found


def capabilities(of):
    sets = {of[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
    if int(of["CapBnd"], 16) or len(sets) != 1:
        return "BOUNDING SET, OR SETS DIFFER"
    mask = int(sets.pop(), 16)
    names = [name for bit, name in CAPABILITIES.items() if mask >> bit & 1]
    return ", ".join(names) if mask else "none"


def namespaces(pid, loader):
    """Returns the namespaces that the loader does not share. The start may have made the loader's own."""
    return [name for name in NAMESPACES
            if os.readlink(f"/proc/{pid}/ns/{name}") != os.readlink(f"/proc/{loader}/ns/{name}")]


def root_of(pid):
    root = f"/proc/{pid}/root"
    names = os.listdir(root)
    if not names:
        return "empty"
    return "/proc" if "self" in names and "etc" not in names else "of the host"


def locked(pid, of, parent=False):
    """no_new_privs, not dumpable (then /proc/<pid> is root's), no core, no processes: but those of
    a spawner."""
    with open(f"/proc/{pid}/limits") as file:
        limits = file.read().splitlines()
    facts = {
        "nnp": of["NoNewPrivs"] == "1",
        "dump": os.stat(f"/proc/{pid}/environ").st_uid == 0,
        "core": any(line.split()[:6] == ["Max", "core", "file", "size", "0", "0"]
                    for line in limits),
        "proc": parent or any(line.split()[:4] == ["Max", "processes", "0", "0"]
                              for line in limits),
        "groups": of["Groups"].strip() == "",
    }
    missing = [name for name, holds in facts.items() if not holds]
    return "not: " + ", ".join(missing) if missing else "yes"


def row(name, pid, loader, base, spawner):
    of = status(pid)
    own = namespaces(pid, loader)
    behind = "–"
    if spawner:
        its = status(spawner)
        same = (its["Uid"] == of["Uid"] and capabilities(its) == capabilities(of)
                and namespaces(spawner, loader) == own and root_of(spawner) == root_of(pid)
                and locked(spawner, its, parent=True) == "yes")
        behind = ("same" if same else "DIFFERS") + f", {int(its['Seccomp_filters']) - base} filter"
    uids = set(of["Uid"].split()) | set(of["Gid"].split())
    return [f"`{name}`", ", ".join(sorted(uids)), capabilities(of),
            " ".join(own) or "none", root_of(pid),
            str(int(of["Seccomp_filters"]) - base), locked(pid, of), behind]


def look(loader, base):
    """A row for each process of the loader; base: filters that it was started with."""
    names = family(loader)
    rows = []
    for name in PROGRAMS:
        pid = next(pid for pid in names if names[pid] == name[:15])
        parent = int(status(pid)["PPid"])
        rows.append(row(name, pid, loader, base, parent if name != "keyhole" else 0))
    return rows


def as_table(rows):
    return ["| " + " | ".join(cells) + " |" for cells in [HEAD, ["---"] * len(HEAD)] + rows]


def measure(keyhole, shell):
    command = [keyhole, "record", "-v", "-a", "-f", "folded", "-o", "-", "-d", "20"]
    if shell:
        command = ["unshare", "-m", "sh", "-c", shell, "-"] + command
    with tempfile.TemporaryFile() as err, tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err,
                                   env={**os.environ, "STARTS_FOLDER": folder})
        try:
            text = ""
            for _ in range(1500):
                text = os.pread(err.fileno(), 1 << 20, 0).decode(errors="replace")
                if "mode: brokered" in text or process.poll() is not None:
                    break
                time.sleep(0.01)
            if "mode: brokered" not in text:
                raise RuntimeError("did not start: " + text)
            rows = look(process.pid, int(status("self")["Seccomp_filters"]))
            lacking = [line.split("start: ", 1)[1] for line in text.splitlines()
                       if ": without " in line]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
    return rows, lacking


def refuses(keyhole):
    """Where it cannot see its children it does not trust what they say of themselves."""
    shell = 'mount -t proc -o hidepid=2 proc /proc && ' + WITHOUT
    run = subprocess.run(["unshare", "-m", "sh", "-c", shell, "-", keyhole, "record", "-a", "-f",
                          "folded", "-o", "-", "-d", "1"], capture_output=True, timeout=60)
    text = run.stderr.decode(errors="replace")
    if run.returncode == 1 and not run.stdout and "not confined: " in text:
        return True
    print(f"# status {run.returncode}, {len(run.stdout)} bytes: {text}")
    return False


def table(keyhole):
    """Starts with the same rows share a table."""
    parts = []
    for name, shell in STARTS:
        rows, lacking = measure(keyhole, shell)
        if parts and parts[-1][1:] == [rows, lacking]:
            parts[-1][0] += "; " + name
        else:
            parts.append([name, rows, lacking])
    lines = []
    for name, rows, lacking in parts:
        said = "; ".join(lacking) if lacking else "nothing"
        lines += [f"**{name}**; `-v` says it is missing: {said}", ""]
        lines += as_table(rows) + [""]
    return "\n".join(lines).rstrip("\n")


def main():
    measured = table(sys.argv[1])
    if sys.argv[3:] == ["print"]:
        print(measured)
        return 0
    with open(sys.argv[2]) as file:
        written = file.read().partition(BEGIN)[2].partition(END)[0].strip("\n")
    blind = refuses(sys.argv[1])
    same = written == measured
    print(("ok" if same else "not ok") + " 1 - starts: policy/README.md has what was measured")
    if not same:
        print(measured)
    print(("ok" if blind else "not ok") + " 2 - starts: children that /proc hides are not trusted")
    return 0 if same and blind else 1


if __name__ == "__main__":
    sys.exit(main())
