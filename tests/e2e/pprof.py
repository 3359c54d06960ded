# SPDX-License-Identifier: Apache-2.0
"""Reads a pprof file with nothing but the wire format, so that tests need no generated code."""

import gzip

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
EVENT = None  # what is counted; None: CPU time


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """{field number: [values]} of one message; nested messages stay bytes."""
    result, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == VARINT:
            value, at = varint(data, at)
        elif key & 7 == BYTES:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("truncated field")
        else:
            size = {FIXED64: 8, FIXED32: 4}[key & 7]
            value, at = data[at:at + size], at + size
        result.setdefault(key >> 3, []).append(value)
    return result


def numbers(values):
    """A repeated integer, packed or not."""
    result = []
    for value in values:
        if isinstance(value, int):
            result.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            result.append(number)
    return result


class Profile:
    """sample types, samples, mappings, locations and functions with their strings in place."""

    def __init__(self, path):
        with open(path, "rb") as file:
            top = fields(gzip.decompress(file.read()))
        self.strings = [value.decode() for value in top.get(6, [])]
        self.sample_types = [self.value_type(value) for value in top.get(1, [])]
        self.period_type = self.value_type(top[11][0]) if 11 in top else None
        self.period = top.get(12, [0])[0]
        self.time = top.get(9, [0])[0]
        self.duration = top.get(10, [0])[0]
        self.mappings = dict(map(self.mapping, top.get(3, [])))
        self.functions = dict(map(self.function, top.get(5, [])))
        self.locations = dict(map(self.location, top.get(4, [])))
        self.samples = [self.sample(value) for value in top.get(2, [])]

    def text(self, message, number):
        return self.strings[message.get(number, [0])[0]]

    def value_type(self, data):
        message = fields(data)
        return self.text(message, 1), self.text(message, 2)

    def mapping(self, data):
        m = fields(data)
        return m[1][0], {
            "start": m.get(2, [0])[0], "limit": m.get(3, [0])[0], "offset": m.get(4, [0])[0],
            "file": self.text(m, 5), "build_id": self.text(m, 6),
            "has_functions": m.get(7, [0])[0]}

    def function(self, data):
        m = fields(data)
        return m[1][0], {"name": self.text(m, 2), "system_name": self.text(m, 3),
                         "file": self.text(m, 4), "line": m.get(5, [0])[0]}

    def location(self, data):
        m = fields(data)
        lines = [fields(line) for line in m.get(4, [])]
        return m[1][0], {"mapping": m.get(2, [0])[0], "address": m.get(3, [0])[0],
                         "functions": [line.get(1, [0])[0] for line in lines],
                         "lines": [line.get(2, [0])[0] for line in lines]}

    def sample(self, data):
        m = fields(data)
        labels = {}
        for value in m.get(3, []):
            label = fields(value)
            labels[self.text(label, 1)] = (self.text(label, 2) if 2 in label
                                           else label.get(3, [0])[0])
        return {"locations": numbers(m.get(1, [])), "values": numbers(m.get(2, [])),
                "labels": labels}

    def frame(self, location):
        location = self.locations[location]
        if location["functions"]:
            return self.functions[location["functions"][0]]["name"]
        mapping = self.mappings.get(location["mapping"], {"file": "?"})
        return "%s+0x%x" % (mapping["file"], location["address"])

    def problems(self):
        """Yields the faults that a reader of this file would stumble over, one line each."""
        if self.strings[:1] != [""]:
            yield "the first string is not empty"
        value = (EVENT, "count") if EVENT else ("cpu", "nanoseconds")
        if self.sample_types != [("samples", "count"), value]:
            yield "sample types are %r" % self.sample_types
        if self.period_type != value or not self.period:
            yield "period is %r of type %r" % (self.period, self.period_type)
        if not self.time or not self.duration:
            yield "time or duration is missing"
        for number, mapping in self.mappings.items():
            if not mapping["file"]:
                yield "mapping %d has no file name" % number
            if mapping["limit"] <= mapping["start"] and mapping["file"].startswith("/"):
                yield "mapping %d is empty" % number
        for number, location in self.locations.items():
            if location["mapping"] and location["mapping"] not in self.mappings:
                yield "location %d names no mapping" % number
            if not location["functions"]:
                yield "location %d has no function: pprof's page leaves it out" % number
            for function in location["functions"]:
                if function not in self.functions:
                    yield "location %d names no function" % number
            mapping = self.mappings.get(location["mapping"])
            if mapping and mapping["file"].startswith("/") and \
                    not mapping["start"] <= location["address"] < mapping["limit"]:
                yield "location %d lies outside its mapping" % number
        for sample in self.samples:
            count, nanoseconds = sample["values"]
            if nanoseconds != count * self.period:
                yield "a sample has %d x %d ns but says %d" % (count, self.period, nanoseconds)
            if any(number not in self.locations for number in sample["locations"]):
                yield "a sample names no location"
            missing = {"pid", "tid", "comm", "thread"} - set(sample["labels"])
            if missing:
                yield "a sample has no label %s" % ", ".join(sorted(missing))
