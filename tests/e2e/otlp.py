# SPDX-License-Identifier: Apache-2.0
"""otlp.py FILE PROGRAM BEGAN: what OTLP tells of a program, of its file and of its time. BEGAN: a
time in ns, before the recording."""

import hashlib
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats"))
import otlp_check  # noqa: E402

path, program, began = sys.argv[1], os.path.realpath(sys.argv[2]), int(sys.argv[3])
problems = otlp_check.check_file(path, request=True)
assert not problems, problems

with open(path, "rb") as file:
    top = otlp_check.decode("ProfilesData", file.read())
tables = top["dictionary"]
strings = tables["stringTable"]


def attributes(element):
    pairs = (tables["attributeTable"][index] for index in element["attributeIndices"])
    return {strings[pair["keyStrindex"]]: next(iter(pair["value"].values())) for pair in pairs}


def values(resource):
    return {pair["key"]: next(iter(pair["value"].values())) for pair in resource["attributes"]}


resources = [(values(each["resource"]), each["scopeProfiles"][0]["profiles"][0])
             for each in top["resourceProfiles"]]
of_program = [(known, profile) for known, profile in resources
              if known.get("process.executable.path") == program]
assert len(of_program) == 1, [known for known, _ in resources]
known, profile = of_program[0]
print(known)
assert known["process.executable.name"] == os.path.basename(program)
assert known["host.arch"] in ("amd64", "arm64") and known["os.type"] == "linux", known
created = known["process.creation.time"]
first, last = (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
               for seconds in (began // 10 ** 9, time.time() + 1))
assert first <= created <= last, created

cpus, times = set(), []
for sample in profile["samples"]:
    cpus.add(attributes(sample)["cpu.logical_number"])
    times += sample["timestampsUnixNano"]
assert cpus <= set(range(os.cpu_count() or 1)), cpus
assert min(times) >= began - 10 ** 9 and max(times) <= time.time_ns() + 10 ** 9, (min(times), max(times))

with open(program, "rb") as file:
    data = file.read()
hashed = next(attributes(mapping)[otlp_check.HTLHASH] for mapping in tables["mappingTable"]
              if mapping and strings[mapping["filenameStrindex"]] == program)
expected = hashlib.sha256(data[:4096] + data[-4096:] + len(data).to_bytes(8, "big"))
assert hashed == expected.hexdigest()[:32], hashed
