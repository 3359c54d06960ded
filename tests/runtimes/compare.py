# SPDX-License-Identifier: Apache-2.0
"""compare.py PROFILE REPORT [PY_SPY]: how far a profile agrees with what an interpreter says of itself.

PROFILE is of pprof, REPORT of workloads/report.py, calls.lua, calls.rb or hosted.py, PY_SPY in the raw format. Prints a
row of figures, and what disagrees. Ends with 1 below a bound.
"""

import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import pprof  # noqa: E402

OBSERVER = "observe"
COMPLETE, FUNCTIONS, CALLS, LINES, OTHER = 99.0, 99.0, 99.0, 99.0, 98.0  # percent
NAMES = 99.0  # of frames that the interpreter has a name for
SHOWN = 90.0  # of samples in an interpreter; the first ones come before the grant
INLINED = 50.0  # the rest is the work of the function itself
ORDER = 95.0  # the rest is at the beginning and the end of what a function calls
EXAMPLES = 4
UNREAD, CLOSURE = "[function, name not read]", "{closure}"
LUA_MAPPINGS = "[lua]", "[luajit]"
RUBY_MAPPING = "[ruby]"
RESCUES = "rescue in ", "ensure in "
JAVA_MAPPING = "[java]"
JAVA_HIDDEN = "$$Lambda", "LambdaForm$"  # Java's own stacks leave these classes out
JAVA_BENEATH = ["java.lang.Thread.runWith"]  # and this function, beneath a virtual thread's own
SCRIPT_MAPPINGS = "[python]", "[php]", "[perl]", RUBY_MAPPING, JAVA_MAPPING, "[javascript]", *LUA_MAPPINGS
INTERPRETERS = "python", "libpython", "lua", "php", "libphp", "ruby", "libruby", "perl", "libperl", "node"

Frame = collections.namedtuple("Frame", "name file line")


def base(path):
    return path.rsplit("/", 1)[-1]


def lua_name(function, count, called):
    """Returns the name that a function of Lua has without its callers. Adds frames to the name that it has."""
    own = "main chunk"
    if function["line"] != 0:
        own = "function <%s:%d>" % (base(function["file"]), function["line"])
    called[own][function["name"]] += count
    return own


def java_frames(profile, location):
    """Returns the functions of a location, outermost first, as Java's own stacks have them: without parameters."""
    frames = []
    for number, line in reversed(list(zip(location["functions"], location["lines"]))):
        function = profile.functions[number]
        name = function["name"].split("(")[0]
        if function["file"] and not any(part in name for part in JAVA_HIDDEN):  # else HotSpot's own code
            frames.append(Frame(name, base(function["file"]), line))
    return frames


def frames_of(profile, sample, called):
    """Returns the functions of a sample's program, outermost first. called: frames of Lua's functions, by names."""
    frames = []
    for number in reversed(sample["locations"]):
        location = profile.locations[number]
        if profile.mappings.get(location["mapping"], {}).get("file") not in SCRIPT_MAPPINGS:
            continue
        if not location["functions"]:
            frames.append(Frame("?", "?", 0))
            continue
        if profile.mappings[location["mapping"]]["file"] == JAVA_MAPPING:
            frames.extend(java_frames(profile, location))
            continue
        for number, line in reversed(list(zip(location["functions"], location["lines"]))):
            function = profile.functions[number]
            name = function["name"]
            if profile.mappings[location["mapping"]]["file"] in LUA_MAPPINGS:
                name = lua_name(function, sample["values"][0], called)
            frames.append(Frame(name, base(function["file"]), line))
    return frames


def as_ruby(frames, version):
    """Returns functions of Ruby as its own stacks have them.

    A function that Ruby has in Ruby counts as one in C. From 3.4 on, a function stands for its rescue and itself.
    """
    left, skips = [], False
    for frame in reversed(frames):
        if skips:
            skips = False
            continue
        if frame.file.startswith("<internal:"):
            frame = Frame(frame.name, "", 0)
        if version >= (3, 4) and frame.name.startswith(RESCUES):
            frame = frame._replace(name=frame.name.split(" in ", 1)[1])
            skips = True
        left.append(frame)
    return left[::-1]


def is_closure(name):
    return name.startswith("{closure") or name == UNREAD


def without_closures(report):
    """Gives all closures of a report one name.

    opcache keeps names in memory that processes share, and each process has a closure of its own. A process that has
    never read the name lacks its page, and nobody else can tell of its closure.
    """
    file = report["files"][0]

    def one(name, of):
        return [CLOSURE, file] if is_closure(name) else [name, of]

    lines = collections.defaultdict(set)
    for name, of, numbers in report["lines"]:
        lines[tuple(one(name, of))].update(numbers)
    report["stacks"] = [[one(*frame) for frame in stack] for stack in report["stacks"]]
    report["calls"] = [one(*call[:2]) + [call[2], one(call[3], file)[0]] for call in report["calls"]]
    report["lines"] = [[*place, sorted(numbers)] for place, numbers in lines.items()]


class Share:
    """Samples that agree, of all that are asked about. Keeps examples of those that do not."""

    def __init__(self, name, bound):
        self.name, self.bound = name, bound
        self.good = self.all = 0
        self.bad = collections.Counter()

    def add(self, good, count, example):
        self.all += count
        if good:
            self.good += count
        else:
            self.bad[example] += count

    def percent(self):
        return 100.0 * self.good / self.all if self.all else 0.0

    def holds(self):
        if self.percent() >= self.bound:
            return True
        print("# %s: %.2f %%, bound %.1f %%" % (self.name, self.percent(), self.bound))
        for example, count in self.bad.most_common(EXAMPLES):
            print("#   %d of %s" % (count, example))
        return False


def is_interpreter(profile, sample, within):
    """Returns whether a sample has a frame of an interpreter. within: functions of a server that run one."""
    if within:
        return any(name in within for frame in names_of(profile, sample) for name in frame)
    files = (profile.mappings.get(profile.locations[number]["mapping"], {}).get("file") or ""
             for number in sample["locations"])
    return any(base(file).startswith(INTERPRETERS) for file in files)


def names_of(profile, sample):
    """Returns the names of all frames, outermost first; a file's name is that of a frame without one."""
    names = []
    for number in reversed(sample["locations"]):
        location = profile.locations[number]
        file = profile.mappings.get(location["mapping"], {}).get("file") or ""
        functions = location["functions"][:1]
        names.append([base(file)] + [profile.functions[one]["name"] for one in functions])
    return names


def is_in_order(names, wanted):
    """Returns whether frames have the wanted names, or names that begin so, in this order."""
    left = iter(names)
    return all(any(any(one.startswith(want) for one in frame) for frame in left) for want in wanted)


def compare_orders(profile, samples, orders):
    """Returns the share of samples whose native frames are where they belong."""
    share = Share("order", ORDER)
    for sample, frames, count in samples:
        for leaf, wanted in orders:
            if frames[-1].name == leaf:
                names = names_of(profile, sample)
                share.add(is_in_order(names, wanted), count, ";".join(name[-1] for name in names[-12:]))
    return share


def behind_root(frames, root, files):
    """Returns the functions from the root on: those of a virtual thread. None: of the thread that carries it."""
    names = [frame.name for frame in frames]
    if root in names:
        return [frame for frame in frames[names.index(root):] if frame.name not in JAVA_BENEATH]
    return frames if any(frame.file in files for frame in frames) else []


def stack_text(frames):
    return ";".join(frame.name for frame in frames[-12:])


def beginnings(stacks):
    return {stack[:size] for stack in stacks for size in range(1, len(stack) + 1)}


def compare(samples, report):
    """Returns the shares of samples that agree with what the interpreter says.

    The interpreter lets its observer run at some places of a function only. So what calls others may be
    seen in their stacks alone, and short functions of the library are not seen at all.
    """
    stacks = {tuple(map(tuple, stack)) for stack in report["stacks"]}
    begun = beginnings(stacks)
    calls = {tuple(call) for call in report["calls"]}
    lines = {(name, file): set(numbers) for name, file, numbers in report["lines"]}
    roots = {stack[0] for stack in stacks}
    complete, functions = Share("complete", COMPLETE), Share("functions", report.get("functions", FUNCTIONS))
    called, of_leaf = Share("lines of calls", CALLS), Share("lines of leaves", LINES)
    for _, frames, count in samples:
        names = tuple((frame.name, frame.file) for frame in frames)
        complete.add(names[0] in roots, count, stack_text(frames))
        if names[-1][1] in report["files"]:
            functions.add(names in begun, count, stack_text(frames))
        if names not in begun:
            continue
        for caller, callee in zip(frames, frames[1:]):
            if caller.line == 0 and (report.get("blind") or caller.name == CLOSURE):
                continue  # nobody has told of its lines
            called.add((caller.name, caller.file, caller.line, callee.name) in calls, count,
                       "%s:%d calls %s" % (caller.name, caller.line, callee.name))
        leaf = frames[-1]
        if leaf.line == 0 and (report.get("blind") or leaf.name == CLOSURE):
            continue
        if (report.get("own") or report.get("blind")) and leaf.file not in report["files"]:
            continue  # the observer has seen one call of the library's functions, if any
        of_leaf.add(leaf.line in lines.get((leaf.name, leaf.file), ()), count,
                    "%s:%d" % (leaf.name, leaf.line))
    return complete, functions, *(share if share.all or not report.get("blind") else None
                                  for share in (called, of_leaf))


def short(name):
    return name.rsplit(".", 1)[-1]


def of_py_spy(path):
    """Returns the stacks of py-spy, and how each begins. Neither has lines nor qualified names."""
    stacks = set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            frames = line.rsplit(" ", 1)[0].split(";")
            frames = [frame.rsplit(" (", 1) for frame in frames if " (" in frame]
            stacks.add(tuple((short(name), base(place.rstrip(")")).rsplit(":", 1)[0])
                             for name, place in frames))
    return beginnings(stacks)


def compare_py_spy(samples, files, path):
    theirs, share = of_py_spy(path), Share("py-spy", OTHER)
    for _, frames, count in samples:
        names = tuple((short(frame.name), frame.file) for frame in frames)
        if names[-1][1] in files:
            share.add(names in theirs, count, stack_text(frames))
    return share


def compare_names(called, report):
    """Returns the share of frames with a name that Lua has for the function, where Lua has one."""
    share = Share("names", NAMES)
    for function, said in report["names"].items():
        for name, count in called[function].items():
            if name not in said or set(said) != {function}:
                share.add(name in said and name != function, count, "%s: %s, not %s" % (function, name, said))
    return share


def compare_inlined(samples, pairs):
    """Returns the share of samples below a function that have a function further below."""
    share = Share("inlined", INLINED)
    for _, frames, count in samples:
        names = [frame.name for frame in frames]
        for (caller,), wanted in pairs:
            if caller in names:
                share.add(names[-1] in wanted, count, stack_text(frames))
    return share


def compare_proven(profile, samples, bound):
    """Returns the share of samples whose native stack ends at a proven root."""
    share = Share("proven", bound)
    for sample in samples:
        names = [name[-1] for name in names_of(profile, sample)]
        share.add(not any(name.startswith(("[cut", "[guessed")) for name in names), sample["values"][0],
                  ";".join(names[-12:]))
    return share


def main():
    profile = pprof.Profile(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    if report.get("shares"):
        without_closures(report)
    samples, shown = [], Share("shown", report.get("shown", SHOWN))
    called = collections.defaultdict(collections.Counter)
    for sample in profile.samples:
        frames, count = frames_of(profile, sample, called), sample["values"][0]
        if report.get("shares"):
            frames = [Frame(CLOSURE, report["files"][0], frame.line) if is_closure(frame.name) else frame
                      for frame in frames]
        if report.get("ruby"):
            frames = as_ruby(frames, tuple(map(int, report["version"].split(".")[:2])))
        if report.get("root") and frames:
            frames = behind_root(frames, report["root"], report["files"])
            if not frames:
                continue
        if any(short(frame.name).endswith(OBSERVER) for frame in frames):
            continue
        if frames:
            samples.append((sample, frames, count))
        if frames or is_interpreter(profile, sample, report.get("within")):
            shown.add(bool(frames), count, ";".join(name[-1] for name in names_of(profile, sample)[-12:]))
    shares = [shown, *compare(samples, report)]
    shares.append(compare_orders(profile, samples, report["orders"]) if "orders" in report else None)
    shares.append(compare_py_spy(samples, report["files"], sys.argv[3]) if len(sys.argv) > 3 else None)
    shares.append(compare_names(called, report) if "names" in report else None)
    shares.append(compare_inlined(samples, report["inlined"]) if "inlined" in report else None)
    all_samples = [sample for sample, _, _ in samples] if report.get("own") else profile.samples
    shares.append(compare_proven(profile, all_samples, report["proven"]) if "proven" in report else None)
    print("# | %-8s %8d  %s" % (report["version"], sum(count for _, _, count in samples), "  ".join(
        "%9s" % ("%.2f" % share.percent() if share else "-") for share in shares)))
    good = [share.holds() for share in shares if share]
    sys.exit(0 if all(good) and samples else 1)


main()
