# SPDX-License-Identifier: Apache-2.0
"""The accounts on the page of an agent.

accounts.py explained ADDRESS            every CPU's time is somebody's, within 0.1 %
accounts.py watch ADDRESS TOP FILE       looks until FILE is there: no number falls but with its exporter,
                                         no more than TOP rows and one have numbers, and what rises is not
                                         more than what the CPUs have done
accounts.py value ADDRESS NAME LABELS    prints the sum of all values that have these labels
"""

import os
import sys
import time

import metrics

TOLERATED = 0.001
PAUSE = 0.2
KINDS = ("process", "cgroup", "container")
LATE = 8  # s: so old may a number be


def page(address, form="text"):
    return metrics.parse(metrics.fetch(address, form), form)


def named(values, name):
    return {key: value for key, value in values.items() if key.split("{")[0] == name}


def explained(address):
    values = page(address)
    wall = values["keyhole_accounts_wall_seconds_total"]
    parts = {name: sum(named(values, f"keyhole_accounts_{name}_seconds_total").values())
             for name in ("cpu", "softirq", "interrupt")}
    print(f"wall {wall:.6f} s, {parts}, error ratio {values['keyhole_accounts_error_ratio']:.9f}")
    assert wall > 0 and abs(sum(parts.values()) - wall) <= wall * TOLERATED
    assert values["keyhole_accounts_error_ratio"] <= TOLERATED
    split = sum(named(values, "keyhole_accounts_cpu_scaled_seconds_total").values())
    processes = values['keyhole_accounts_cpu_seconds_total{part="processes"}']
    assert abs(split - processes) <= 1e-6, (split, processes)


def check_bounds(values, top):
    for kind in KINDS:
        series = named(values, f"keyhole_{kind}_cpu_seconds_total")
        assert 1 <= len(series) <= top + 1, (kind, len(series))
        assert len({key.split('"')[1] for key in series}) == len(series), series


def is_count(name):
    return name.startswith("keyhole_") and "_total" in name and not name.startswith("keyhole_pages")


def watch(address, top, stop):
    """A series that falls began anew with its exporter, as a reader of the page takes it."""
    last, rises, falls, pids, looks = {}, {}, [], set(), 0
    began = time.monotonic()
    while not os.path.exists(stop):
        time.sleep(PAUSE)
        try:
            values = page(address)
        except (OSError, metrics.http.client.HTTPException):
            continue
        if not named(values, "keyhole_process_cpu_seconds_total"):
            continue
        looks += 1
        check_bounds(values, int(top))
        for name, value in values.items():
            if not is_count(name):
                continue
            before = last.get(name, value)
            if value < before:
                falls.append((name, before, value))
            rises[name] = rises.get(name, 0) + (value - before if value >= before else value)
            last[name] = value
        pids |= {key.split('"')[1] for key in named(values, "keyhole_process_cpu_seconds_total")}
    passed = (time.monotonic() - began + LATE) * os.cpu_count()
    for name, rise in rises.items():
        if "cpu_seconds_total" in name or "scaled_seconds" in name:
            assert rise <= passed, (name, rise, passed)
    accounts = [fall for fall in falls if fall[0].split("_")[1] in KINDS + ("accounts",)]
    print(f"looks {looks} pids {len(pids)} falls {len(accounts)}")
    for fall in accounts[:20]:
        print("fell", *fall)
    assert looks > 10


def value(address, name, labels):
    wanted = labels.split()
    found = [number for key, number in named(page(address), name).items() if all(label in key for label in wanted)]
    assert found, f"no {name} with {labels}"
    print(sum(found))


if __name__ == "__main__":
    {"explained": explained, "watch": watch, "value": value}[sys.argv[1]](*sys.argv[2:])
