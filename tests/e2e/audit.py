# SPDX-License-Identifier: Apache-2.0
"""audit.py FILE [NAME=NUMBER...]: reads an audit stream back and holds it to its rules.

maps, object, segment, grant, code, context: the worker sent so many requests in the last run. A broker that
another one replaced may have left one of them undone. runs: so many runs.
incomplete=1: records must be missing, and show; else none may be.
"""
import json
import re
import sys

FIELDS = {
    "start": "version uid user mode policy arguments",
    "confined": "process pid without",
    "refused": "process pid without",
    "sampled": "what period",
    "sampling": "frequency",
    "operations": "operation pid major minor inode result count granted",
    "violation": "process reason",
    "exited": "process how number",
    "kill": "process reason",
    "restart": "process",
    "policy": "path hash",
    "incomplete": "process reason",
    "end": "status records lost",
}
PAIR = re.compile(r'([a-z]+)=(?:"([^"]*)"|([0-9]+))(?: |$)')


def parse(line, is_json):
    if is_json:
        return json.loads(line)
    record, at = {}, 0
    while at < len(line):
        match = PAIR.match(line, at)
        if not match:
            raise ValueError(line[at:])
        record[match[1]] = int(match[3]) if match[2] is None else match[2]
        at = match.end()
    return record


def read(path):
    """Runs as lists of records, and how many lines have no end."""
    runs, torn = {}, 0
    for line in open(path, encoding="ascii").read().split("\n"):
        if not line:
            continue
        try:
            record = parse(line, path.endswith(".json"))
            names = " ".join(record)
            if names != "seq time run id event " + FIELDS[record["event"]]:
                raise ValueError(names)
        except (ValueError, KeyError):
            torn += 1
            continue
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", record["time"]), record
        runs.setdefault(record["run"], []).append(record)
    return list(runs.values()), torn


def main():
    wanted = dict(pair.split("=") for pair in sys.argv[2:])
    runs, torn = read(sys.argv[1])
    incomplete = int(wanted.pop("incomplete", "0"))
    assert len(runs) == int(wanted.pop("runs", len(runs))), f"{len(runs)} runs"
    for run in runs:
        numbers = [record["seq"] for record in run]
        assert numbers == sorted(set(numbers)), "not in order"
        whole = numbers == list(range(1, len(run) + 1)) and run[-1]["event"] == "end"
        assert whole != bool(incomplete), f"{len(run)} records, {torn} torn, last {run[-1]}"
        assert incomplete or (run[-1]["records"] == len(run) and run[-1]["lost"] == 0), run[-1]
        assert run[0]["event"] == "start", run[0]
    events = [record["event"] for record in runs[-1] if record["event"] != "operations"]
    restarts = events.count("restart")
    if not incomplete:
        # keyhole, three children and their spawners; a child that is replaced comes with a spawner
        assert events.count("confined") == 7 + 2 * restarts and "sampling" in events, events
    sums = {}
    for record in runs[-1]:
        if record["event"] == "operations":
            sums[record["operation"]] = sums.get(record["operation"], 0) + record["count"]
    undone = sum(int(number) - sums.get(name, 0) for name, number in wanted.items())
    assert 0 <= undone <= restarts, f"{sums}, wanted {wanted}, {restarts} restarts"
    for name, number in wanted.items():
        assert sums.get(name, 0) <= int(number), f"{name}: {sums.get(name, 0)} of {number}"
    print(f"  {len(runs[-1])} records, {torn} torn; " +
          ", ".join(f"{name} {number}" for name, number in sorted(sums.items())))


main()
