# SPDX-License-Identifier: Apache-2.0
"""cgroups.py BY OTLP ODD ID: the paths of case_cgroup_paths, in a report by cgroup and in OTLP."""

import json
import sys

by, otlp, odd, container = sys.argv[1:]
scope = f"{odd}/docker-{container}.scope"
where = {"spin": {scope + "/below"}, "become_before": {odd}, "become_after": {scope}}

with open(by) as file:
    rows = {row["name"] for row in json.load(file)["rows"]}
assert rows == {odd, scope, scope + "/below"}, rows

with open(otlp) as file:
    data = json.load(file)
tables = data["dictionary"]
strings = tables["stringTable"]


def attributes(sample):
    for index in sample["attributeIndices"]:
        pair = tables["attributeTable"][index]
        yield strings[pair["keyStrindex"]], next(iter(pair["value"].values()))


def functions(sample):
    for at in tables["stackTable"][sample["stackIndex"]]["locationIndices"]:
        for line in tables["locationTable"][at]["lines"]:
            yield strings[tables["functionTable"][line["functionIndex"]]["nameStrindex"]]


seen = {name: set() for name in where}
of = {}
for resource in data["resourceProfiles"]:
    known = {pair["key"]: pair["value"].get("stringValue") for pair in resource["resource"]["attributes"]}
    of[known["process.executable.name"]] = known.get("container.id")
    for profile in resource["scopeProfiles"][0]["profiles"]:
        for sample in profile["samples"]:
            names = set(functions(sample))
            for name in ("become_before", "become_after"):
                if name in names:
                    seen[name].add(dict(attributes(sample))["keyhole.cgroup_path"])
            if known["process.executable.name"] == "spin":
                seen["spin"].add(dict(attributes(sample))["keyhole.cgroup_path"])

assert of["spin"] == container, of
assert of["become"] is None, of  # was outside of the container as well
print(seen)
assert seen == where, seen
