#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golabels.py PROFILE [SAID]: compares labels of goroutines in a profile with what the program says.

SAID is JSON of workloads/golabels: labels by the goroutine's number. Without it, the profile may have
no label of a goroutine. The profile is of pprof, or OTLP as JSON. Exits with 1 where they differ.
Samples before the grant have no labels: they are told by their times, which OTLP alone has.
"""
import json
import sys

import pprof

OURS = {"pid", "tid", "comm", "thread", "cgroup", "cgroup_path", "container", "reason", "goroutine"}
TEXT, LABELS, CUT = 64, 16, "..."   # bytes of a text, and labels of a sample: bpf/abi.h
PREFIX = "go.label."
LEAF = "main.spin"
LABELLED = "main.work.func1"   # has its labels; pprof.Do sets them before, and takes them back
COMPLETE = 0.99     # of the samples in that function, from the first one with a goroutine on
ENOUGH = 60         # such samples
STARVED = 75        # exit status: less CPU time than that


def of_pprof(path):
    """[(functions, times or as many None, goroutine or None, labels)]"""
    profile = pprof.Profile(path)
    for sample in profile.samples:
        labels = dict(sample["labels"])
        functions = [profile.frame(location) for location in sample["locations"]]
        given = {key: value for key, value in labels.items() if key not in OURS}
        yield functions, [None] * sample["values"][0], labels.get("goroutine"), given


def of_otlp(path):
    with open(path) as file:
        top = json.load(file)
    tables = top["dictionary"]
    strings = tables["stringTable"]

    def function(index):
        lines = tables["locationTable"][index].get("lines", [])
        at = lines[0].get("functionIndex", 0) if lines else 0
        return strings[tables["functionTable"][at].get("nameStrindex", 0)]

    def attribute(index):
        pair = tables["attributeTable"][index]
        value = pair["value"]
        number = value.get("intValue")
        return (strings[pair["keyStrindex"]],
                value.get("stringValue", "") if number is None else int(number))

    for resource in top["resourceProfiles"]:
        for profile in resource["scopeProfiles"][0]["profiles"]:
            for sample in profile.get("samples", []):
                stack = tables["stackTable"][sample.get("stackIndex", 0)]
                functions = [function(index) for index in stack.get("locationIndices", [])]
                pairs = dict(attribute(index) for index in sample.get("attributeIndices", []))
                given = {key[len(PREFIX):]: value for key, value in pairs.items()
                         if key.startswith(PREFIX)}
                times = [int(time) for time in sample["timestampsUnixNano"]]
                yield functions, times, pairs.get("go.goroutine.id"), given


def shown(text):
    return text[:TEXT] + CUT if len(text) > TEXT else text


def agree(given, said):
    """Whether a sample has the labels of its goroutine, or as many as there is room for."""
    wanted = {shown(key): shown(value) for key, value in said.items()}
    return len(given) == min(len(wanted), LABELS) and given.items() <= wanted.items()


def main():
    path = sys.argv[1]
    samples = list(of_otlp(path) if path.endswith("json") else of_pprof(path))
    if len(sys.argv) < 3:
        return any(goroutine or given for _, _, goroutine, given in samples)
    with open(sys.argv[2]) as file:
        said = json.load(file)
    met, spun = set(), []
    for functions, times, goroutine, given in samples:
        if goroutine is not None and str(goroutine) in said:
            met.add(str(goroutine))
            if (given or LABELLED in functions) and not agree(given, said[str(goroutine)]):
                print(f"goroutine {goroutine}: {given}, not {said[str(goroutine)]}")
                return 1
        elif given:
            print(f"goroutine {goroutine}: {given}, which the program does not know")
            return 1
        if functions and functions[0] == LEAF:
            spun += [(time, str(goroutine) in said) for time in times]
    good = [time for time, has_goroutine in spun if has_goroutine]
    late = len(good)
    if good and good[0] is not None:
        late = sum(time >= min(good) for time, _ in spun)
    print(f"{path.split('/')[-1]}: {len(spun)} samples in {LEAF}, {late} from the grant on, "
          f"{len(good)} with their goroutine's labels; {len(met)} of {len(said)} goroutines")
    if len(spun) < ENOUGH:
        return STARVED
    return met != set(said) or len(good) < max(ENOUGH, COMPLETE * late)


if __name__ == "__main__":
    sys.exit(main())
