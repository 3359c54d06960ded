#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs evidence.py on tables and results that are made here. Prints TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import evidence

TAP = """1..5
ok 1 - good: 17 of 17
not ok 2 - bad
ok 3 - slow (12 s, CPU 3.5 s)
ok 4 - absent # SKIP no such kernel
not ok 5 - also_absent # SKIP
# ok 6 - a comment
ok
"""
TABLE = """# a comment
[One]
claim first: It holds.
by suite/program: good: * of *
"""
RESULTS = {"suite": {"program": evidence.read_tap(TAP.splitlines()),
                     "calm": evidence.read_tap(["ok 1 - good"]),
                     "whole": evidence.read_tap(["ok 1 - whole # SKIP not root"])}}


def result_of(*tests, needs=False):
    claim = evidence.Claim(1, "", "name", "text")
    for test in tests:
        claim.add("by", test)
    claim.needs = ["something"] if needs else []
    evidence.judge(claim, RESULTS)
    return claim.result


def is_wrong(table):
    try:
        return bool(evidence.check(evidence.parse(table.splitlines())))
    except evidence.Wrong:
        return True


def reads_tap():
    states = [(test.name, test.state, test.reason) for test in RESULTS["suite"]["program"]]
    return states == [("good: 17 of 17", "passed", ""), ("bad", "FAILED", ""),
                      ("slow", "passed", ""), ("absent", "skipped", "no such kernel"),
                      ("also_absent", "skipped", ""), ("", "passed", "")]


def judges():
    return [result_of(*tests) for tests in (
        ["suite/program: good: * of *"], ["suite/program: bad"], ["suite/program: absent"],
        ["suite/program: none"], ["suite/calm: none"], ["other/program: good"],
        ["suite/whole: anything"], ["suite/program: slow", "suite/program: absent"],
        ["suite/program: slow", "other/program: x"], ["suite/program: *"])] == [
            "passed", "FAILED", "skipped", "FAILED", "MISSING", "not run",
            "skipped", "partly", "partly", "FAILED"]


def waits():
    return (result_of("suite/program: good*", needs=True) == "waits" and
            result_of("suite/program: none", needs=True) == "waits" and
            result_of("suite/program: bad", needs=True) == "FAILED")


def says_what_is_bad():
    def bad(*tests, needs=False, all_of_it="0"):
        claim = evidence.Claim(1, "", "name", "text")
        for test in tests:
            claim.add("by", test)
        claim.needs = ["something"] if needs else []
        evidence.judge(claim, RESULTS)
        os.environ["EVIDENCE_ALL"] = all_of_it
        return evidence.is_bad(claim)
    return [bad("suite/program: slow"), bad("suite/program: absent"), bad("suite/program: bad"),
            bad("suite/program: none"), bad("other/program: x"),
            bad("other/program: x", all_of_it="1"), bad("suite/program: slow", needs=True),
            bad("suite/program: slow", needs=True, all_of_it="1")] == [
                False, False, True, True, False, True, False, True]


def wants_a_right_table():
    return not is_wrong(TABLE) and all(
        is_wrong(table) for table in (
            TABLE.replace("by suite", "# by suite"), TABLE.replace("good: * of *", ""),
            TABLE + TABLE, TABLE.replace("by", "from"), TABLE.replace(": It holds.", "")))


def main():
    tests = (reads_tap, judges, waits, says_what_is_bad, wants_a_right_table)
    failed = 0
    for number, test in enumerate(tests, 1):
        good = test()
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - evidence: {test.__name__}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
