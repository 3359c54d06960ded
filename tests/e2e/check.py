# SPDX-License-Identifier: Apache-2.0
"""check.py FILE STATUS LOADER [WANT...]: holds the JSON of `keyhole check` to what is known.

LOADER: pid of the recording it is about, 0 for none; findings about other keyholes do not count.
WANT: roles that must all be there and well; or "unknown"; or without=LAYER; or what a deviation must match.
"""
import json
import os
import re
import sys

KEYS = ["format", "version", "mode", "kernel", "layers", "executables", "bpf_objects", "policy",
        "processes", "deviations", "unknown", "result"]
STATUS = {"ok": 0, "deviation": 1, "unknown": 3}


def parent(pid):
    try:
        return int(open(f"/proc/{pid}/stat", errors="replace").read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def ours(pid, loader):
    if not loader:
        return False
    for _ in range(3):
        if pid == loader:
            return True
        pid = parent(pid)
    return False


def about_others(finding, loader):
    match = re.search(r" \((\d+)\)$", finding["object"])
    counts = re.search(r"\d+ of kind", finding["what"])
    return bool(counts) or bool(match and not ours(int(match[1]), loader))


def main():
    report = json.load(open(sys.argv[1]))
    status, loader, want = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    assert list(report) == KEYS, list(report)
    assert status == STATUS[report["result"]], (status, report["result"])
    found = {kind: [finding for finding in report[kind] if not about_others(finding, loader)]
             for kind in ("deviations", "unknown")}
    processes = [p for p in report["processes"] if loader and ours(p["pid"], loader)]
    text = json.dumps(found["deviations"])
    if want and want[0] == "unknown":
        assert report["result"] != "ok" and found["unknown"], report
    elif want and want[0].startswith("without="):
        layer = want[0].split("=")[1]
        named = [f for f in found["deviations"] if f["what"] == f"not confined: {layer}"]
        assert status == 1 and named, text
        print(f"  {layer}: {len(named)} processes: {', '.join(f['object'] for f in named)}")
    elif want and not want[0].startswith("keyhole"):
        assert status == 1 and re.search(want[0], text), text
    else:
        assert not found["deviations"] and not found["unknown"], found
        programs = sorted(p["role"] for p in processes if p["kind"] == "program")
        spawners = sorted(p["role"] for p in processes if p["kind"] == "spawner")
        assert programs == sorted(want), programs
        second = ["keyhole-broker"] if want else []     # of the penal one
        assert spawners == sorted(list(set(want) - {"keyhole"}) + second), spawners
        family = [pid for pid in filter(str.isdigit, os.listdir("/proc"))
                  if loader and ours(int(pid), loader)]
        assert len(family) == len(processes), (family, processes)
        for name in ("keyhole", "keyhole-worker", "keyhole-exporter", "keyhole-broker"):
            assert re.fullmatch("[0-9a-f]{64}", report["executables"][name]["sha256"])
        print(f"  {len(processes)} processes")


main()
