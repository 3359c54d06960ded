#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of profiling a whole machine: keyhole and perf in turn, under the same load."""

import argparse
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
STACKS = os.path.join(os.path.dirname(__file__), "..", "e2e", "stacks.py")
SETTLE = 3.0

Figures = collections.namedtuple(
    "Figures", "seconds cpu rss pss bpf maps first_run samples file_bytes log path")


def bpftool(*arguments):
    run = subprocess.run(["bpftool", "-j", *arguments], capture_output=True, text=True, check=False)
    try:
        return {entry["id"]: entry for entry in json.loads(run.stdout or "[]")}
    except ValueError:
        return {}


def stat(pid):
    """(name, parent) or None"""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    return text[text.index("(") + 1:text.rindex(")")], int(text.rsplit(")", 1)[1].split()[1])


def tree(root):
    """{pid: name} of root and everything below it."""
    processes = {int(entry): stat(int(entry)) for entry in os.listdir("/proc") if entry.isdigit()}
    result, todo = {}, [root]
    while todo:
        pid = todo.pop()
        if processes.get(pid):
            result[pid] = processes[pid][0]
        todo += [child for child, row in processes.items() if row and row[1] == pid]
    return result


def cpu_seconds(pid):
    total = 0
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/schedstat" % (pid, task), encoding="ascii") as file:
                total += int(file.read().split()[0])
    except OSError:
        pass
    return total / 1e9


def memory(pid):
    """(RSS, PSS) in KB"""
    values = {"Rss": 0, "Pss": 0}
    try:
        with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
            for line in file:
                key = line.split(":")[0]
                if key in values:
                    values[key] = int(line.split()[1])
    except OSError:
        pass
    return values["Rss"], values["Pss"]


def label(pid, name, processes):
    """Two processes of one program are told apart by what they do."""
    same = sorted(other for other in processes if processes[other] == name)
    return name if len(same) == 1 else "%s #%d" % (name, same.index(pid) + 1)


def wait_for_first_run(process, known, start):
    while process.poll() is None and time.monotonic() < start + 10:
        programs = bpftool("prog", "show")
        if any(entry.get("run_cnt") for number, entry in programs.items() if number not in known):
            return time.monotonic() - start
        time.sleep(0.01)
    return None


def measure(command, seconds, path, with_bpf):
    """Runs one profiler; its figures over a window of `seconds` after it has settled."""
    programs, maps = bpftool("prog", "show"), bpftool("map", "show")
    log = tempfile.TemporaryFile("w+")
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=log, stderr=log)
    first_run = wait_for_first_run(process, programs, start) if with_bpf else None
    time.sleep(max(0, start + SETTLE - time.monotonic()))

    processes = tree(process.pid)
    cpu = {pid: cpu_seconds(pid) for pid in processes}
    bpf = bpftool("prog", "show")
    began = time.monotonic()
    time.sleep(seconds)
    window = time.monotonic() - began
    cpu = {label(pid, name, processes): (cpu_seconds(pid) - cpu[pid]) / window
           for pid, name in processes.items()}
    after = bpftool("prog", "show")
    usage = {label(pid, name, processes): memory(pid) for pid, name in processes.items()}
    bpf = {entry.get("name", "?"): (
        entry.get("run_time_ns", 0) - bpf.get(number, {}).get("run_time_ns", 0),
        entry.get("run_cnt", 0) - bpf.get(number, {}).get("run_cnt", 0))
        for number, entry in after.items() if number not in programs}
    old, maps = maps, collections.Counter()
    for number, entry in bpftool("map", "show").items():
        if number not in old:
            maps[entry.get("name", "?")] += entry.get("bytes_memlock", 0)

    process.send_signal(signal.SIGINT)
    try:
        process.wait(120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    log.seek(0)
    text = log.read()
    taken = re.search(r"taken (\d+)|\((\d+) samples\)", text)
    size = os.path.getsize(path) if os.path.exists(path) else 0
    return Figures(window, cpu, {k: v[0] for k, v in usage.items()},
                   {k: v[1] for k, v in usage.items()}, bpf, maps, first_run,
                   int(next(filter(None, taken.groups()))) if taken else 0, size, text, path)


def show(title, figures):
    print("\n## %s" % title)
    print("%-22s %12s %10s %10s" % ("process", "CPU (% core)", "RSS (KB)", "PSS (KB)"))
    for name, share in sorted(figures.cpu.items()):
        print("%-22s %12.3f %10d %10d" % (name, 100 * share, figures.rss[name], figures.pss[name]))
    print("%-22s %12.3f %10d %10d" % ("together", 100 * sum(figures.cpu.values()),
                                      sum(figures.rss.values()), sum(figures.pss.values())))
    for name, (spent, count) in sorted(figures.bpf.items()):
        if count:
            print("BPF %-22s %8d runs, %9.3f us each, %.3f %% of a core" % (
                name, count, spent / 1e3 / count, spent / 1e7 / figures.seconds))
    sampler = [row for name, row in figures.bpf.items() if "sample" in name and row[1]]
    if sampler:
        runs = sum(row[1] for row in sampler)
        print("BPF time per sample, all programs: %.2f us" % (
            sum(row[0] for row in figures.bpf.values()) / 1e3 / runs))
    if figures.maps:
        print("BPF maps: %d, %.2f MB" % (len(figures.maps), sum(figures.maps.values()) / 1e6))
        largest = sorted(figures.maps.items(), key=lambda row: -row[1])[:6]
        print("  " + ", ".join("%s %.0f KB" % (name, size / 1e3) for name, size in largest))
    if figures.first_run is not None:
        print("start to first BPF run: %.2f s (as bpftool sees it)" % figures.first_run)
    if figures.samples:
        print("samples %d, file %d bytes: %.1f bytes per sample" % (
            figures.samples, figures.file_bytes, figures.file_bytes / figures.samples))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rates", type=int, nargs="+", default=[99, 20])
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="keyhole-bench.")
    load = subprocess.Popen([os.path.join(os.path.dirname(__file__), "load.sh")],
                            start_new_session=True, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    time.sleep(3)
    failed = 0
    try:
        for turn in range(args.rounds):
            for rate in args.rates:
                path = "%s/%d.%d.pb.gz" % (folder, rate, turn)
                ours = measure([BUILD + "/keyhole", "record", "-a", "-v", "-F", str(rate), "-o",
                                path], args.seconds, path, True)
                show("keyhole, %d Hz, round %d" % (rate, turn + 1), ours)
                print(ours.log.rstrip())
                failed |= not os.path.exists(path)
                if not failed:
                    subprocess.run([sys.executable, STACKS, "summary", path], check=False)
                if not shutil.which("perf"):
                    print("\nperf is not installed (linux-perf): no comparison")
                    continue
                path = "%s/%d.%d.data" % (folder, rate, turn)
                peer = measure(["perf", "record", "-q", "-a", "-F", str(rate), "-e", "cpu-clock",
                                "--call-graph", "dwarf", "-o", path], args.seconds, path, False)
                count = subprocess.run(["perf", "report", "-i", path, "--header", "--stats"],
                                       capture_output=True, text=True, check=False).stdout
                count = re.search(r"SAMPLE events:\s+(\d+)", count)
                peer = peer._replace(samples=int(count.group(1)) if count else 0)
                show("perf record --call-graph dwarf, %d Hz, round %d" % (rate, turn + 1), peer)
                os.unlink(path)
    finally:
        os.killpg(load.pid, signal.SIGTERM)
        load.wait()
        shutil.rmtree(folder)
    return failed


if __name__ == "__main__":
    sys.exit(main())
