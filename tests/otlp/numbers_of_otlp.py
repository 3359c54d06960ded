# SPDX-License-Identifier: Apache-2.0
"""Requests of OTLP metrics: read and checked by the rules of the protocol. Written from the field numbers of
proto/metrics.proto, apart from keyhole's own code."""
import struct
import subprocess

from payload import every, one

CUMULATIVE = 2


def text(message, field):
    return one(message, field).decode()


def pairs(message, field):
    """Attributes, whose keys may not come twice."""
    found = {text(pair, 1): text(one(pair, 2), 1) for pair in every(message, field)}
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


def read_metric(metric):
    name, unit = text(metric, 1), text(metric, 3)
    assert name.startswith("keyhole.") and text(metric, 2), name
    assert unit == ("By" if name.endswith("_bytes") else "s" if name.endswith("_seconds") else "1"), name
    sums, gauges = every(metric, 7), every(metric, 5)
    assert len(sums) + len(gauges) == 1, name
    for data in sums:
        assert one(data, 2) == CUMULATIVE and one(data, 3) == 1, name
    found = [read_point(point, bool(sums)) for point in every((sums + gauges)[0], 1)]
    assert found and len(dict(found)) == len(found), name
    return {name + labels: (bool(sums), *point) for labels, point in found}


def read(message):
    """Returns the resource's attributes, and {name with labels: (is a sum, value, start, time)}."""
    known = subprocess.run(["protoc", "--decode=otlp_metrics.MetricsData", "proto/metrics.proto"],
                           input=message, capture_output=True, check=False)
    assert known.returncode == 0, known.stderr
    assert not any(line.strip()[:1].isdigit() for line in known.stdout.decode().split("\n")), known.stdout
    resource, = every(message, 1)
    scope, = every(resource, 2)
    assert text(one(scope, 1), 1) == "keyhole"
    values = {}
    for metric in every(scope, 2):
        for name, value in read_metric(metric).items():
            assert name not in values, f"{name} twice"
            values[name] = value
    return pairs(one(resource, 1), 1), values


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
