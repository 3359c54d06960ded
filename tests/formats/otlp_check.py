#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""otlp_check.py [--request] [--compat] FILE...: checks OTLP profiles, of the standard library alone.

FILE is a ProfilesData, or an ExportProfilesServiceRequest, which has the same fields. A name that
ends in .json has protobuf's JSON. --request: the bytes go to a receiver, which wants a sample.
--compat: profile.frame.type has no value that devfiler refuses.

Each rule has a name. Rules are those of the protocol's comments (v1.10), of the conventions, and of
the receivers that refuse what others take: Parca, Pyroscope, devfiler, profcheck. Each line of the
output is "FILE: RULE: what". The status is 1 where there is one."""

import collections
import json
import re
import struct
import sys

VARINT, FIXED64, BYTES = 0, 1, 2

# message: {number: (name, kind, repeated)}. Numbers are those of the published field tables, and
# are written here again, so that a mistake in proto/otlp.proto shows.
FIELDS = {
    "ProfilesData": {1: ("resourceProfiles", "ResourceProfiles", True),
                     2: ("dictionary", "ProfilesDictionary", False)},
    "ProfilesDictionary": {1: ("mappingTable", "Mapping", True),
                           2: ("locationTable", "Location", True),
                           3: ("functionTable", "Function", True),
                           4: ("linkTable", "Link", True),
                           5: ("stringTable", "string", True),
                           6: ("attributeTable", "KeyValueAndUnit", True),
                           7: ("stackTable", "Stack", True)},
    "ResourceProfiles": {1: ("resource", "Resource", False),
                         2: ("scopeProfiles", "ScopeProfiles", True),
                         3: ("schemaUrl", "string", False)},
    "ScopeProfiles": {1: ("scope", "InstrumentationScope", False),
                      2: ("profiles", "Profile", True),
                      3: ("schemaUrl", "string", False)},
    "Profile": {1: ("sampleType", "ValueType", False), 2: ("samples", "Sample", True),
                3: ("timeUnixNano", "fixed64", False), 4: ("durationNano", "uint64", False),
                5: ("periodType", "ValueType", False), 6: ("period", "int64", False),
                7: ("profileId", "bytes", False), 8: ("droppedAttributesCount", "uint32", False),
                9: ("originalPayloadFormat", "string", False),
                10: ("originalPayload", "bytes", False), 11: ("attributeIndices", "int32", True)},
    "Sample": {1: ("stackIndex", "int32", False), 2: ("attributeIndices", "int32", True),
               3: ("linkIndex", "int32", False), 4: ("values", "int64", True),
               5: ("timestampsUnixNano", "fixed64", True)},
    "ValueType": {1: ("typeStrindex", "int32", False), 2: ("unitStrindex", "int32", False)},
    "Stack": {1: ("locationIndices", "int32", True)},
    "Location": {1: ("mappingIndex", "int32", False), 2: ("address", "uint64", False),
                 3: ("lines", "Line", True), 4: ("attributeIndices", "int32", True)},
    "Line": {1: ("functionIndex", "int32", False), 2: ("line", "int64", False),
             3: ("column", "int64", False)},
    "Function": {1: ("nameStrindex", "int32", False), 2: ("systemNameStrindex", "int32", False),
                 3: ("filenameStrindex", "int32", False), 4: ("startLine", "int64", False)},
    "Mapping": {1: ("memoryStart", "uint64", False), 2: ("memoryLimit", "uint64", False),
                3: ("fileOffset", "uint64", False), 4: ("filenameStrindex", "int32", False),
                5: ("attributeIndices", "int32", True)},
    "Link": {1: ("traceId", "bytes", False), 2: ("spanId", "bytes", False)},
    "KeyValueAndUnit": {1: ("keyStrindex", "int32", False), 2: ("value", "AnyValue", False),
                        3: ("unitStrindex", "int32", False)},
    "AnyValue": {1: ("stringValue", "string", False), 2: ("boolValue", "bool", False),
                 3: ("intValue", "int64", False), 4: ("doubleValue", "double", False),
                 5: ("arrayValue", "ArrayValue", False), 6: ("kvlistValue", "KeyValueList", False),
                 7: ("bytesValue", "bytes", False), 8: ("stringValueStrindex", "int32", False)},
    "ArrayValue": {1: ("values", "AnyValue", True)},
    "KeyValueList": {1: ("values", "KeyValue", True)},
    "KeyValue": {1: ("key", "string", False), 2: ("value", "AnyValue", False),
                 3: ("keyStrindex", "int32", False)},
    "Resource": {1: ("attributes", "KeyValue", True), 2: ("droppedAttributesCount", "uint32", False)},
    "InstrumentationScope": {1: ("name", "string", False), 2: ("version", "string", False),
                             3: ("attributes", "KeyValue", True),
                             4: ("droppedAttributesCount", "uint32", False)},
}
WIRE = {"int32": VARINT, "int64": VARINT, "uint32": VARINT, "uint64": VARINT, "bool": VARINT,
        "fixed64": FIXED64, "double": FIXED64}
NUMBERS = {"int32", "int64", "uint32", "uint64", "fixed64"}
TABLES = [FIELDS["ProfilesDictionary"][number][0] for number in range(1, 8)]

FRAME_TYPES = {"beam", "cpython", "dotnet", "go", "jvm", "kernel", "luajit", "native", "perl", "php",
               "ruby", "rust", "v8js"}
OTHER_FRAME_TYPES = {"abort-marker", "lua"}  # of OpenTelemetry's profiler; of our own
DEVFILER_FRAME_TYPES = {"native", "kernel", "jvm", "perl", "cpython", "php", "phpjit", "ruby",
                        "dotnet", "v8js", "beam", "go", "abort-marker"}
HTLHASH = "process.executable.build_id.htlhash"


class Broken(Exception):
    def __init__(self, rule, what):
        super().__init__("%s: %s" % (rule, what))


# ---- the wire ----

def varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Broken("wire", "a number is cut")
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value & 2 ** 64 - 1, at
    raise Broken("wire", "a number has more than ten bytes")


def signed(kind, value):
    if kind.startswith("int") and value >> 63:
        return value - 2 ** 64
    return value


def text(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Broken("utf8", "%s: %r" % (error.reason, data[:60])) from None


def read_value(kind, wire, data, at):
    """Gives the values of one field: several where packed. Returns them and what follows."""
    if wire == VARINT:
        value, at = varint(data, at)
        return [signed(kind, value)], at
    if wire == FIXED64:
        if at + 8 > len(data):
            raise Broken("wire", "a number is cut")
        return [struct.unpack_from("<Q", data, at)[0]], at + 8
    length, at = varint(data, at)
    part = data[at:at + length]
    if len(part) != length:
        raise Broken("wire", "a field is cut")
    at += length
    if kind in FIELDS:
        return [decode(kind, part)], at
    if kind == "string":
        return [text(part)], at
    if kind == "bytes":
        return [part.hex()], at
    values, inner = [], 0
    while inner < len(part):
        more, inner = read_value(kind, WIRE[kind], part, inner)
        values += more
    return values, at


def decode(message, data):
    """Returns what protobuf's JSON has, with numbers as numbers and bytes as hex."""
    result, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number not in FIELDS[message]:
            raise Broken("wire", "%s has no field %d" % (message, number))
        name, kind, repeated = FIELDS[message][number]
        packed = repeated and kind in WIRE and wire == BYTES
        if wire != WIRE.get(kind, BYTES) and not packed:
            raise Broken("wire", "%s.%s has wire type %d" % (message, name, wire))
        values, at = read_value(kind, wire, data, at)
        if repeated:
            result.setdefault(name, []).extend(values)
        elif name in result:
            raise Broken("wire", "%s.%s is there twice" % (message, name))
        else:
            result[name] = values[0]
    return result


def put_varint(value):
    value &= 2 ** 64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def put_scalar(kind, value):
    if WIRE[kind] == FIXED64:
        return struct.pack("<Q", value)
    return put_varint(value)


def encode(message, value):
    """The inverse of decode(), for tests. A bytes value of a string goes as it is."""
    out = b""
    for number, (name, kind, repeated) in FIELDS[message].items():
        if name not in value:
            continue
        values = value[name] if repeated else [value[name]]
        if repeated and kind in WIRE:
            part = b"".join(put_scalar(kind, each) for each in values)
            out += put_varint(number << 3 | BYTES) + put_varint(len(part)) + part
            continue
        for each in values:
            if kind in WIRE:
                out += put_varint(number << 3 | WIRE[kind]) + put_scalar(kind, each)
                continue
            if kind in FIELDS:
                part = encode(kind, each)
            elif kind == "bytes":
                part = bytes.fromhex(each)
            else:
                part = each if isinstance(each, bytes) else each.encode()
            out += put_varint(number << 3 | BYTES) + put_varint(len(part)) + part
    return out


def from_json(message, value):
    """Returns the same as decode(): 64-bit numbers are strings in JSON."""
    result = {}
    for name, kind, repeated in FIELDS[message].values():
        if name not in value:
            continue
        values = value[name] if repeated else [value[name]]
        if kind in FIELDS:
            values = [from_json(kind, each) for each in values]
        elif kind in NUMBERS:
            values = [int(each) for each in values]
        result[name] = values if repeated else values[0]
    unknown = set(value) - {row[0] for row in FIELDS[message].values()}
    if unknown:
        raise Broken("wire", "%s has no field %s" % (message, sorted(unknown)))
    return result


# ---- rules ----

class Check:
    def __init__(self, top, request=False, compat=False):
        self.top = top
        self.request = request
        self.compat = compat
        self.problems = collections.OrderedDict()
        self.tables = top.get("dictionary", {})
        self.used = {name: {0} for name in TABLES}
        self.shapes = set()
        self.location_done = set()

    def need(self, condition, rule, *what):
        if not condition:
            self.problems.setdefault("%s: %s" % (rule, " ".join(map(str, what))))
        return condition

    def get(self, table, index):
        self.used[table].add(index)
        if self.need(0 <= index < len(self.tables.get(table, [])), "index", table, "has no", index):
            return self.tables[table][index]
        return "" if table == "stringTable" else {}

    def string(self, element, key):
        return self.get("stringTable", element.get(key, 0))

    def table(self, name):
        rows = self.tables.get(name, [])
        if not self.need(rows, "table-empty", name):
            return
        zero = "" if name == "stringTable" else {}
        rule = "link-zero" if name == "linkTable" else "table-zero"
        self.need(rows[0] == zero, rule, name, "begins with", rows[0])
        seen = set()
        for row in rows:
            key = json.dumps(row, sort_keys=True)
            self.need(key not in seen, "duplicate", name, key[:100])
            seen.add(key)
        if name == "stringTable":
            for row in rows:
                self.need(not re.search("[\x00-\x1f\x7f]", row), "control", repr(row[:60]))

    def any_value(self, value):
        if not self.need(len(value) == 1, "value", value):
            return None
        kind, content = next(iter(value.items()))
        self.need(kind in ("stringValue", "intValue"), "value", kind, "is read by few receivers")
        return content

    def attributes(self, element, what):
        result = {}
        for index in element.get("attributeIndices", []):
            self.need(index != 0, "attribute", what, "has the attribute that is none")
            attribute = self.get("attributeTable", index)
            key = self.string(attribute, "keyStrindex")
            if "unitStrindex" in attribute:
                self.string(attribute, "unitStrindex")
            self.need(key, "attribute", what, "has an attribute without a key")
            self.need(key not in result, "key-repeated", what, key)
            result[key] = self.any_value(attribute.get("value", {}))
        return result

    def value_type(self, value):
        return self.string(value, "typeStrindex"), self.string(value, "unitStrindex")

    def mapping(self, index):
        if index == 0:
            return
        mapping = self.get("mappingTable", index)
        start, limit = mapping.get("memoryStart", 0), mapping.get("memoryLimit", 0)
        self.need(start < limit or start == limit == 0, "mapping-range", start, limit)
        self.need(self.string(mapping, "filenameStrindex"), "mapping-name", index)
        ids = self.attributes(mapping, "a mapping")
        self.need(re.fullmatch("[0-9a-f]{32}", str(ids.get(HTLHASH))), "mapping-id",
                  self.string(mapping, "filenameStrindex"), ids.get(HTLHASH))

    def location(self, index):
        if index in self.location_done:
            return
        self.location_done.add(index)
        self.need(index != 0, "index", "a stack has the location that is none")
        location = self.get("locationTable", index)
        self.mapping(location.get("mappingIndex", 0))
        kind = self.attributes(location, "a location").get("profile.frame.type")
        known = DEVFILER_FRAME_TYPES if self.compat else FRAME_TYPES | OTHER_FRAME_TYPES
        self.need(kind in known, "frame-type", kind)
        self.need(location.get("lines"), "lines", "a location has none")
        for line in location.get("lines", []):
            function = self.get("functionTable", line.get("functionIndex", 0))
            names = [self.string(function, key) for key in
                     ("nameStrindex", "systemNameStrindex", "filenameStrindex")]
            self.need(any(names), "function", "has no name")

    def stack(self, index):
        for location in self.get("stackTable", index).get("locationIndices", []):
            self.location(location)

    def link(self, index):
        link = self.get("linkTable", index)
        if index == 0:
            return
        for key, length in (("traceId", 32), ("spanId", 16)):
            ident = link.get(key, "")
            self.need(re.fullmatch("[0-9a-f]{%d}" % length, ident) and ident.strip("0"), "link", key,
                      repr(ident))

    def shape(self, sample):
        values, times = sample.get("values", []), sample.get("timestampsUnixNano", [])
        shape = {(1, False): "value", (0, True): "times"}.get((len(values), bool(times)))
        self.need(shape, "shape", len(values), "values,", len(times), "times")
        self.shapes.add(shape)
        return times

    def sample(self, sample, window, identities):
        times = self.shape(sample)
        outside = [time for time in times if not window[0] <= time < window[1]]
        self.need(not outside, "window", outside[:3], "is outside", window)
        attributes = sample.get("attributeIndices", [])
        identity = (sample.get("stackIndex", 0), frozenset(attributes), sample.get("linkIndex", 0))
        self.need(identity not in identities, "identity", identity)
        identities.add(identity)
        found = self.attributes(sample, "a sample")
        self.need("thread.id" in found and "thread.name" in found, "thread", sorted(found))
        self.stack(sample.get("stackIndex", 0))
        self.link(sample.get("linkIndex", 0))

    def profile(self, profile):
        self.need(profile.get("samples"), "empty-profile", "a profile has no sample")
        self.need(profile.get("period", 0) > 0, "period", profile.get("period", 0))
        self.need("sampleType" in profile, "sample-type", "is not there")
        self.need("periodType" in profile, "period-type", "is not there")
        self.value_type(profile.get("sampleType", {}))
        self.value_type(profile.get("periodType", {}))
        self.attributes(profile, "a profile")
        start, length = profile.get("timeUnixNano", 0), profile.get("durationNano", 0)
        self.need(length > 0, "window", "is empty")
        self.shapes, identities = set(), set()
        for sample in profile.get("samples", []):
            self.sample(sample, (start, start + length), identities)
        self.need(len(self.shapes) <= 1, "shape", "a profile has several:", self.shapes)

    def resource(self, resource):
        values = {}
        for pair in resource.get("attributes", []):
            key = pair.get("key", "")
            self.need(key and "keyStrindex" not in pair, "resource", "has a key by reference, or none")
            self.need(key not in values, "key-repeated", "a resource", key)
            values[key] = self.any_value(pair.get("value", {}))
        self.need(isinstance(values.get("process.pid"), int), "resource", "has no process.pid")
        for key in ("process.executable.name", "service.name"):
            self.need(values.get(key), "resource", "has no", key)
        return tuple(values.get(key) for key in
                     ("process.pid", "process.executable.name", "process.executable.path",
                      "process.creation.time"))

    def run(self):
        self.need(set(self.tables) == set(TABLES), "table-empty", sorted(set(TABLES) - set(self.tables)))
        for name in TABLES:
            self.table(name)
        resources = self.top.get("resourceProfiles", [])
        self.need(resources or not self.request, "empty-request", "there is no sample")
        seen = set()
        for resource in resources:
            self.need("resource" in resource, "resource", "is not there")
            identity = self.resource(resource.get("resource", {}))
            self.need(identity not in seen, "resource", "two are", identity)
            seen.add(identity)
            self.need(resource.get("scopeProfiles"), "empty-profile", "a resource has no scope")
            for scope in resource.get("scopeProfiles", []):
                self.need(scope.get("scope", {}).get("name"), "scope", "has no name")
                self.need(scope.get("profiles"), "empty-profile", "a scope has no profile")
                for profile in scope.get("profiles", []):
                    self.profile(profile)
        for name in TABLES:
            unused = set(range(len(self.tables.get(name, [])))) - self.used[name]
            self.need(not unused, "orphan", name, sorted(unused)[:5])
        return list(self.problems)


def check(top, request=False, compat=False):
    """Returns the problems of a message that decode() or from_json() has made."""
    return Check(top, request, compat).run()


def check_bytes(data, request=False, compat=False):
    try:
        if not data and request:
            return ["empty-request: there are no bytes"]
        return check(decode("ProfilesData", data), request, compat)
    except Broken as error:
        return [str(error)]


def check_file(path, request=False, compat=False):
    with open(path, "rb") as file:
        data = file.read()
    if not path.endswith(".json"):
        return check_bytes(data, request, compat)
    try:
        return check(from_json("ProfilesData", json.loads(data)), request, compat)
    except (Broken, ValueError) as error:
        return [str(error)]


def main():
    flags = [each for each in sys.argv[1:] if each in ("--request", "--compat")]
    paths = [each for each in sys.argv[1:] if each not in flags]
    failed = False
    for path in paths:
        for problem in check_file(path, "--request" in flags, "--compat" in flags):
            print("%s: %s" % (path, problem))
            failed = True
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
