# SPDX-License-Identifier: Apache-2.0
"""A made-up tree of energy zones, and tables of `keyhole stat` that were made with it.

powercap.py make FOLDER                     makes the tree
powercap.py run FOLDER TOLD PROGRAM...      runs the program, whose counters advance from the first
                                            sampling on, and rest before it gets SIGINT. Writes what
                                            they have advanced by to TOLD
powercap.py check TOLD TABLE                tables of JSON say so, and share all of it out
powercap.py check_csv TOLD TABLE            the same of CSV
"""

import collections
import csv
import json
import os
import random
import signal
import subprocess
import sys
import time

PACKAGE_RANGE, DRAM_RANGE = 262143328850, 65712999613
TURNS = 60
LATE = 0.1  # s
STARVED = 75  # exit status: the host lacks time

# Folder: name, range, first reading. Two counters go round early; no two grow by the same.
ZONES = {
    "intel-rapl:0": ("package-0", PACKAGE_RANGE, PACKAGE_RANGE - 3_000_017),
    "intel-rapl:0:0": ("core", PACKAGE_RANGE, 0),
    "intel-rapl:0:1": ("uncore", PACKAGE_RANGE, 17),
    "intel-rapl:0:2": ("dram", DRAM_RANGE, DRAM_RANGE - 500_001),
    "intel-rapl:1": ("package-1", PACKAGE_RANGE, 123_456_789),
    "intel-rapl:1:0": ("core", PACKAGE_RANGE, 99),
    "intel-rapl:1:1": ("dram", DRAM_RANGE, 1),
    "intel-rapl:2": ("psys", PACKAGE_RANGE, 5_000_000),
}
LABELS = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "package-0/core",
          "intel-rapl:0:1": "package-0/uncore", "intel-rapl:0:2": "package-0/dram",
          "intel-rapl:1": "package-1", "intel-rapl:1:0": "package-1/core",
          "intel-rapl:1:1": "package-1/dram", "intel-rapl:2": "psys"}
SUMMED = {"package-0", "package-0/dram", "package-1", "package-1/dram"}

# Zones that make no sense from the start, or from the text on that replaces their reading.
BAD = {
    "intel-rapl:3": ("package-3\x1b[2J\x07", PACKAGE_RANGE, 0, None),
    "intel-rapl:4": ("package-0", PACKAGE_RANGE, 0, None),
    "intel-rapl:5": ("package-5", PACKAGE_RANGE, 9_000_000, "8000000\n"),
    "intel-rapl:6": ("package-6", PACKAGE_RANGE, 0, "999999999999999999999999999\n"),
    "intel-rapl:7": ("package-7", PACKAGE_RANGE, 0, ""),
    "intel-rapl:8": ("package-8", PACKAGE_RANGE, 0, "\x1b]0;title\x07 1\n"),
    "intel-rapl:9": ("package-9", 0, 0, None),
}
BAD_LABELS = {"intel-rapl:3", "intel-rapl:4", "package-5", "package-6", "package-7", "package-8",
              "package-9"}


def path_of(folder, zone, file):
    return os.path.join(folder, "powercap", zone, file)


def write(path, text, mode=0o444):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def make(folder):
    for zone, (name, most, first, *_) in {**ZONES, **BAD}.items():
        os.makedirs(path_of(folder, zone, ""))
        write(path_of(folder, zone, "name"), name + "\n")
        write(path_of(folder, zone, "max_energy_range_uj"), f"{most}\n")
        write(path_of(folder, zone, "energy_uj"), f"{first:020}\n", 0o400)


class Counter:
    """Each change is one write of as many digits: no reader sees half of it."""

    def __init__(self, folder, zone):
        self.file = os.open(path_of(folder, zone, "energy_uj"), os.O_WRONLY)
        self.most, self.value, self.sum = *ZONES[zone][1:], 0

    def advance(self, by):
        self.sum += by
        self.value += by
        if self.value > self.most:
            self.value -= self.most
        os.pwrite(self.file, f"{self.value:020}\n".encode(), 0)


def await_sampling(program):
    for line in program.stderr:
        if " enabled " in line:
            return
        print(line, end="", file=sys.stderr)
    sys.exit("it does not sample")


def run(folder, told, *arguments):
    # its first reading comes before the first sampling
    program = subprocess.Popen(["unshare", "-m", "sh", "-c", 'mount --bind "$0" /sys/class && exec "$@"', folder,
                                *arguments], stderr=subprocess.PIPE, text=True)
    await_sampling(program)
    counters = {zone: Counter(folder, zone) for zone in ZONES}
    for turn in range(TURNS):
        for counter in counters.values():
            counter.advance(random.randrange(10, 400_000))
        if turn == TURNS // 2:
            for zone, (*_, text) in BAD.items():
                if text is not None:
                    write(path_of(folder, zone, "energy_uj"), text, 0o400)
        time.sleep(0.05)
    program.send_signal(signal.SIGINT)
    said = program.stderr.read()
    assert program.wait() == 0, said
    with open(told, "w") as file:
        json.dump({LABELS[zone]: counter.sum for zone, counter in counters.items()}, file)


def microjoules(value):
    return round(float(value) * 1e6)


def check_zones(told, zones):
    """zones: what all tables have of each zone, and in which role."""
    with open(told) as file:
        wanted = json.load(file)
    for name, joules in wanted.items():
        print(f"{name}: {zones[name]} uJ, advanced by {joules} uJ")
        assert zones[name] == joules, name
    assert sum(zones[name] for name in BAD_LABELS if name in zones) == 0, zones


def check(told, path):
    zones = collections.Counter()
    with open(path) as file:
        text = file.read()
    assert text.isprintable() or set(filter(lambda c: not c.isprintable(), text)) == {"\n"}, text
    tables = [json.loads(line) for line in text.splitlines()]
    late = False
    for table in tables:
        energy = table["energy"]
        rows = table.get("processes", table.get("cgroups"))
        parts = [microjoules(energy[key]) for key in energy if key.endswith("_estimated_joules")]
        whole = microjoules(energy["summed_joules"])
        of_rows = sum(microjoules(row["estimated_joules"]) for row in rows)
        assert len(parts) == 8 and sum(parts) == whole, energy
        assert of_rows == microjoules(energy["rows_estimated_joules"]), (of_rows, energy)
        of_zones = {zone["name"]: microjoules(zone["joules"]) for zone in energy["zones"] if "joules" in zone}
        assert sum(of_zones[zone["name"]] for zone in energy["zones"] if zone["summed"]) == whole, energy
        assert {zone["name"] for zone in energy["zones"] if zone["summed"]} >= SUMMED, energy
        late |= abs(energy["elapsed_seconds"] - table["elapsed_seconds"]) >= LATE
        idle = table["idle_seconds"] / table["wall_seconds"]
        assert abs(energy["idle_estimated_joules"] - idle * whole / 1e6) <= 0.0011 * whole / 1e6 + 1e-6, energy
        for row in rows:
            share = row["cpu_seconds"] / table["wall_seconds"] * whole / 1e6
            assert abs(row["estimated_joules"] - share) <= 0.0011 * share + 2e-6, row
        zones.update(of_zones)
    left_out = {zone["name"]: zone["left_out"] for zone in tables[-1]["energy"]["zones"] if "left_out" in zone}
    print(f"{len(tables)} tables; left out: {left_out}")
    assert len(tables) >= 2 and set(left_out) == BAD_LABELS, left_out
    check_zones(told, zones)
    if late:
        print(f"energy and CPU time were read {LATE} s apart or more")
        sys.exit(STARVED)


def check_csv(told, path):
    zones = collections.Counter()
    by_time = collections.defaultdict(lambda: [0, 0])
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            sums = by_time[row["time"]]
            if row["kind"].startswith("zone_"):
                zones[row["name"]] += microjoules(row["joules"] or 0)
                assert not row["estimated_joules"], row
            if row["name"] in SUMMED and row["kind"] == "zone_summed":
                sums[0] += microjoules(row["joules"])
            elif not row["kind"].startswith("zone_"):
                sums[1] += microjoules(row["estimated_joules"])
    print(dict(by_time))
    assert len(by_time) >= 2 and all(measured == shared for measured, shared in by_time.values()), by_time
    check_zones(told, zones)


if __name__ == "__main__":
    {"make": make, "run": run, "check": check, "check_csv": check_csv}[sys.argv[1]](*sys.argv[2:])
