# SPDX-License-Identifier: Apache-2.0
"""Tables of `keyhole stat --json`, compared with what is known of a load.

stat.py sums FILE                        every CPU's time is somebody's, within 0.1 %
stat.py row FILE NAME KEY LEAST MOST     a value of all processes of that name together
stat.py cpu FILE NAME BEGUN ENDED US HOST CPU time is that of schedstat, within 0.5 %
stat.py kernel FILE NAME                 CPU time is that of sum_exec_runtime, as near
stat.py total FILE KEY LEAST MOST        a value of each table
stat.py timehist FILE SUMMARY NAME...    CPU time is that of perf sched timehist -s, as near
stat.py value FILE NAME KEY              prints it
"""

import json
import re
import sys

TOLERATED = 0.001
READING = 0.02  # s of all CPUs, while a busy machine keeps the reader from a CPU
NEAR = 0.005
STARVED = 75  # of tests/e2e/run.sh
TAIL = 0.001  # s from the load's own look to its last switch


def tables(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def rows_of(table):
    return table.get("processes", table.get("cgroups", table.get("threads")))


def value_of(path, name, key):
    found = [row for table in tables(path) for row in rows_of(table)
             if name in (row.get("name"), row.get("cgroup"))]
    assert found, f"{name}: no row among {[row.get('name', row.get('cgroup')) for table in tables(path) for row in rows_of(table)]}"
    return sum(row[key] for row in found)


def sums(path):
    for table in tables(path):
        parts = sum(row["cpu_seconds"] for row in rows_of(table))
        parts += sum(table[key] for key in table if key.endswith("_seconds") and key not in
                     ("time_seconds", "elapsed_seconds", "wall_seconds"))
        parts += sum(row["seconds"] for key in ("softirqs", "interrupts") for row in table[key])
        wall = table["wall_seconds"]
        print(f"{parts:.6f} s of {wall:.6f} s; error ratio {table['error_ratio']:.9f}")
        assert wall > 0 and table["lost_places"] == table["lost_tasks"] == 0, table
        assert abs(parts - wall) <= wall * TOLERATED, (parts, wall)
        passed = table["elapsed_seconds"] * table["cpus"]
        assert abs(wall - passed) <= passed * TOLERATED + READING, (wall, passed)
        assert table["error_ratio"] <= TOLERATED


def row(path, name, key, least, most):
    value = value_of(path, name, key)
    print(f"{name}: {key} {value}")
    assert float(least) <= value <= float(most), (value, least, most)


def cpu(path, name, begun, ended, wakes, host):
    """A table knows more than the load itself (from its start to its end), and schedstat everything
    from the fork on. Schedstat counts interrupts as well, of which at most all were the load's, and
    us of wake-ups. The table counts what the host kept, in ticks of 10 ms."""
    value, begun, ended = value_of(path, name, "cpu_seconds"), int(begun) / 1e9, int(ended) / 1e9
    kernel = value_of(path, name, "kernel_runtime_seconds")
    interrupts = int(wakes) / 1e6
    interrupts += sum(row["seconds"] for table in tables(path) for key in ("softirqs", "interrupts")
                      for row in table[key])
    print(f"{name}: {value:.6f} s; schedstat {ended - begun:.6f} to {ended:.6f} s, at the end "
          f"{kernel:.6f} s: {(value - kernel) / kernel * 100:+.3f} %; interrupts and wake-ups {interrupts:.6f} s at most, "
          f"the host {host} ticks")
    kept = int(host) / 100
    assert (ended - begun) * (1 - NEAR) - interrupts <= value
    assert kernel * (1 - NEAR) - interrupts <= value <= kernel * (1 + NEAR) + TAIL + kept
    assert value <= ended * (1 + NEAR) + TAIL + kept


def kernel(path, name):
    value, runtime = value_of(path, name, "cpu_seconds"), value_of(path, name, "kernel_runtime_seconds")
    interrupts = sum(row["seconds"] for table in tables(path) for key in ("softirqs", "interrupts")
                     for row in table[key])
    print(f"{name}: {value:.6f} s, the kernel has {runtime:.6f} s: {(value - runtime) / runtime * 100:+.3f} %; "
          f"all interrupts {interrupts:.6f} s")
    assert runtime * (1 - NEAR) - interrupts <= value <= runtime * (1 + NEAR)


def total(path, key, least, most):
    for table in tables(path):
        print(f"{key} {table[key]}")
        assert float(least) <= table[key] <= float(most), table[key]


def timehist(path, summary, *names):
    """Compares a table with `perf sched timehist -s`: ms of each thread behind its name and id."""
    interrupts = sum(row["seconds"] for table in tables(path) for key in ("softirqs", "interrupts")
                     for row in table[key])
    with open(summary) as file:
        lines = file.read()
    for name in names:
        pid = value_of(path, name, "pid")
        found = re.findall(rf"^ *{re.escape(name)}\[{pid}\] +\S+ +\d+ +([0-9.]+) ", lines, re.M)
        value, perf = value_of(path, name, "cpu_seconds"), sum(map(float, found)) / 1000
        kernel = value_of(path, name, "kernel_runtime_seconds")
        print(f"{name}: {value:.6f} s, kernel {kernel:.6f} s, perf sched {perf:.6f} s: "
              f"{(value - perf) / max(perf, 1e-9) * 100:+.3f} %; all interrupts {interrupts:.6f} s")
        assert found
        if perf * (1 - NEAR) - interrupts <= value <= perf * (1 + NEAR):
            continue
        if abs(perf - kernel) > kernel * NEAR + interrupts:
            sys.exit(STARVED)  # between two programs at one switch, a host had the CPU
        assert False, (value, perf)


def value(path, name, key):
    print(value_of(path, name, key))


if __name__ == "__main__":
    {"sums": sums, "row": row, "cpu": cpu, "kernel": kernel, "timehist": timehist,
     "total": total, "value": value}[sys.argv[1]](*sys.argv[2:])
