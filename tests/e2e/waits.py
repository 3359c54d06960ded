# SPDX-License-Identifier: Apache-2.0
"""Times off the CPU in a pprof file: waits.py FILE COMMAND ARGUMENTS...

share LEAST MOST STATE CHAIN: seconds of samples in that state whose stacks have CHAIN (root first),
    as a part of LEAST and MOST seconds. STATE is "on-cpu", the word of a wait, or "*".
wakers STATE TEXT PERCENT: so much of the time in that state ended by a waker with TEXT in its name.
"""
import sys

sys.path.insert(0, "tests/e2e")
import pprof  # noqa: E402


def frames(profile, sample):
    return [profile.frame(location) for location in reversed(sample["locations"])]


def state_of(sample):
    labels = sample["labels"]
    return labels.get("wait") or labels.get("state")


def seconds(samples):
    return sum(sample["values"][1] for sample in samples) / 1e9


def share(profile, least, most, state, chain):
    chain = chain.split(";")
    found = [sample for sample in profile.samples
             if state in ("*", state_of(sample)) and any(
                 frames(profile, sample)[at:at + len(chain)] == chain
                 for at in range(len(frames(profile, sample))))]
    value = seconds(found)
    print(f"{';'.join(chain)}, {state}: {value:.3f} s of {least} to {most}")
    return float(least) <= value <= float(most)


def wakers(profile, state, text, percent):
    all_of = [sample for sample in profile.samples if state_of(sample) == state]
    by = [sample for sample in all_of if text in sample["labels"].get("waker", "")]
    part = 100 * seconds(by) / max(seconds(all_of), 1e-9)
    print(f"{state} ended by {text}: {part:.1f} %, of {percent}")
    return part >= float(percent)


if __name__ == "__main__":
    file, command, *arguments = sys.argv[1:]
    commands = {"share": share, "wakers": wakers}
    sys.exit(0 if commands[command](pprof.Profile(file), *arguments) else 1)
