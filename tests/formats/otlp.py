#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""otlp.py RENDER FOLDER: what otlp_check.py says of good messages, in both encodings, and of
messages with one mistake each. Prints TAP."""

import copy
import os
import subprocess
import sys

import otlp_check

render, folder = sys.argv[1:3]
number = 0


def result(passed, name, why=""):
    global number
    number += 1
    print("%sok %d - %s" % ("" if passed else "not ", number, name))
    for line in str(why).splitlines() if not passed else []:
        print("# " + line)


def rendered(profile, form):
    path = os.path.join(folder, "check.%s.%s" % (profile, form.replace("otlp-", "")))
    with open(path, "wb") as file:
        subprocess.run([render, form, profile], check=True, stdout=file, stderr=subprocess.DEVNULL)
    return path


def message(profile):
    with open(rendered(profile, "otlp"), "rb") as file:
        return otlp_check.decode("ProfilesData", file.read())


# ---- good ----

GOOD = ("small", "hostile", "inlined", "counted", "timed", "one", "huge")


def all_samples(top):
    for resource in top.get("resourceProfiles", []):
        for scope in resource["scopeProfiles"]:
            for profile in scope["profiles"]:
                for sample in profile["samples"]:
                    yield profile, sample


def check_good():
    for profile in GOOD:
        for form in ("otlp", "otlp-json"):
            problems = otlp_check.check_file(rendered(profile, form), request=True)
            result(not problems, "%s of %s: a receiver takes it" % (form, profile),
                   "\n".join(problems[:10]))
    compat = otlp_check.check_file(rendered("timed", "otlp"), True, True)
    result(all(each.startswith("frame-type") for each in compat), "compat is about frames", compat)
    problems = otlp_check.check_file(rendered("empty", "otlp"))
    result(not problems, "a file without samples is a message", problems)


def check_shapes():
    top = message("timed")
    result(all("values" not in sample and sample["timestampsUnixNano"] for _, sample in
               all_samples(top)), "all times are known: no sample has a value")
    times = [len(sample["timestampsUnixNano"]) for _, sample in all_samples(top)]
    result(sum(times) == 5000 and max(times) > 1, "equal samples are one with several times", times)
    keys = [top["dictionary"]["stringTable"][each.get("keyStrindex", 0)] for each in
            top["dictionary"]["attributeTable"]]
    result(keys.count("cpu.logical_number") == 4, "samples have their CPU", keys)
    top = message("hostile")
    result(all(len(sample["values"]) == 1 and "timestampsUnixNano" not in sample for _, sample in
               all_samples(top)), "a time is not known: no sample has a time")
    (profile, sample), = all_samples(message("one"))
    result(sample["timestampsUnixNano"] == [profile["timeUnixNano"]] and
           profile["durationNano"] == 2000000009, "the window begins at its first sample", profile)
    (_, sample), = all_samples(message("huge"))
    result(sample["values"] == [5 << 32], "a count has 64 bits", sample)


# ---- mistakes ----

def first_sample(top):
    return next(all_samples(top))[1]


def first_profile(top):
    return next(all_samples(top))[0]


def tables(top):
    return top["dictionary"]


def attribute_of(top, element, key):
    """Returns the number of an attribute of an element."""
    strings, rows = tables(top)["stringTable"], tables(top)["attributeTable"]
    return next(index for index in element["attributeIndices"]
                if strings[rows[index]["keyStrindex"]] == key)


def both(top):
    sample = first_sample(top)
    sample["values"] = [1] * len(sample["timestampsUnixNano"])


def value_and_times(top):
    sample = first_sample(top)
    sample["values"] = [len(sample["timestampsUnixNano"])]
    sample["timestampsUnixNano"] *= 2


def at_the_end(top):
    profile = first_profile(top)
    first_sample(top)["timestampsUnixNano"][-1] = profile["timeUnixNano"] + profile["durationNano"]


def no_samples(top):
    first_profile(top)["samples"].clear()


def nothing(top):
    top["resourceProfiles"] = []
    for table in tables(top).values():
        del table[1:]


def no_resource(top):
    top["resourceProfiles"][0]["resource"] = {}


def twice(top):
    first_profile(top)["samples"].append(copy.deepcopy(first_sample(top)))


def mixed(top):
    first_profile(top)["samples"].append({"stackIndex": 1, "values": [1], "attributeIndices":
                                          first_sample(top)["attributeIndices"]})


def repeated_key(top):
    rows = tables(top)["attributeTable"]
    sample = first_sample(top)
    rows.append({"keyStrindex": rows[sample["attributeIndices"][0]]["keyStrindex"],
                 "value": {"intValue": 2 ** 40}})
    sample["attributeIndices"].append(len(rows) - 1)


def other_mapping_id(top):
    mapping = tables(top)["mappingTable"][1]
    mapping["attributeIndices"].remove(attribute_of(top, mapping, otlp_check.HTLHASH))


def frame_type(top):
    location = tables(top)["locationTable"][1]
    index = attribute_of(top, location, "profile.frame.type")
    tables(top)["attributeTable"][index]["value"] = {"stringValue": "cobol"}


def no_frame_type(top):
    tables(top)["locationTable"][1]["attributeIndices"] = []


def set_key(element, key, value):
    element[key] = value


# (what, profile, mistake, the rule that tells it). The first part has the shapes that receivers were
# measured with. No receiver refuses the last of these, which says nothing of a process.
MISTAKES = (
    ("values and times", "timed", both, "shape"),
    ("one value and several times", "timed", value_and_times, "shape"),
    ("neither values nor times", "timed",
     lambda top: first_sample(top).pop("timestampsUnixNano"), "shape"),
    ("several values", "hostile", lambda top: first_sample(top)["values"].append(1), "shape"),
    ("no period", "timed", lambda top: first_profile(top).pop("period"), "period"),
    ("no type of the period", "timed", lambda top: first_profile(top).pop("periodType"),
     "period-type"),
    ("a time at the end of the window", "timed", at_the_end, "window"),
    ("a time before the window", "timed",
     lambda top: set_key(first_profile(top), "timeUnixNano",
                         first_profile(top)["timeUnixNano"] + 10 ** 9), "window"),
    ("a profile without samples", "timed", no_samples, "empty-profile"),
    ("string 0 is a text", "timed",
     lambda top: set_key(tables(top)["stringTable"], 0, "zero"), "table-zero"),
    ("a stack that is not there", "timed",
     lambda top: set_key(first_sample(top), "stackIndex", 10 ** 6), "index"),
    ("nothing at all", "timed", nothing, "empty-request"),
    ("no attribute of a resource", "timed", no_resource, "resource"),
    # further ones
    ("no table of links", "timed", lambda top: tables(top).pop("linkTable"), "table-empty"),
    ("link 0 has zeros", "timed",
     lambda top: set_key(tables(top)["linkTable"], 0, {"traceId": "00" * 16, "spanId": "00" * 8}),
     "link-zero"),
    ("equal strings", "timed", lambda top: tables(top)["stringTable"].append("cpu"), "duplicate"),
    ("a string of nobody", "timed", lambda top: tables(top)["stringTable"].append("nobody"),
     "orphan"),
    ("a NUL in a string", "timed",
     lambda top: set_key(tables(top)["stringTable"], 1, "a\0b"), "control"),
    ("equal samples", "timed", twice, "identity"),
    ("two shapes in a profile", "timed", mixed, "shape"),
    ("an attribute twice", "timed", repeated_key, "key-repeated"),
    ("attributes that are references", "timed",
     lambda top: set_key(top["resourceProfiles"][0]["resource"]["attributes"], 0,
                         {"keyStrindex": 1, "value": {"intValue": 7}}), "resource"),
    ("a resource twice", "timed",
     lambda top: top["resourceProfiles"].append(top["resourceProfiles"][0]), "resource"),
    ("a mapping without the hashed id", "timed", other_mapping_id, "mapping-id"),
    ("a mapping that ends where it begins", "timed",
     lambda top: set_key(tables(top)["mappingTable"][1], "memoryLimit",
                         tables(top)["mappingTable"][1]["memoryStart"]), "mapping-range"),
    ("an unknown kind of frame", "timed", frame_type, "frame-type"),
    ("no kind of frame", "timed", no_frame_type, "frame-type"),
    ("a location without a line", "timed",
     lambda top: tables(top)["locationTable"][1].pop("lines"), "lines"),
    ("no scope", "timed",
     lambda top: top["resourceProfiles"][0]["scopeProfiles"][0].pop("scope"), "scope"),
)


def check_mistakes():
    for what, profile, make, rule in MISTAKES:
        top = message(profile)
        make(top)
        problems = otlp_check.check_bytes(otlp_check.encode("ProfilesData", top), request=True)
        result(any(each.startswith(rule + ":") for each in problems), "refused: %s" % what,
               "\n".join(problems[:5]) or "no problem is seen")


def check_bytes():
    good = otlp_check.encode("ProfilesData", message("timed"))
    top = message("timed")
    tables(top)["stringTable"][1] = b"\xff\xfe"
    bad = {
        "no UTF-8": (otlp_check.encode("ProfilesData", top), "utf8"),
        "the last byte is missing": (good[:-1], "wire"),
        "a field that is not there": (good + b"\x98\x06\x01", "wire"),
        "another wire type": (good + b"\x10\x01", "wire"),
        "no bytes": (b"", "empty-request"),
    }
    for what, (data, rule) in bad.items():
        problems = otlp_check.check_bytes(data, request=True)
        result(any(each.startswith(rule + ":") for each in problems), "refused: %s" % what, problems)
    # The layout of version 1.9 had values as field 2, attributes 3, link 4.
    sample = first_sample(message("hostile"))
    old = (b"\x08\x01\x12\x01\x05\x1a\x02\x01\x02\x20\x00", b"\x08\x01\x22\x01\x05\x12\x02\x01\x02")
    try:
        otlp_check.decode("Sample", old[0])
        result(False, "refused: the layout of version 1.9", sample)
    except otlp_check.Broken:
        result(True, "refused: the layout of version 1.9")
    result(otlp_check.decode("Sample", old[1])["values"] == [5], "taken: the layout of version 1.10")


check_good()
check_shapes()
check_mistakes()
check_bytes()
print("1..%d" % number)
