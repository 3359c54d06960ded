# SPDX-License-Identifier: Apache-2.0
"""A reader for each format, of the standard library alone. A reader checks what the format's own
readers depend on, and gives (process, pid, tid, frames from the root on, count) for each sample.
Where a format has no pid or tid, they are None."""

import collections
import json
import os
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import otlp_check  # noqa: E402
import pprof as pprof_file  # noqa: E402

Sample = collections.namedtuple("Sample", "process pid tid frames count")

# The recording, in ns; None: not known.
PERIOD, START, DURATION = 10000000, 1700000000000000000, 2000000000
EVENT = None  # what is counted, None: CPU time


def set_event(event):
    global EVENT
    EVENT = pprof_file.EVENT = event


def heading():
    return "keyhole" + (": " + EVENT if EVENT else "")


class Frame(str):
    """A name; whether it is inlined, and its file and line, where the format tells: else None."""
    inlined = place = None

    def __new__(cls, name, inlined=None, place=None):
        frame = super().__new__(cls, name)
        frame.inlined, frame.place = inlined, place
        return frame


class Wrong(Exception):
    pass


class Hidden(Exception):
    """Not everything is in the file, which says so; the total is."""

    def __init__(self, what, total):
        super().__init__(what)
        self.total = total


def need(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


def is_or_unknown(value, expected):
    return expected is None or value == expected


def read_json(path):
    with open(path, "rb") as file:
        data = file.read()
    need(b"<" not in data and b"&" not in data, "a character that means something in HTML")
    # no number is a float that JavaScript cannot hold, no constant is NaN
    return json.loads(data.decode("utf-8"), parse_constant=lambda name: need(False, name))


# ---- folded ----

def folded(path):
    samples = []
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            process, *frames = stack.split(";")
            frames = [Frame(re.sub(r"_\[[ik]\]$", "", frame), frame.endswith("_[i]"))
                      for frame in frames]
            samples.append(Sample(process, None, None, tuple(frames), int(count)))
    return samples


# ---- pprof ----

def pprof(path):
    profile = pprof_file.Profile(path)
    problems = list(profile.problems()) if profile.samples else []
    need(not problems, problems)
    chains = {}
    for number, location in profile.locations.items():
        functions = [profile.functions[function] for function in location["functions"]]
        chains[number] = [
            Frame(function["name"], at + 1 < len(functions), (function["file"], line))
            for at, (function, line) in enumerate(zip(functions, location["lines"]))]
    return [Sample(s["labels"].get("comm", ""), s["labels"]["pid"], s["labels"]["tid"],
                   tuple(frame for at in reversed(s["locations"]) for frame in chains[at][::-1]),
                   s["values"][0])
            for s in profile.samples]


# ---- speedscope ----

def speedscope(path):
    top = read_json(path)
    need(top["$schema"] == "https://www.speedscope.app/file-format-schema.json", "schema")
    need(top["exporter"].startswith("keyhole@") and
         top["name"] in (heading(), "(no times) " + heading()), "exporter or name")
    frames = [Frame(frame["name"]) for frame in top["shared"]["frames"]]
    need(all(frame.get("line", 1) > 0 and "file" in frame for frame in top["shared"]["frames"]
             if "line" in frame), "line")
    samples = []
    totals = []
    for profile in top["profiles"]:
        unit = "none" if EVENT else "nanoseconds"
        need(profile["type"] == "sampled" and profile["unit"] == unit, "type or unit")
        need(len(profile["samples"]) == len(profile["weights"]), "samples and weights differ")
        need(profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"]),
             "weights are not the value")
        need(all(a != b for a, b in zip(profile["samples"], profile["samples"][1:])),
             "neighbours are equal")
        names = re.fullmatch(r"(.*) \(pid (\d+)\) / (.*) \(tid (\d+)\)", profile["name"], re.S)
        need(names, "name", profile["name"])
        totals.append(profile["endValue"])
        for stack, weight in zip(profile["samples"], profile["weights"]):
            need(weight > 0 and weight % PERIOD == 0, "weight", weight)
            samples.append(Sample(names[1], int(names[2]), int(names[4]),
                                  tuple(frames[at] for at in stack), weight // PERIOD))
    need(totals == sorted(totals, reverse=True), "threads are not by weight")
    return samples


# ---- Firefox ----

# src/types/profile.ts of the profiler, processed profile version 70: columns, and of which table
# (or how) the values are. "?": may be null; -1 stands for none where said.
TABLES = {
    "stackTable": {"frame": "frameTable", "prefixOffset": "offset"},
    "frameTable": {"address": "number-", "lib": "libs-", "inlineDepth": "number",
                   "category": "categories", "subcategory": "number", "func": "funcTable",
                   "nativeSymbol": "nativeSymbols?", "innerWindowID": "number?",
                   "line": "number?", "column": "number?",
                   "originalLocation": "sourceLocationTable?"},
    "funcTable": {"name": "stringArray", "isJS": "bool", "relevantForJS": "bool",
                  "resource": "resourceTable-", "source": "sources?", "lineNumber": "number?",
                  "columnNumber": "number?", "originalLocation": "sourceLocationTable?"},
    "resourceTable": {"name": "stringArray", "host": "stringArray?", "type": "number"},
    "nativeSymbols": {"libIndex": "libs", "address": "number", "name": "stringArray",
                      "functionSize": "number?"},
    "sources": {"id": "string?", "filename": "stringArray", "startLine": "number",
                "startColumn": "number", "sourceMapURL": "stringArray?", "content": "string?"},
    "sourceLocationTable": {"source": "sources", "line": "number", "column": "number"},
}
MARKERS = {"data", "name", "startTime", "endTime", "phase", "category", "length"}
COLORS = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown",
          "magenta", "red", "lightred", "darkgrey", "grey"}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_value(value, kind, lengths, row):
    if kind.endswith("?"):
        if value is None:
            return True
        kind = kind[:-1]
    if kind.endswith("-"):
        if value == -1:
            return True
        kind = kind[:-1]
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if not is_number(value) or value < 0:
        return False
    if kind == "offset":
        return value <= row
    return value < 2 ** 53 if kind == "number" else value < lengths[kind]


def check_firefox_tables(top):
    shared = top["shared"]
    need(set(shared) == set(TABLES) | {"stringArray"}, "tables are", sorted(shared))
    lengths = {name: shared[name]["length"] for name in TABLES}
    lengths.update(libs=len(top["libs"]), stringArray=len(shared["stringArray"]),
                   categories=len(top["meta"]["categories"]))
    need(all(isinstance(text, str) for text in shared["stringArray"]), "stringArray")
    for name, columns in TABLES.items():
        table = shared[name]
        need(set(table) == set(columns) | {"length"}, name, "has", sorted(table))
        for column, kind in columns.items():
            need(len(table[column]) == table["length"], name, column, "has another length")
            for row, value in enumerate(table[column]):
                need(check_value(value, kind, lengths, row), name, column, row, "is", value)


def check_firefox_meta(top):
    meta = top["meta"]
    need(meta["preprocessedProfileVersion"] == 70 and meta["version"] == 36, "version")
    need(meta["interval"] == (1 if EVENT else PERIOD / 1e6), "interval")
    need(meta["importedFrom"] == heading(), "importedFrom")
    need(is_or_unknown(meta["startTime"], START and START / 1e6), "start")
    if "profilingEndTime" in meta: # a file without times has no length
        need(is_or_unknown(meta["profilingEndTime"], DURATION and DURATION / 1e6), "duration")
    need(meta["symbolicated"] is True and meta["markerSchema"] == [], "meta")
    need(meta["sampleUnits"] == {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"}, "units")
    need(meta["categories"][0]["color"] == "grey", "no default category")
    for category in meta["categories"]:
        need(category["color"] in COLORS and category["subcategories"][0] == "Other", category)
    for lib in top["libs"]:
        need(set(lib) == {"arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId"},
             "lib", lib)


def check_firefox_thread(thread, shared, end):
    samples = thread["samples"]
    columns = {"stack", "time", "weight"}
    if end is None: # no sample has a time
        need(not any(samples["time"]), "time is", samples["time"])
        end = 1
    elif not EVENT:
        columns |= {"threadCPUDelta"}
    need(set(samples) == columns | {"weightType", "length"}, "samples are", sorted(samples))
    need(samples["weightType"] == "samples", "weightType")
    for column in columns:
        need(len(samples[column]) == samples["length"], "samples", column)
    need(samples["time"] == sorted(samples["time"]), "samples are not in order of time")
    need(not samples["time"] or 0 <= samples["time"][0] <= samples["time"][-1] < end,
         "time is", samples["time"])
    deltas = samples.get("threadCPUDelta", [weight * PERIOD for weight in samples["weight"]])
    for stack, weight, cpu in zip(samples["stack"], samples["weight"], deltas):
        need(stack is None or 0 <= stack < shared["stackTable"]["length"], "stack", stack)
        need(cpu == weight * PERIOD and (weight > 0 or stack is None), "weight", weight)
    need(set(thread["markers"]) == MARKERS and thread["markers"]["length"] == 0, "markers")
    need(isinstance(thread["pid"], str) and isinstance(thread["tid"], (int, str)), "pid or tid")
    for key in ("processType", "processStartupTime", "processShutdownTime", "registerTime",
                "unregisterTime", "pausedRanges", "name", "isMainThread", "processName"):
        need(key in thread, "thread has no", key)


def firefox(path):
    top = read_json(path)
    check_firefox_meta(top)
    check_firefox_tables(top)
    shared, strings = top["shared"], top["shared"]["stringArray"]
    stack_table, frame_table, functions = (shared["stackTable"], shared["frameTable"],
                                           shared["funcTable"])
    stacks, rows = [], set()
    for row, (frame, offset) in enumerate(zip(stack_table["frame"], stack_table["prefixOffset"])):
        rows.add((frame, row - offset if offset else None))
        function = frame_table["func"][frame]
        source = functions["source"][function]
        file = "" if source is None else strings[shared["sources"]["filename"][source]]
        depth = frame_table["inlineDepth"][frame]
        if depth:
            outer = stack_table["frame"][row - offset]
            need(offset and frame_table["inlineDepth"][outer] == depth - 1 and
                 frame_table["address"][outer] == frame_table["address"][frame], "inlineDepth")
        stacks.append((stacks[row - offset] if offset else ()) + (
            Frame(strings[functions["name"][function]], depth > 0,
                  (file, frame_table["line"][frame] or 0)),))
    need(len(rows) == len(stacks), "rows of stackTable are equal")
    samples, seen = [], set()
    for thread in top["threads"]:
        check_firefox_thread(thread, shared, top["meta"].get("profilingEndTime"))
        need((thread["pid"], thread["tid"]) not in seen, "two threads", thread["tid"])
        seen.add((thread["pid"], thread["tid"]))
        numbers = [int(str(thread[key]).split(".")[0]) for key in ("pid", "tid")]
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            if weight:
                samples.append(Sample(thread["processName"], *numbers,
                                      stacks[stack] if stack is not None else (), weight))
    main = [thread["pid"] for thread in top["threads"] if thread["isMainThread"]]
    need(len(set(main)) == len(main), "a process has two main threads")
    return samples


# ---- OTLP ----

class Otlp:
    """Reads what otlp_check.py has found no fault in."""

    def __init__(self, top):
        self.top = top
        self.tables = top["dictionary"]

    def string(self, element, key):
        return self.tables["stringTable"][element.get(key, 0)]

    def attributes(self, element):
        rows = [self.tables["attributeTable"][index] for index in element["attributeIndices"]]
        return {self.string(row, "keyStrindex"): next(iter(row["value"].values())) for row in rows}

    def frames(self, index):
        location = self.tables["locationTable"][index]
        for at, line in enumerate(reversed(location["lines"])):
            function = self.tables["functionTable"][line["functionIndex"]]
            yield Frame(self.string(function, "nameStrindex"), at > 0,
                        (self.string(function, "filenameStrindex"), line.get("line", 0)))

    def value_type(self, value):
        return self.string(value, "typeStrindex"), self.string(value, "unitStrindex")

    def profile(self, profile, resource):
        need(self.value_type(profile["sampleType"]) == ("samples", "count"), "sample type")
        wanted = (EVENT, "count") if EVENT else ("cpu", "nanoseconds")
        need(self.value_type(profile["periodType"]) == wanted, "period type")
        need(profile["period"] == PERIOD, "period")
        need(is_or_unknown(profile["timeUnixNano"], START), "time")
        need(is_or_unknown(profile["durationNano"], DURATION), "duration")
        for sample in profile["samples"]:
            stack = self.tables["stackTable"][sample.get("stackIndex", 0)]
            frames = tuple(frame for index in reversed(stack.get("locationIndices", []))
                           for frame in self.frames(index))
            count = len(sample.get("timestampsUnixNano", [])) or sample["values"][0]
            yield Sample(resource["process.executable.name"], resource["process.pid"],
                         self.attributes(sample)["thread.id"], frames, count)

    def samples(self):
        result = []
        for resource in self.top.get("resourceProfiles", []):
            values = {pair["key"]: next(iter(pair["value"].values()))
                      for pair in resource["resource"]["attributes"]}
            for scope in resource["scopeProfiles"]:
                need(scope["scope"]["name"] == "keyhole" and scope["scope"]["version"], "scope")
                for profile in scope["profiles"]:
                    result += self.profile(profile, values)
        return result


def otlp_message(path):
    """The message of a file, in either encoding."""
    with open(path, "rb") as file:
        return otlp_check.decode("ProfilesData", file.read())


def otlp_json_message(path):
    return otlp_check.from_json("ProfilesData", read_json(path))


def otlp_samples(top):
    problems = otlp_check.check(top)
    need(not problems, "; ".join(problems[:5]))
    return Otlp(top).samples()


def otlp(path):
    return otlp_samples(otlp_message(path))


def otlp_json(path):
    return otlp_samples(otlp_json_message(path))


# ---- the page and the picture ----

def page_data(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read().split(' id="data">\n')[1]
    need(text.count("<") == 1 and text.endswith("}\n</script>\n"), "something behind the data")
    return json.loads(text.split("</script>")[0])


def page(path):
    top = page_data(path)
    strings, frames, nodes = top["strings"], top["frames"], top["nodes"]
    need(is_or_unknown(top["period"], PERIOD) and top["event"] == EVENT, "period or event")
    need(top["samples"] == sum(nodes["self"]), "the total is not that of its nodes")
    samples, path = [], []
    for frame, level, count in zip(nodes["frame"], nodes["level"], nodes["self"]):
        need(level <= len(path), "a level is left out")
        need(frames["line"][frame] == 0 or frames["file"][frame], "a line of no file")
        path[level:] = [Frame(strings[frames["name"][frame]], bool(frames["inlined"][frame]))]
        if count:
            process, thread, *rest = path[1:]
            samples.append(Sample(process, None, int(thread.rsplit("/")[-1]), tuple(rest), count))
    return samples


SVG = "{http://www.w3.org/2000/svg}"


def picture_total(root, texts):
    """That of the box at the bottom; what stands on it is no wider, and the header has it."""
    totals, widths = [], []
    for box in root.iter(SVG + "g"):
        title = box.find(SVG + "title").text
        totals.append(int(re.search(r"\ntotal ([0-9]+) \(", title).group(1)))
        widths.append((int(box.find(SVG + "rect").get("y")),
                       float(box.find(SVG + "rect").get("width"))))
    bottom = max(y for y, _ in widths)
    for row in set(y for y, _ in widths):
        need(sum(width for y, width in widths if y == row) <= widths[0][1] + 1, "row", row)
    need(widths[0][0] == bottom and totals[0] == max(totals), "the root is not the first box")
    need(any(text.startswith("%d samples, " % totals[0]) for text in texts if text), "the header")
    return totals[0]


def picture(path):
    """Boxes are written each before those above it, a row is a level."""
    root = xml.etree.ElementTree.parse(path).getroot()
    texts = [each.text for each in root.iter(SVG + "text")]
    hidden = [text for text in texts if re.match("[0-9]+ frames narrower", text)]
    need(len(hidden) == 1, "the footer")
    if not hidden[0].startswith("0 "):
        raise Hidden(hidden[0], picture_total(root, texts))
    samples, path, bottom = [], [], None
    for box in root.iter(SVG + "g"):
        title, y = box.find(SVG + "title").text, int(box.find(SVG + "rect").get("y"))
        bottom = bottom or y
        lines = title.split("\n")
        path[(bottom - y) // 17:] = [Frame(lines[0], lines[1] == "inlined")]
        count = int(re.search(r", self ([0-9]+) \(.*\)$", title).group(1))
        if count:
            samples.append(Sample(path[1], None, None, tuple(path[2:]), count))
    total = sum(sample.count for sample in samples)
    worth = "%d %s" % (total * PERIOD, EVENT) if EVENT else "s of CPU time"
    need(any(re.match("%d samples, .*%s" % (total, worth), text) for text in texts), "the header")
    return samples


READERS = {"folded": folded, "pprof": pprof, "html": page, "svg": picture,
           "speedscope": speedscope, "firefox": firefox,
           "otlp": otlp, "otlp-json": otlp_json}
