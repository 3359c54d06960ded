# SPDX-License-Identifier: Apache-2.0
"""traces.py FILE [none]: the links of an OTLP profile of tests/e2e/workloads/traced.c. Each thread in a
span has the span's link, from the first linked sample on, and no other thread has one. none: no sample
has a link. The status is 75 for too few samples."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats"))
import otlp_check  # noqa: E402

STARVED = 75
ENOUGH = 50  # samples of a thread in a span
FEW = 3  # of the process's last ones, once it has ended, keyhole cannot tell
SPANS = {"traced_first": ("a1" * 16, "b1" * 8), "traced_second": ("a2" * 16, "b2" * 8)}
FUNCTIONS = list(SPANS) + ["traced_none"]

path, none = sys.argv[1], sys.argv[2:] == ["none"]
problems = otlp_check.check_file(path)
assert not problems, problems
with open(path, "rb") as file:
    top = otlp_check.decode("ProfilesData", file.read())
tables = top["dictionary"]


def names(stack):
    for location in tables["stackTable"][stack].get("locationIndices", []):
        for line in tables["locationTable"][location].get("lines", []):
            function = tables["functionTable"][line["functionIndex"]]
            yield tables["stringTable"][function["nameStrindex"]]


def link(sample):
    row = tables["linkTable"][sample.get("linkIndex", 0)]
    return (row["traceId"], row["spanId"]) if row else None


samples = []  # time, function, link
for resource in top.get("resourceProfiles", []):
    for sample in resource["scopeProfiles"][0]["profiles"][0]["samples"]:
        function = next((name for name in names(sample.get("stackIndex", 0)) if name in FUNCTIONS), "")
        samples += [(time, function, link(sample)) for time in sample["timestampsUnixNano"]]
samples.sort()
linked = [time for time, _, of in samples if of]
print(len(samples), "samples,", len(linked), "linked,",
      len([1 for _, function, _ in samples if function == "traced_none"]), "of no span")
if none:
    assert not linked, linked
    assert tables["linkTable"] == [{}], tables["linkTable"]
    sys.exit(0 if len(samples) > 2 * ENOUGH else STARVED)
for _, function, of in samples:
    assert of is None or not function or SPANS.get(function) == of, (function, of)
if not linked:
    sys.exit("no sample has a link")
after = [(function, of) for time, function, of in samples if time >= linked[0]]
for span in SPANS:
    here = [of for function, of in after if function == span]
    if len(here) < ENOUGH:
        sys.exit(STARVED)
    assert here.count(None) <= FEW, (span, here.count(None), len(here))
if len([1 for function, _ in after if function == "traced_none"]) < ENOUGH:
    sys.exit(STARVED)
