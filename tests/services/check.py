# SPDX-License-Identifier: Apache-2.0
"""check.py KIND FOLDER: compares the profiles of a service with the stacks that its language has reported.

FOLDER has profile.folded, profile.pprof, profile.otlp, profile.html, and stacks: a line of JSON
for each stack, outermost function first. The last function of a stack is a place. A sample with
a place in it has the functions of one of the reported stacks around it. Prints a row of figures, and what disagrees. Ends with 1 below a bound.
"""

import collections
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in "e2e", "formats":
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import pprof  # noqa: E402
import readers  # noqa: E402

HZ = 199  # of run.sh
EXAMPLES = 4
UNNAMED = 1.0  # percent of the samples that may have one unnamed function or piece of code
STACKS = 97.0  # percent of the samples with a place
WHOLE = 50.0  # percent of the samples that have all functions and names: with cold caches, walks end before that
LINES = 97.0  # percent of the samples with a handler, where the language tells of lines
LEAST = 1  # samples of a chain
SUFFIXES = re.compile(r"_\[[ijk]\]$")
REGEXP = "v8::internal::NativeRegExpMacroAssembler::Execute"  # names the code without a name that it calls
UNREADY = "[cut: not_ready]"  # readiness is no matter of this test: the process was not known yet
LISTS = "[cut: functions]"  # behind it, functions are left out
OBJECT = re.compile(r"^(.*)\+0x[0-9a-f]+$")  # a function of an object without symbols
# Java's own stacks leave them out
JAVA_HIDDEN = "$$Lambda", "LambdaForm$", "$Holder.", "java.lang.Thread.runWith", "DirectMethodHandleAccessor.invokeImpl"
JAVA_VIRTUAL = "java.lang.VirtualThread.run"  # and what is around a virtual thread
RUBY_TEMPLATE = re.compile(r"__tilt_[0-9]+")  # each process has numbers of its own

# mapping: what holds the language's functions. type: of OpenTelemetry. file: the handlers'. complete: percent.
# names: that a frame's function must not have. chains: functions from the router to native code, in this order.
Service = collections.namedtuple("Service", "mapping type file complete handlers chains")

SERVICES = {
    "spring": Service("[java]", "jvm", "Service.java", 97.0, ("shop.Orders.order(", "shop.Orders.catalog("), (
        ("org.springframework.web.servlet.DispatcherServlet.doDispatch", "shop.Orders.order(", "shop.Orders.find(",
         "org.springframework.jdbc.core.JdbcTemplate.query", "org.h2.jdbc.JdbcPreparedStatement.executeQuery"),
        ("org.springframework.web.servlet.DispatcherServlet.doDispatch",
         "com.fasterxml.jackson.databind.ObjectWriter.writeValue", "shop.Price.text(", "java.lang.String.format"),
        ("java.util.concurrent.FutureTask.run", "shop.Orders.pack(", "java.util.zip.Deflater.deflate",
         "java.util.zip.Deflater.deflateBytesBytes", "Java_java_util_zip_Deflater_deflateBytesBytes", "deflate"))),
    "express": Service("[javascript]", "v8js", "service.js", 97.0, ("order", "catalog"), (
        ("order", "summary", "v8::internal::JsonStringify", "toJSON"),
        ("order", "sign", "pbkdf2Sync", "node::crypto::"),
        ("order", "pack", "zlibBufferSync", "node::", "deflate"),
        ("handleRequest", "catalog", "anonymous", "v8::internal::|Builtins_"),
        ("on_work", "sorted", "sort", "by_rank"))),
    "sinatra": Service("[ruby]", "ruby", "service.rb", 99.0, ("block in <class:Service>",), (
        ("process_client", "dispatch!", "route!", "block in <class:Service>", "find", "rb_sqlite3_aggregator|sqlite3_step",
         "rank", "each_byte"),
        ("process_client", "block in <class:Service>", "sign", "pbkdf2_hmac", "PKCS5_PBKDF2_HMAC"),
        ("process_client", "block in <class:Service>", "pack", "deflate", "deflate"),
        ("process_client", "block in <class:Service>", "erb", "shown", "gsub"))),
    "php": Service("[php]", "php", "service.php", 99.0, ("Shop\\Application::order", "Shop\\Application::catalog"), (
        ("{main}", "Shop\\Application::run", "call_user_func", "Shop\\Application::order", "Shop\\Products::find",
         "PDOStatement::execute", "sqlite3_step", "Shop\\Products::rank"),
        ("{main}", "Shop\\Application::order", "Shop\\Application::pack", "gzcompress", "deflate"),
        ("{main}", "Shop\\Application::order", "Shop\\Application::sign", "hash_pbkdf2"),
        ("{main}", "Shop\\Application::catalog", "array_map", "Shop\\Application::shown", "preg_replace_callback",
         "Shop\\Application::{closure"))),
}

Frame = collections.namedtuple("Frame", "name file line mapping")


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
        if self.all and self.percent() >= self.bound:
            return True
        print("# %s: %.2f %% of %d, bound %.1f %%" % (self.name, self.percent(), self.all, self.bound))
        for example, count in self.bad.most_common(EXAMPLES):
            print("#   %d of %s" % (count, example))
        return False


def frames_of(profile, sample):
    """Returns the functions of a sample, outermost first."""
    frames = []
    for number in reversed(sample["locations"]):
        location = profile.locations[number]
        mapping = profile.mappings.get(location["mapping"], {}).get("file") or ""
        for function, line in reversed(list(zip(location["functions"], location["lines"]))):
            one = profile.functions[function]
            frames.append(Frame(one["name"], os.path.basename(one["file"]), line, mapping))
    return frames


def text(frames):
    return ";".join(frame.name for frame in frames[-16:])


def is_in_order(names, wanted):
    """Returns whether frames have the wanted names, or names that begin so, in this order. a|b: one of these."""
    left = iter(names)
    return all(any(name.startswith(tuple(want.split("|"))) for name in left) for want in wanted)


def java_names(frames):
    """Returns functions of Java without parameters. HotSpot's own code has none."""
    names = [frame.name.split("(")[0] for frame in frames if frame.name.endswith(")")]
    names = [name for name in names if not any(part in name for part in JAVA_HIDDEN)]
    return names[names.index(JAVA_VIRTUAL):] if JAVA_VIRTUAL in names else names


def language_names(service, frames):
    """Returns the language's functions as its own stacks have them."""
    frames = [frame for frame in frames if frame.mapping == service.mapping]
    if service.type == "jvm":
        return java_names(frames)
    if service.type == "v8js":
        return [frame.name for frame in frames if frame.file]
    return [RUBY_TEMPLATE.sub("__tilt", frame.name) for frame in frames]


def is_proven(frames):
    return not any(frame.name.startswith(("[cut", "[guessed")) and frame.name != LISTS for frame in frames)


def is_whole(frames):
    return not any(frame.name == LISTS or frame.name.startswith("[function") for frame in frames)


def difference(names, stacks):
    """Returns where functions differ from the reported stack that has most of them."""
    begun = max((os.path.commonprefix([tuple(names), stack]) for stack in stacks), key=len)
    return "%d functions like reported ones, then %s" % (len(begun), ";".join(names[len(begun):][:4]))


def is_reported(service, names, stacks):
    """Returns whether a stack is reported. Optimized code of V8 lacks functions that are inlined."""
    if service.type != "v8js":
        return tuple(names) in stacks
    return any(stack[-1] == names[-1] and is_part(names, stack) for stack in stacks)


def is_part(names, stack):
    """Returns whether the names are among a stack's, in this order."""
    left = iter(stack)
    return all(any(name == one for one in left) for name in names)


def has_heap(frames):
    """Returns whether functions of a virtual thread are not on the stack."""
    return any(frame.name.startswith("[virtual thread") for frame in frames)


def compare_stacks(service, samples, stacks):
    """Returns the share of whole samples with a place whose functions around it have been reported."""
    share, places = Share("stacks", STACKS), {stack[-1] for stack in stacks}
    for frames, count in samples:
        names = language_names(service, frames)
        if not is_proven(frames) or not is_whole(frames) or has_heap(frames) or not places.intersection(names):
            continue
        last = max(i for i, name in enumerate(names) if name in places)
        share.add(is_reported(service, names[:last + 1], stacks), count, difference(names[:last + 1], stacks))
    return share


def compare_pprof(service, folder, stacks):
    """Returns the shares of samples that are as they should be, and the unnamed ones."""
    profile = pprof.Profile(os.path.join(folder, "profile.pprof"))
    samples = [(frames_of(profile, sample), sample["values"][0]) for sample in profile.samples]
    complete, whole, lines = Share("complete", service.complete), Share("whole", WHOLE), Share("lines", LINES)
    for frames, count in samples:
        if frames[0].name != UNREADY:
            complete.add(is_proven(frames), count, text(frames))
        whole.add(is_whole(frames), count, text(frames))
        for frame in frames:
            if frame.name.startswith(service.handlers) and frame.mapping == service.mapping:
                lines.add(frame.file == service.file and frame.line > 0, count, "%s %s:%d" % frame[:3])
    return samples, [complete, whole, compare_stacks(service, samples, stacks), lines]


def unnamed(samples):
    """Returns the percents of samples that have a function or a piece of code without a name, by what it is in."""
    found, total = collections.Counter(), sum(count for _, count in samples)
    for frames, count in samples:
        what, caller = set(), None
        for frame in frames if is_whole(frames) else ():
            # code of a regular expression
            is_named, caller = caller and caller.name.startswith(REGEXP), frame
            if is_named:
                continue
            if frame.name.startswith(("[anon", "[jit")) or frame.name == "?":
                what.add(frame.name)
            elif OBJECT.match(frame.name) and not frame.mapping.startswith("/"):
                what.add(frame.mapping)
        found.update({one: count for one in what})
    return {what: 100.0 * count / total for what, count in found.items()}


def chain_problems(service, form, samples):
    """Yields the chains of which a format has too few samples."""
    for chain in service.chains:
        count = sum(count for names, count in samples if is_in_order(names, chain))
        if count < LEAST:
            yield "%s: %d samples have %s" % (form, count, " > ".join(chain))


def read(form, folder):
    """Returns samples of one format: names, whose suffixes are left out, and counts."""
    samples = readers.READERS[form](os.path.join(folder, "profile." + form))
    return [([SUFFIXES.sub("", str(frame)) for frame in sample.frames], sample.count) for sample in samples]


def html_problems(service, folder):
    """Yields the handlers that have another place or kind in the page."""
    top = readers.page_data(os.path.join(folder, "profile.html"))
    strings, frames = top["strings"], top["frames"]
    for name, file, line, kind in zip(frames["name"], frames["file"], frames["line"], frames["kind"]):
        if not strings[name].startswith(service.handlers) or not strings[file].endswith(service.file):
            continue
        if not line or top["kinds"][kind][0] != "SCRIPT":
            yield "html: %s has line %d and kind %s" % (strings[name], line, top["kinds"][kind][0])


def otlp_problems(service, folder):
    """Yields the functions of the service's file that have another type in OTLP."""
    reader = readers.Otlp(readers.otlp_message(os.path.join(folder, "profile.otlp")))
    for location in reader.tables["locationTable"][1:]:  # the first one is none
        for line in location["lines"]:
            function = reader.tables["functionTable"][line["functionIndex"]]
            kind = reader.attributes(location).get("profile.frame.type")
            if reader.string(function, "filenameStrindex").endswith("/" + service.file) and kind != service.type:
                yield "otlp: %s has type %s" % (reader.string(function, "nameStrindex"), kind)


def main():
    service, folder = SERVICES[sys.argv[1]], sys.argv[2]
    readers.PERIOD, readers.START, readers.DURATION = 10 ** 9 // HZ, None, None
    with open(os.path.join(folder, "stacks"), encoding="utf-8") as file:
        stacks = {tuple(RUBY_TEMPLATE.sub("__tilt", name) for name in json.loads(line)) for line in file}
    samples, shares = compare_pprof(service, folder, stacks)
    problems = []
    for form in "folded", "pprof", "otlp", "html":
        problems += chain_problems(service, form, read(form, folder))
    problems += html_problems(service, folder)
    problems += otlp_problems(service, folder)
    without = unnamed(samples)
    problems += ["%.2f %% of samples have %s" % (share, what) for what, share in without.items() if share > UNNAMED]
    print("# | %-8s %8d  %s  %9.2f" % (sys.argv[1], sum(count for _, count in samples), "  ".join(
        "%9.2f" % share.percent() for share in shares), max(without.values(), default=0.0)))
    for problem in problems:
        print("# " + problem)
    good = [share.holds() for share in shares]
    sys.exit(0 if all(good) and not problems else 1)


main()
