# SPDX-License-Identifier: Apache-2.0
"""made.py PROFILE REPORT: how far a profile names code that a program's compiler makes.

PROFILE is of pprof. The program writes REPORT: version, leaf, callers, complete. leaf is a regular expression for the
names of the function that works. callers are the same for functions above it, outermost first. complete is the least
percentage of its stacks that end at a proven root. Without `complete` nothing is asked of the stacks.
Prints a row of figures, and what disagrees. Ends with 1 below a bound.
"""

import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import pprof  # noqa: E402

NAMED = 95.0  # percent of all samples; the rest is the runtime's own work
CALLERS = 95.0
EXAMPLES = 4


def names_of(profile, sample):
    """Returns the names of all frames, outermost first."""
    names = []
    for number in reversed(sample["locations"]):
        location = profile.locations[number]
        file = profile.mappings.get(location["mapping"], {}).get("file") or ""
        names += [profile.functions[one]["name"] for one in location["functions"][:1]] or [os.path.basename(file)]
    return names


def has_in_order(names, wanted):
    left = iter(names)
    return all(any(re.fullmatch(want, name) for name in left) for want in wanted)


def share(name, bound, pairs):
    """Prints what disagrees. pairs: (good, count, example). Returns the percentage and whether it holds."""
    good, whole, bad = 0, 0, collections.Counter()
    for is_good, count, example in pairs:
        whole += count
        good += is_good * count
        if not is_good:
            bad[example] += count
    percent = 100.0 * good / whole if whole else 0.0
    if bound is not None and percent < bound:
        print("# %s: %.2f %%, bound %.1f %%" % (name, percent, bound))
        for example, count in bad.most_common(EXAMPLES):
            print("#   %d of %s" % (count, example))
    return percent, bound is None or percent >= bound


def main():
    profile = pprof.Profile(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    samples = [(names_of(profile, sample), sample["values"][0]) for sample in profile.samples]
    texts = [";".join(names[-8:]) for names, _ in samples]
    named = [any(re.fullmatch(report["leaf"], name) for name in names) for names, _ in samples]
    below = [(names, count, text) for (names, count), text, is_named in zip(samples, texts, named) if is_named]
    shares = [
        share("named", NAMED, [(is_named, count, text) for (_, count), text, is_named in zip(samples, texts, named)]),
        share("callers", CALLERS, [(has_in_order(names, report["callers"]), count, text)
                                   for names, count, text in below]),
        share("complete", report.get("complete"), [
            (not any(name.startswith(("[cut", "[guessed")) for name in names), count, text)
            for names, count, text in below]),
    ]
    print("# | %-8s %8d  named %.2f  callers %.2f  complete %.2f" % (
        report["version"], sum(count for _, count in samples), *(percent for percent, _ in shares)))
    sys.exit(0 if all(holds for _, holds in shares) and samples else 1)


main()
