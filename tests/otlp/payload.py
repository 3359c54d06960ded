# SPDX-License-Identifier: Apache-2.0
"""Requests of OTLP profiles: made, read back with every index resolved, and checked by the rules of the
protocol. Written from the field numbers of proto/otlp.proto, apart from keyhole's own code."""
import collections
import struct
import subprocess

TABLES = ("mapping", "location", "function", "link", "string", "attribute", "stack")


# ---- writing ----

def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def data(field, value):
    if isinstance(value, str):
        value = value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + value


def packed(field, values):
    return data(field, b"".join(varint(value) for value in values)) if values else b""


def fixed(field, values):
    return data(field, b"".join(struct.pack("<Q", value) for value in values)) if values else b""


class Dictionary:
    def __init__(self):
        self.tables = {name: [b""] for name in TABLES}
        self.known = {name: {b"": 0} for name in TABLES}

    def add(self, table, element):
        known = self.known[table]
        if element not in known:
            known[element] = len(self.tables[table])
            self.tables[table].append(element)
        return known[element]

    def string(self, text):
        return self.add("string", text.encode())

    def attribute(self, key, value):
        any_value = data(1, value) if isinstance(value, str) else varint(3 << 3) + varint(value)
        return self.add("attribute", number(1, self.string(key)) + data(2, any_value))

    def location(self, name, mapping):
        function = self.add("function", number(1, self.string(name)))
        mapping = self.add("mapping", number(1, 4096) + number(2, 8192) + number(4, self.string(mapping)) +
                           packed(5, [self.attribute("process.executable.build_id.htlhash", mapping)]))
        return self.add("location", number(1, mapping) + number(2, hash(name) & 0xFFFFF) +
                        data(3, number(1, function)) +
                        packed(4, [self.attribute("profile.frame.type", "native")]))

    def write(self):
        return b"".join(data(field + 1, element) for field, name in enumerate(TABLES)
                        for element in self.tables[name])


def make(processes=2, samples=10, depth=5, times=1, pad=0):
    """A request: each sample with a stack, a thread and times of its own."""
    dictionary, out, start = Dictionary(), b"", 1_700_000_000_000_000_000
    for process in range(processes):
        rows = b""
        for sample in range(samples):
            stack = [dictionary.location(f"p{process}_f{(sample * 7 + level * level) % 600}" + "x" * pad,
                                         f"lib{level}.so")
                     for level in range(depth)]
            rows += data(2, number(1, dictionary.add("stack", packed(1, stack))) +
                         packed(2, [dictionary.attribute("thread.id", sample + 1),
                                    dictionary.attribute("thread.name", f"thread {sample % 3}")]) +
                         fixed(5, [start + sample * 1000 + time for time in range(times)]))
        types = number(1, dictionary.string("samples")) + number(2, dictionary.string("count"))
        period = number(1, dictionary.string("cpu")) + number(2, dictionary.string("nanoseconds"))
        profile = (data(1, types) + rows + varint(3 << 3 | 1) + struct.pack("<Q", start) +
                   number(4, 15_000_000_000) + data(5, period) + number(6, 50_000_000))
        pid = data(1, "process.pid") + data(2, varint(3 << 3) + varint(process + 1))
        out += data(1, data(1, data(1, pid)) + data(2, data(1, data(1, "keyhole")) + data(2, profile)) +
                    data(3, "https://opentelemetry.io/schemas/1.37.0"))
    return out + data(2, dictionary.write())


# ---- reading ----

def fields(message):
    at = 0

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        tag = take()
        if tag & 7 == 0:
            yield tag >> 3, take()
        else:
            size = {1: 8, 5: 4}.get(tag & 7)
            if tag & 7 == 2:
                size = take()
            assert size is not None and at + size <= len(message), "no field"
            yield tag >> 3, message[at:at + size]
            at += size


def one(message, field, default=b""):
    return next((value for key, value in fields(message) if key == field), default)


def every(message, field):
    return [value for key, value in fields(message) if key == field]


def integers(message, field):
    out = []
    for value in every(message, field):
        if isinstance(value, int):
            out.append(value)
        else:
            out += [element for _, element in fields(as_fields(value))]
    return out


def as_fields(raw):
    """Packed numbers as fields 1, so that fields() reads them."""
    out, piece = b"", b""
    for byte in raw:
        piece += bytes([byte])
        if byte < 0x80:
            out += b"\x08" + piece
            piece = b""
    assert not piece, "packed numbers end early"
    return out


class Request:
    """A request with all indices resolved. Raises AssertionError where a rule is broken. tidy: the tables have
    what keyhole puts there and no more; a Collector writes fields that are 0."""

    def __init__(self, message, tidy=True):
        self.tables = {name: every(one(message, 2), field + 1) for field, name in enumerate(TABLES)}
        self.used = {name: {0} for name in TABLES}
        self.samples, self.frames = collections.Counter(), {}
        for resource in every(message, 1):
            for scope in every(resource, 2):
                for profile in every(scope, 2):
                    self.read_profile(resource, scope, profile)
        if tidy:
            self.check()

    def element(self, table, index):
        assert index < len(self.tables[table]), f"{table} {index} is not there"
        self.used[table].add(index)
        return self.tables[table][index]

    def string(self, index):
        return self.element("string", index).decode()

    def attributes(self, indices):
        rows = []
        for index in indices:
            row = self.element("attribute", index)
            rows.append((self.string(one(row, 1, 0)), one(row, 2), self.string(one(row, 3, 0))))
        assert len({row[0] for row in rows}) == len(rows), "a key twice"
        return tuple(sorted(rows))

    def frame(self, index):
        if index not in self.frames:
            self.frames[index] = self.read_frame(index)
        return self.frames[index]

    def line(self, line):
        function = self.element("function", one(line, 1, 0))
        names = tuple(self.string(one(function, field, 0)) for field in (1, 2, 3))
        return names + (one(line, 2, 0), one(line, 3, 0))

    def read_frame(self, index):
        row = self.element("location", index)
        mapping = self.element("mapping", one(row, 1, 0))
        names = tuple(self.line(line) for line in every(row, 3))
        return (names, one(row, 2, 0), self.string(one(mapping, 4, 0)),
                self.attributes(integers(mapping, 5)), self.attributes(integers(row, 4)))

    def read_profile(self, resource, scope, profile):
        kinds = tuple((self.string(one(one(profile, field), 1, 0)), self.string(one(one(profile, field), 2, 0)))
                      for field in (1, 5))
        assert kinds[1][0] and one(profile, 6, 0) > 0, "no period"
        start, duration = struct.unpack("<Q", one(profile, 3))[0], one(profile, 4, 0)
        rows = every(profile, 2)
        assert rows, "a profile without samples"
        around = (one(resource, 1), one(resource, 3), one(scope, 1), kinds, start, duration)
        for row in rows:
            times = one(row, 5)
            times = struct.unpack(f"<{len(times) // 8}Q", times)
            assert all(start <= time < start + duration for time in times), "a time outside"
            stack = tuple(self.frame(index) for index in integers(self.element("stack", one(row, 1, 0)), 1))
            key = (around, stack, self.attributes(integers(row, 2)), tuple(integers(row, 4)))
            self.samples[key] += len(times) or sum(integers(row, 4))

    def check(self):
        for name in TABLES:
            table = self.tables[name]
            assert table and table[0] == b"", f"{name} 0 is not empty"
            assert len(set(table)) == len(table), f"{name}: an element twice"
            if name != "link":
                unused = set(range(len(table))) - self.used[name]
                assert not unused, f"{name}: {len(unused)} elements that nothing refers to"


KNOWN = {}


def samples_of(message):
    if message not in KNOWN:
        KNOWN[message] = Request(message).samples
    return KNOWN[message]


def union(messages):
    total = collections.Counter()
    for message in messages:
        total.update(samples_of(message))
    return total


def protoc_knows(message):
    """Whether protoc decodes the message and knows each field."""
    result = subprocess.run(["protoc", "--decode=otlp.ProfilesData", "proto/otlp.proto"], input=message,
                            capture_output=True, check=False)
    return result.returncode == 0 and not any(
        line.strip()[:1].isdigit() for line in result.stdout.decode(errors="replace").split("\n"))
