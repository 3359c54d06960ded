# SPDX-License-Identifier: Apache-2.0
"""Requests of OTLP metrics: read and checked by the rules of the protocol. Written from the field numbers of
proto/metrics.proto, apart from keyhole's own code."""
import struct
import subprocess

from payload import every, one

CUMULATIVE = 2

# names of OpenTelemetry's semantic conventions
CONVENTIONS = {"process.cpu.time": "s", "process.context_switches": "{context_switch}",
               "process.paging.faults": "{fault}", "container.cpu.time": "s", "system.cpu.time": "s",
               "system.paging.faults": "{fault}"}


def text(message, field):
    return one(message, field).decode()


def any_value(message):
    """A text, or an integer as text."""
    return text(message, 1) if every(message, 1) else str(one(message, 3))


def pairs(message, field):
    """Attributes, whose keys may not come twice."""
    found = {text(pair, 1): any_value(one(pair, 2)) for pair in every(message, field)}
    assert len(found) == len(every(message, field)), found
    return found


def fixed(raw):
    return int.from_bytes(raw, "little")


def read_point(point, is_sum):
    """Returns the labels, and (value, start or None, time)."""
    start, now = [fixed(raw) for raw in every(point, 2)], fixed(one(point, 3))
    assert len(every(point, 4)) + len(every(point, 6)) == 1, "not one value"
    assert not is_sum or 0 < start[0] <= now, "a sum without a start before its time"
    value = fixed(every(point, 6)[0]) if every(point, 6) else struct.unpack("<d", every(point, 4)[0])[0]
    labels = ",".join(f'{key}="{value}"' for key, value in pairs(point, 7).items())
    return f"{{{labels}}}" if labels else "", (value, start[0] if start else None, now)


def check_unit(name, unit):
    if name in CONVENTIONS:
        assert unit == CONVENTIONS[name], (name, unit)
    elif name.startswith(("keyhole.process.", "keyhole.cgroup.", "keyhole.container.")):
        assert unit == ("s" if name.endswith("time") else "{" + unit.strip("{}") + "}"), (name, unit)
    else:
        assert name.startswith("keyhole."), name
        assert unit == {"bytes": "By", "seconds": "s", "hertz": "Hz"}.get(name.split("_")[-1], "1"), (name, unit)


def read_metric(metric):
    name, unit = text(metric, 1), text(metric, 3)
    assert text(metric, 2), name
    check_unit(name, unit)
    sums, gauges = every(metric, 7), every(metric, 5)
    assert len(sums) + len(gauges) == 1, name
    for data in sums:
        assert one(data, 2) == CUMULATIVE and one(data, 3) == 1, name
    found = [read_point(point, bool(sums)) for point in every((sums + gauges)[0], 1)]
    assert found and len(dict(found)) == len(found), name
    return {name + labels: (bool(sums), *point) for labels, point in found}


def around_of(attributes):
    """The resource of a process, a cgroup or a container, as it comes before the names of its values."""
    return ",".join(f"{key}={value}" for key, value in attributes.items() if key != "host.name") + " "


def read(message):
    """Returns the first resource's attributes, and {name with labels: (is a sum, value, start, time)}. Names
    of other resources have these before them."""
    known = subprocess.run(["protoc", "--decode=otlp_metrics.MetricsData", "proto/metrics.proto"],
                           input=message, capture_output=True, check=False)
    assert known.returncode == 0, known.stderr
    assert not any(line.strip()[:1].isdigit() for line in known.stdout.decode().split("\n")), known.stdout
    values, resources = {}, []
    for resource in every(message, 1):
        scope, = every(resource, 2)
        assert text(one(scope, 1), 1) == "keyhole"
        resources.append(pairs(one(resource, 1), 1))
        around = around_of(resources[-1]) if len(resources) > 1 else ""
        for metric in every(scope, 2):
            for name, value in read_metric(metric).items():
                assert around + name not in values, f"{around}{name} twice"
                values[around + name] = value
    return resources[0], values


def check_sequence(messages):
    """No sum falls while its start is the same, and time goes on. Returns the last values."""
    last = {}
    for message in messages:
        for name, (is_sum, value, start, now) in read(message)[1].items():
            before = last.get(name)
            assert not before or now > before[3], name
            assert not before or not is_sum or start != before[2] or value >= before[1], name
            last[name] = (is_sum, value, start, now)
    return {name: value for name, (_, value, _, _) in last.items()}
