#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evidence.py BUILD [check]: what is claimed, and which tests showed it.

Reads claims.def and the TAP files of BUILD/results (tests/run.sh); writes BUILD/evidence.md and
BUILD/evidence.json and prints a line for each claim. `check` looks at the table alone.

The exit status is 1 if the table is wrong, a test failed, or a named test does not exist although
its suite ran. With EVIDENCE_ALL=1 the status is also 1 if a suite did not run or a claim waits.
"""
import collections
import json
import os
import platform
import re
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "tests/evidence/claims.def")
KEYS = ("by", "needs")
WIDTH = 100
# How a pattern, and then a claim, came out; the worst first.
FAILED, MISSING, NOT_RUN, SKIPPED, PASSED = "FAILED", "MISSING", "not run", "skipped", "passed"
PARTLY, WAITS = "partly", "waits"
Test = collections.namedtuple("Test", "name state reason")


class Wrong(Exception):
    pass


class Claim:
    def __init__(self, number, section, name, text):
        self.number, self.section, self.name, self.text = number, section, name, text
        self.tests, self.needs = [], []
        self.result = WAITS

    def add(self, key, value):
        if key == "needs":
            self.needs.append(value)
            return
        program, _, test = value.partition(": ")
        if not test:
            raise Wrong(f"{self.name}: by {value}: no test, give `suite/program: test`")
        self.tests.append({"program": program, "test": test})


# ---- the table --------------------------------------------------------------------------------

def parse(lines):
    """[Section], `claim name: sentence`, then `by suite/program: test`."""
    claims, section = [], ""
    for number, line in enumerate(lines, 1):
        key, _, value = line.strip().partition(" ")
        if not key or key.startswith("#"):
            continue
        if key.startswith("["):
            section = line.strip("[] \n")
        elif key == "claim":
            name, _, text = value.partition(": ")
            if not text or any(claim.name == name for claim in claims):
                raise Wrong(f"line {number}: {name}: without a sentence, or there twice")
            claims.append(Claim(number, section, name, text))
        elif key in KEYS and claims and value:
            claims[-1].add(key, value.strip())
        else:
            raise Wrong(f"line {number}: neither [section], claim, by nor needs")
    return claims


def check(claims):
    """Returns the faults of the table, a line each."""
    return [f"{claim.name}: no test" for claim in claims if not claim.tests]


# ---- results ----------------------------------------------------------------------------------

def read_tap(lines):
    """Every test of a stream, but not the number it had nor the seconds it took."""
    tests = []
    for line in lines:
        match = re.match(r"(not )?ok\b\s*[0-9]*\s*-?\s*(.*?)\s*(?:# SKIP\s*(.*))?$", line.rstrip())
        if not match:
            continue
        bad, name, reason = match.groups()
        state = SKIPPED if reason is not None else FAILED if bad else PASSED
        tests.append(Test(re.sub(r" \([0-9]+ s(, CPU [0-9.]+ s)?\)$", "", name), state, reason or ""))
    return tests


def read_results(folder):  # {suite: {program: [tests]}} of what ran
    results = {}
    for suite in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        for name in sorted(os.listdir(os.path.join(folder, suite))):
            if name.endswith(".tap"):
                with open(os.path.join(folder, suite, name), errors="replace") as file:
                    results.setdefault(suite, {})[name[:-4]] = read_tap(file)
    return results


def judge_test(entry, results):
    """Sets what came of a pattern: the worst of all that it names."""
    suite, _, program = entry["program"].partition("/")
    tests = results.get(suite, {}).get(program)
    # A program that was skipped as a whole names no test.
    whole = tests and all(test.state == SKIPPED for test in tests)
    pattern = re.compile(".*".join(re.escape(part) for part in entry["test"].split("*")))
    found = [test for test in tests or [] if pattern.fullmatch(test.name)] or (
        tests if whole else [])
    states = {test.state for test in found}
    reasons = {test.reason for test in found if test.state == SKIPPED and test.reason}
    if suite not in results:
        entry["result"] = NOT_RUN
    elif not found:     # a program that failed need not have come to it
        entry["result"] = FAILED if any(test.state == FAILED for test in tests or []) else MISSING
    else:
        entry["result"] = next(state for state in (FAILED, SKIPPED, PASSED) if state in states)
    entry["reason"] = "; ".join(sorted(reasons))
    entry["tests"] = len(found)


def judge(claim, results):
    for entry in claim.tests:
        judge_test(entry, results)
    states = [entry["result"] for entry in claim.tests]
    worst = next(state for state in (FAILED, MISSING, NOT_RUN, SKIPPED, PASSED) if state in states)
    if claim.needs and not any(e["tests"] and e["result"] == FAILED for e in claim.tests):
        claim.result = WAITS
    elif worst in (NOT_RUN, SKIPPED) and PASSED in states:
        claim.result = PARTLY
    else:
        claim.result = worst


# ---- what is shown ----------------------------------------------------------------------------

def shown(entry):
    text = entry["result"]
    if entry["reason"]:
        text += f" ({entry['reason']})"
    if entry["tests"] > 1:
        text += f", {entry['tests']} tests"
    return text


def markdown(claims, results, sums):
    lines = ["# Evidence", "", f"Linux {platform.release()}, {platform.machine()}, "
             f"{time.strftime('%Y-%m-%d %H:%M')}. {sums}", "",
             "Suites that ran: " + ", ".join(
                 f"{suite} ({sum(len(tests) for tests in programs.values())} tests)"
                 for suite, programs in results.items()) + ".", ""]
    section = None
    for claim in claims:
        if claim.section != section:
            section = claim.section
            lines += [f"## {section}", "", "| claim | shown by | result |", "| --- | --- | --- |"]
        cells = [claim.text,
                 "<br>".join(f"`{entry['program']}: {entry['test']}`: {shown(entry)}"
                             for entry in claim.tests),
                 claim.result + (f" for {', '.join(claim.needs)}" if claim.result == WAITS else "")]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if claim is claims[-1] or claims[claims.index(claim) + 1].section != section:
            lines.append("")
    return "\n".join(lines)


def print_claim(claim):
    why = ""
    if claim.result not in (PASSED, WAITS):
        bad = next(entry for entry in claim.tests if entry["result"] != PASSED)
        why = f" [{bad['program']}: {bad['test']}{': ' * bool(bad['reason'])}{bad['reason']}]"
    elif claim.result == WAITS:
        why = f" [{', '.join(claim.needs)}]"
    line = f"  {claim.result:<8} {claim.name}: {claim.text}"
    room = WIDTH if not why else max(40, WIDTH - len(why))
    print((line if len(line) <= room else line[:room - 2] + "..") + why)


def summary(claims):
    count = collections.Counter(claim.result for claim in claims)
    order = (PASSED, PARTLY, SKIPPED, NOT_RUN, WAITS, MISSING, FAILED)
    return f"{len(claims)} claims: " + ", ".join(
        f"{count[state]} {state}" for state in order if count[state])


def is_bad(claim):
    if claim.result in (FAILED, MISSING):
        return True
    return os.environ.get("EVIDENCE_ALL") == "1" and (
        claim.result == WAITS or any(entry["result"] == NOT_RUN for entry in claim.tests))


def main(build, only_table=False):
    try:
        with open(TABLE, encoding="utf-8") as file:
            claims = parse(file)
    except Wrong as error:
        print(f"claims.def: {error}", file=sys.stderr)
        return 1
    wrong = check(claims)
    for line in wrong:
        print(f"claims.def: {line}", file=sys.stderr)
    if wrong or only_table:
        return bool(wrong)
    results = read_results(os.path.join(build, "results"))
    for claim in claims:
        judge(claim, results)
    # Claims that fail come last: a CI shows the end of a log.
    for claim in sorted(claims, key=is_bad):
        print_claim(claim)
    print(summary(claims))
    os.makedirs(build, exist_ok=True)
    with open(os.path.join(build, "evidence.md"), "w", encoding="utf-8") as file:
        file.write(markdown(claims, results, summary(claims)))
    with open(os.path.join(build, "evidence.json"), "w", encoding="utf-8") as file:
        json.dump([vars(claim) for claim in claims], file, indent=1)
    return int(any(is_bad(claim) for claim in claims))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:] == ["check"]))
