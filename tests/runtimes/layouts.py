#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Offsets in CPython's structures, taken from packages and compared with those of the worker.

layouts.py compare|write PACKAGES

PACKAGES is the output of layouts.sh. A package has debug information, which gdb reads, or headers, which
the compiler reads. `compare` prints a TAP result for each package. `write` puts the packages' values into
worker/runtime/cpython_layout.def.
"""
import re
import struct
import subprocess
import sys
import tempfile

DEF = "worker/runtime/cpython_layout.def"
FIRST, DESCRIBED, LAST = 9, 13, 15
NONE = "CPYTHON_NONE"
HEAD_MORE = 16  # bytes of an object without a global lock: HEAD_MORE_BYTES

# field: what it is from a version on. "A.b": the member b of the type A; "#A": the size of A. From 3.13 on,
# a second text is the member of _Py_DebugOffsets that has the offset.
FIELDS = {
    "thread_frame": {9: "PyThreadState.frame", 11: "PyThreadState.cframe",
                     13: ("PyThreadState.current_frame", "thread_state.current_frame")},
    "thread_base_frame": {15: ("PyThreadState.base_frame", "thread_state.base_frame")},
    "thread_id": {9: "PyThreadState.thread_id", 12: None},
    "cframe_frame": {11: "_PyCFrame.current_frame", 13: None},
    "cframe_previous": {11: "_PyCFrame.previous", 13: None},
    "frame_code": {9: "PyFrameObject.f_code", 11: "_PyInterpreterFrame.f_code",
                   13: ("_PyInterpreterFrame.f_executable", "interpreter_frame.executable")},
    "frame_previous": {9: "PyFrameObject.f_back", 11: "_PyInterpreterFrame.previous",
                       13: ("_PyInterpreterFrame.previous", "interpreter_frame.previous")},
    "frame_instruction": {9: "PyFrameObject.f_lasti", 11: "_PyInterpreterFrame.prev_instr",
                          13: ("_PyInterpreterFrame.instr_ptr", "interpreter_frame.instr_ptr")},
    "frame_is_entry": {11: "_PyInterpreterFrame.is_entry", 12: None},
    "frame_copy": {14: ("_PyInterpreterFrame.tlbc_index", "interpreter_frame.tlbc_index")},
    "frame_owner": {11: "_PyInterpreterFrame.owner",
                    13: ("_PyInterpreterFrame.owner", "interpreter_frame.owner")},
    "code_file": {9: "PyCodeObject.co_filename", 13: ("PyCodeObject.co_filename", "code_object.filename")},
    "code_name": {9: "PyCodeObject.co_name", 13: ("PyCodeObject.co_name", "code_object.name")},
    "code_qualified": {11: "PyCodeObject.co_qualname",
                       13: ("PyCodeObject.co_qualname", "code_object.qualname")},
    "code_lines": {9: "PyCodeObject.co_lnotab", 10: "PyCodeObject.co_linetable",
                   13: ("PyCodeObject.co_linetable", "code_object.linetable")},
    "code_first_line": {9: "PyCodeObject.co_firstlineno",
                        13: ("PyCodeObject.co_firstlineno", "code_object.firstlineno")},
    "code_arguments": {9: "PyCodeObject.co_argcount",
                       13: ("PyCodeObject.co_argcount", "code_object.argcount")},
    "code_flags": {9: "PyCodeObject.co_flags"},
    "code_keyword_only": {9: "PyCodeObject.co_kwonlyargcount"},
    "code_start": {9: "PyCodeObject.co_code", 11: "PyCodeObject.co_code_adaptive",
                   13: ("PyCodeObject.co_code_adaptive", "code_object.co_code_adaptive")},
    "code_copies": {14: ("PyCodeObject.co_tlbc", "code_object.co_tlbc")},
    "object_type": {9: "PyObject.ob_type", 13: ("PyObject.ob_type", "pyobject.ob_type")},
    "bytes_size": {9: "PyVarObject.ob_size", 13: ("PyVarObject.ob_size", "bytes_object.ob_size")},
    "bytes_data": {9: "PyBytesObject.ob_sval", 13: ("PyBytesObject.ob_sval", "bytes_object.ob_sval")},
    "text_state": {9: "PyASCIIObject.state", 13: ("PyASCIIObject.state", "unicode_object.state")},
    "text_length": {9: "PyASCIIObject.length", 13: ("PyASCIIObject.length", "unicode_object.length")},
    "text_ascii": {9: "#PyASCIIObject", 13: ("#PyASCIIObject", "unicode_object.asciiobject_size")},
}
# Fields that only a build without a global lock has; the others describe them as 0.
WITHOUT_LOCK = ("frame_copy", "code_copies")

# Constants of the worker's source: from a version on, what headers say. "A.b:bit": the first bit of a field.
CONSTANTS = {
    ("worker/runtime/cpython_code.c", "TEXT_KIND_SHIFT"): {9: "PyASCIIObject.state.kind:bit"},
    ("worker/runtime/cpython_code.c", "TEXT_COMPACT"): {9: "1 << PyASCIIObject.state.compact:bit"},
    ("worker/runtime/cpython_code.c", "TEXT_ASCII"): {9: "1 << PyASCIIObject.state.ascii:bit"},
    ("worker/runtime/cpython.c", "OWNED_BY_C"): {12: "FRAME_OWNED_BY_CSTACK", 14: "FRAME_OWNED_BY_INTERPRETER"},
    ("worker/runtime/cpython.c", "STACK_TAGS"): {14: "Py_TAG_BITS"},
    ("worker/runtime/cpython_layout.c", "COMPACT_BYTES_OLD"): {9: "#PyCompactUnicodeObject - #PyASCIIObject",
                                                                12: None},
    ("worker/runtime/cpython_layout.c", "COMPACT_BYTES"): {12: "#PyCompactUnicodeObject - #PyASCIIObject"},
}
MASKS = ("STACK_TAGS",)  # may have more bits than a build uses
STATE_MORE = 6  # bits of PyASCIIObject.state without a global lock, from 3.14 on: STATE_MORE_BITS


def of_version(versions, minor):
    """Returns the entry of the last version up to this one, or None."""
    known = [version for version in versions if version <= minor]
    return versions[max(known)] if known else None


def c_text(text):
    """Makes a C expression of an offset or a size."""
    text = re.sub(r"#(\w+)", r"sizeof(\1)", text)
    return re.sub(r"\b(_?Py\w+)\.([\w.]+)", r"(unsigned long)&((\1 *)0)->\2", text)


# ---- readers ----

def ask_gdb(path, texts):
    """Evaluates expressions by debug information. A field of bits has the place that `ptype /o` shows."""
    plain = [text for text in texts if ":bit" not in text]
    commands = ["ptype /o PyASCIIObject", "print/d " + c_text("PyASCIIObject.state")]
    commands += ["print/d " + c_text(text) for text in plain]
    command = ["gdb", "-batch", "-nx"]
    for text in commands:
        command += ["-ex", text]
    found = subprocess.run([*command, path], capture_output=True, text=True, check=True)
    numbers = [int(number) for number in re.findall(r"^\$\d+ = (\d+)$", found.stdout, re.M)]
    if len(numbers) != len(plain) + 1:
        raise ValueError(f"gdb: {found.stderr.strip()}")
    values = dict(zip(plain, numbers[1:]))
    for text in texts:
        bit = re.search(r"PyASCIIObject\.state\.(\w+):bit", text)
        if bit:
            place = re.search(r"/\*\s*(\d+):\s*(\d+)\s*\|[^\n]*\b%s :" % bit[1], found.stdout)
            at = (int(place[1]) - numbers[0]) * 8 + int(place[2])
            values[text] = 1 << at if text.startswith("1 <<") else at
    return values


PROGRAM = """
#define Py_BUILD_CORE 1
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <Python.h>
{includes}
int main(void)
{{
    PyASCIIObject text;
    unsigned int state;
    (void)text;
    (void)state;
{prints}
    return 0;
}}
"""


def includes_of(minor):
    headers = {10: ["frameobject.h"]}.get(minor, ["internal/pycore_frame.h", "internal/pycore_code.h"])
    if minor >= DESCRIBED:
        headers.append("internal/pycore_runtime.h")
    if minor >= 14:
        headers += ["internal/pycore_debug_offsets.h", "internal/pycore_stackref.h",
                    "internal/pycore_interpframe_structs.h"]
    return "".join(f"#include <{header}>\n" for header in headers)


def print_of(text):
    bit = re.search(r"PyASCIIObject\.state\.(\w+):bit", text)
    if not bit:
        return f'    printf("%lu\\n", (unsigned long)({c_text(text)}));'
    value = "state & -state" if text.startswith("1 <<") else "__builtin_ctz(state)"
    return (f"    memset(&text, 0, sizeof(text)); text.state.{bit[1]} = ~0; "
            f"memcpy(&state, &text.state, 4);\n"
            f'    printf("%lu\\n", (unsigned long)({value}));')


def ask_headers(folders, minor, texts):
    """Compiles a program that prints the expressions, against the headers in the folders."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/a.c", "w") as file:
            file.write(PROGRAM.format(includes=includes_of(minor), prints="\n".join(map(print_of, texts))))
        command = ["gcc", "-w", "-o", f"{folder}/a", f"{folder}/a.c", "-I", folders[0], "-I",
                   f"{folders[0]}/internal"]
        for path in folders[1:]:  # other libraries than Python are this machine's
            command += ["-idirafter", path]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode != 0:
            raise ValueError(made.stderr.strip().splitlines()[0])
        out = subprocess.run([f"{folder}/a"], capture_output=True, text=True, check=True).stdout
    return dict(zip(texts, map(int, out.split())))


def read_description(path):
    """Returns the words of the section .PyRuntime, which an interpreter of 3.13 or later begins with."""
    out = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    place = re.search(r"\.PyRuntime\s+\w+\s+\w+\s+(\w+)", out)
    with open(path, "rb") as file:
        file.seek(int(place[1], 16))
        return struct.unpack("<128Q", file.read(1024))


# ---- the worker's tables ----

ROW = re.compile(r"^([OF])\((\w+),\s*([^()]*)\)", re.M)


def read_def():
    with open(DEF) as file:
        rows = ROW.findall(file.read())
    return {name: (kind, [value.strip() for value in values.split(",")]) for kind, name, values in rows}


def read_constant(path, name):
    with open(path) as file:
        text = re.search(r"^#define %s\s+\(?([^)/\n]*)" % name, file.read(), re.M)[1]
    return eval(re.sub(r"(\d)u\b", r"\1", text))  # a number or a shift


# ---- comparison ----

class Package:
    def __init__(self, line):
        self.name, self.kind, minor, self.lock, paths, self.origin = line.rstrip("\n").split("\t")
        self.paths = paths.split(" ")
        self.minor = int(minor or 0)
        self.values = {}

    def wanted(self):
        """Yields field and expressions: of the offset, and of its position in the description or None."""
        for field, versions in FIELDS.items():
            entry = of_version(versions, self.minor)
            if isinstance(entry, tuple):
                absent = field in WITHOUT_LOCK and self.lock == "lock"
                yield field, None if absent else entry[0], f"_Py_DebugOffsets.{entry[1]}"
            else:
                yield field, entry, None

    def constants(self):
        for (path, name), versions in CONSTANTS.items():
            text = of_version(versions, self.minor)
            if text:
                yield path, name, text

    def ask(self):
        texts = []
        for _, offset, position in self.wanted():
            texts += [text for text in (offset, position) if text]
        texts += [text for _, _, text in self.constants()]
        texts = list(dict.fromkeys(texts))
        if self.kind == "debug":
            self.values = ask_gdb(self.paths[0], texts)
        else:
            self.values = ask_headers(self.paths[1:], self.minor, texts)

    def column(self):
        """Returns the values of this version's column."""
        column = {}
        for field, offset, position in self.wanted():
            text = position or offset
            column[field] = str(self.values[text]) if text else NONE
        return column

    def differences(self):
        rows, column, found = read_def(), self.column(), []
        more = HEAD_MORE if self.lock != "lock" else 0
        for name in set(FIELDS) ^ set(rows):
            found.append(f"{name} is in one table alone")
        for field in set(FIELDS) & set(rows):
            kind, values = rows[field]
            ours, theirs = values[self.minor - FIRST], column[field]
            if kind == "F" and theirs != NONE:
                theirs = str(int(theirs) - more)
            if ours != theirs:
                found.append(f"{field}: {ours} here, {theirs} there")
        for path, name, text in self.constants():
            ours, theirs = read_constant(path, name), self.values[text]
            if more and self.minor >= 14 and ".state." in text:
                theirs = theirs >> STATE_MORE if "<<" in text else theirs - STATE_MORE
            if theirs & ~ours if name in MASKS else ours != theirs:
                found.append(f"{name}: {ours} here, {theirs} there")
        return found + self.description_differences()

    def description_differences(self):
        """Compares what an interpreter says of itself with what its headers say."""
        if self.minor < DESCRIBED:
            return []
        words, found = read_description(self.paths[0]), []
        if words[0].to_bytes(8, "little") != b"xdebugpy" or words[2] != (self.lock != "lock"):
            found.append("the description has another beginning")
        for field, offset, position in self.wanted():
            if not position:
                continue
            said = words[self.values[position] // 8]
            if said != (self.values[offset] if offset else 0):
                found.append(f"{field}: headers have {offset}, the interpreter says {said}")
        return found

    def count(self):
        return sum(value != NONE for value in self.column().values())


def compare(packages):
    failed = False
    for number, package in enumerate(packages, 1):
        if package.kind == "-":
            print(f"ok {number} - layout of {package.name} # SKIP {package.origin}")
            continue
        try:
            package.ask()
            found = package.differences()
        except (ValueError, OSError, KeyError, TypeError, subprocess.SubprocessError) as error:
            found = [f"{type(error).__name__}: {error}"]
        for text in found:
            print(f"# {text}")
        failed |= bool(found)
        count = "" if found else f": {package.count()} offsets, {len(list(package.constants()))} constants"
        print(f"{'not ' if found else ''}ok {number} - layout of {package.name}{count} as in {package.origin}")
    print(f"1..{len(packages)}")
    return failed


def write(packages):
    rows = read_def()
    for package in packages:
        if package.kind != "-" and package.lock == "lock":
            package.ask()
            for field, value in package.column().items():
                rows[field][1][package.minor - FIRST] = value
    with open(DEF) as file:
        text = file.read()
    text = ROW.sub(lambda row: row[0][:row.start(3) - row.start()] + ", ".join(rows[row[2]][1]) + ")", text)
    with open(DEF, "w") as file:
        file.write(text)


def main():
    with open(sys.argv[2]) as file:
        packages = [Package(line) for line in file]
    if sys.argv[1] == "write":
        return write(packages)
    return compare(packages)


if __name__ == "__main__":
    sys.exit(main())
