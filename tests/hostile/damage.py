#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""damage.py SOURCE FOLDER          damaged copies of an ELF file, always the same ones, one a line
damage.py --huge SOURCE FOLDER   the same code with huge tables
damage.py --many SOURCE FOLDER   many files with tables
damage.py --small SOURCE FOLDER  2,000 small ones
damage.py --names SOURCE FILE    function names that no terminal should see
damage.py --offset SOURCE        where its function lies in the file (hex)

The text is left as it is, so that it runs wherever the file is mapped whole."""

import os
import random
import struct
import sys

FUNCTION = b"caller_in_a_hostile_file"
BODY = b"body_of_a_hostile_file"
EHDR = (("ident", 4, 1), ("data", 5, 1), ("version", 6, 1), ("type", 16, 2), ("machine", 18, 2),
        ("version4", 20, 4), ("entry", 24, 8), ("phoff", 32, 8), ("shoff", 40, 8), ("flags", 48, 4),
        ("ehsize", 52, 2), ("phentsize", 54, 2), ("phnum", 56, 2), ("shentsize", 58, 2),
        ("shnum", 60, 2), ("shstrndx", 62, 2))
PHDR = (("type", 0, 4), ("flags", 4, 4), ("offset", 8, 8), ("vaddr", 16, 8), ("filesz", 32, 8),
        ("memsz", 40, 8), ("align", 48, 8))
SHDR = (("name", 0, 4), ("type", 4, 4), ("flags", 8, 8), ("addr", 16, 8), ("offset", 24, 8),
        ("size", 32, 8), ("link", 40, 4), ("info", 44, 4), ("entsize", 56, 8))
SHDR_BYTES, SYM_BYTES = 64, 24
SHT_SYMTAB, SHT_STRTAB, SHT_NOBITS, SHT_PROGBITS = 2, 3, 8, 1


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.phoff, self.shoff = struct.unpack_from("<QQ", self.bytes, 32)
        self.phnum, _, self.shnum, shstrndx = struct.unpack_from("<4H", self.bytes, 56)
        headers = [self.section(i) for i in range(self.shnum)]
        names = headers[shstrndx]["offset"]
        self.sections = {self.text(names + header["name"]): (i, header)
                         for i, header in enumerate(headers)}

    def section(self, index):
        at = self.shoff + index * SHDR_BYTES
        return {name: int.from_bytes(self.bytes[at + place:at + place + size], "little")
                for name, place, size in SHDR}

    def text(self, at):
        return self.bytes[at:self.bytes.index(b"\0", at)].decode()

    def place(self, name):
        """offset and size of a section"""
        header = self.sections[name][1]
        return header["offset"], header["size"]

    def symbol(self, wanted):
        """offset of its entry"""
        at, size = self.place(".symtab")
        strings, _ = self.place(".strtab")
        for entry in range(at, at + size, SYM_BYTES):
            name, = struct.unpack_from("<I", self.bytes, entry)
            if self.text(strings + name).encode() == wanted:
                return entry
        raise KeyError(wanted)

    def function_offset(self):
        value, = struct.unpack_from("<Q", self.bytes, self.symbol(FUNCTION) + 8)
        text = self.sections[".text"][1]
        return value - text["addr"] + text["offset"]


def put(data, at, value, size):
    """data with one little-endian number changed; b"" if it does not lie in it"""
    if at + size > len(data):
        return b""
    return data[:at] + (value & (256 ** size - 1)).to_bytes(size, "little") + data[at + size:]


def numbers(size, file_bytes):
    top = 256 ** size - 1
    return {"0": 0, "1": 1, "max": top, "half": top // 2 + 1, "end": (file_bytes - 1) & top}


def damage_headers(elf):
    data = elf.bytes
    for name, at, size in EHDR:
        for label, value in numbers(size, len(data)).items():
            yield "ehdr-%s-%s" % (name, label), put(data, at, value, size)
    for i in range(elf.phnum):
        for name, at, size in PHDR:
            for label, value in numbers(size, len(data)).items():
                if label in ("0", "max", "end"):
                    yield "phdr%d-%s-%s" % (i, name, label), put(data, elf.phoff + i * 56 + at,
                                                                 value, size)


def damage_sections(elf):
    data = elf.bytes
    for section in (".eh_frame", ".eh_frame_hdr", ".symtab", ".strtab", ".note.gnu.build-id",
                    ".dynsym", ".text", ".shstrtab"):
        if section not in elf.sections:
            continue
        index = elf.sections[section][0]
        for name, at, size in SHDR:
            for label, value in numbers(size, len(data)).items():
                if label not in ("0", "max", "half"):
                    continue
                yield "shdr%s-%s-%s" % (section, name, label), put(
                    data, elf.shoff + index * SHDR_BYTES + at, value, size)


def damage_contents(elf):
    data = elf.bytes
    for section in (".eh_frame", ".eh_frame_hdr", ".symtab", ".strtab", ".note.gnu.build-id"):
        if section not in elf.sections:
            continue
        at, size = elf.place(section)
        for label, fill in (("zero", b"\0"), ("ones", b"\xff"), ("text", b"A"), ("low", b"\x80")):
            yield "fill%s-%s" % (section, label), data[:at] + fill * size + data[at + size:]
        for word in range(0, min(size, 64), 4):
            for label, value in (("max", 2 ** 32 - 1), ("odd", 0x7fffffff), ("four", 4)):
                yield "word%s-%d-%s" % (section, word, label), put(data, at + word, value, 4)
        for seed in range(12):
            generator = random.Random(seed)
            noise = bytes(generator.randrange(256) for _ in range(size))
            yield "noise%s-%d" % (section, seed), data[:at] + noise + data[at + size:]


def damage_length(elf):
    data = elf.bytes
    ends = {at + half * size // 2 for at, size in map(elf.place, elf.sections) for half in range(3)}
    for end in sorted(ends | {1, 4, 15, 16, 63, 64, elf.shoff + 1, len(data) - 1}):
        yield "cut-%d" % end, data[:end]
    yield "tail", data + b"\xff" * 65536


def damage_bytes(elf):
    start, size = elf.place(".text")
    for seed in range(40):
        generator = random.Random(1000 + seed)
        changed = bytearray(elf.bytes)
        for _ in range(1 + seed * 2):
            at = generator.randrange(len(changed))
            if not start <= at < start + size:
                changed[at] = generator.randrange(256)
        yield "random-%d" % seed, bytes(changed)


def add_section(data, elf, name, content, **fields):
    """Puts a section's content at the end of the file and changes its header."""
    index = elf.sections[name][0]
    data += b"\0" * (-len(data) % 16)
    for field, at, size in SHDR:
        value = {"offset": len(data), "size": len(content), **fields}.get(field)
        if value is not None:
            data = put(data, elf.shoff + index * SHDR_BYTES + at, value, size)
    return data + content


def symbols_over_all(elf, count, name):
    """So many functions that all begin before the text and end behind it."""
    text = elf.sections[".text"][1]
    entry = struct.pack("<IBBHQQ", name, 0x12, 0, 1, text["addr"], text["size"])
    return entry * count


def huge(elf):
    names = b"\0" + b"".join(b"f%07d\0" % i for i in range(500000))
    data = add_section(elf.bytes, elf, ".symtab", symbols_over_all(elf, 2000000, 1))
    yield "huge-symbols", add_section(data, elf, ".strtab", names)
    data = add_section(elf.bytes, elf, ".symtab", symbols_over_all(elf, 500000, 1))
    yield "huge-name", add_section(data, elf, ".strtab", b"\0" + b"N" * (8 << 20))
    frames, size = elf.place(".eh_frame")
    yield "huge-frames", add_section(elf.bytes, elf, ".eh_frame",
                                     (elf.bytes[frames:frames + size - 4] *
                                      ((16 << 20) // size))[:16 << 20])
    yield "huge-cie", add_section(elf.bytes, elf, ".eh_frame",
                                  struct.pack("<I", (16 << 20) - 4) + b"\0" * ((16 << 20) - 4))
    for label, count in (("sections-65000", 65000), ("sections-4000000", 4000000)):
        table = elf.bytes[elf.shoff:elf.shoff + elf.shnum * SHDR_BYTES]
        filler = table[SHDR_BYTES:2 * SHDR_BYTES] * 65000
        shoff = len(elf.bytes) + (-len(elf.bytes) % 16)
        data = put(put(elf.bytes, 40, shoff, 8), 60, 0 if count > 65279 else count, 2)
        data += b"\0" * (shoff - len(data)) + put(table + filler, 32, count, 8)
        yield label, data


def many(elf, count=5000, table_bytes=128 << 10):
    """Files that are all unwind table."""
    frames, size = elf.place(".eh_frame")
    table = (elf.bytes[frames:frames + size - 4] * (table_bytes // size))[:table_bytes]
    data = add_section(elf.bytes, elf, ".eh_frame", table)
    for i in range(count):
        yield "%d.so" % i, data + struct.pack("<I", i)


def small(elf):
    return many(elf, 2000, 64 << 10)


def damage(elf):
    for family in (damage_headers, damage_sections, damage_contents, damage_length, damage_bytes):
        yield from family(elf)


def write(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, data in files:
        path = os.path.join(folder, name)
        if not data:
            continue
        with open(path, "wb") as file:
            file.write(data)
        print(path)


def odd_names(elf, path):
    """Names of the same length with escape codes, a newline, bytes that are no UTF-8, separators."""
    data = elf.bytes
    for name, odd in ((FUNCTION, b"\x1b[31mred\n;\xff\xfe \x07\x9b2J\r\t\x7f \xc3("),
                      (BODY, b"\x1b]0;title\x07\n;a b 12\n\xf0\x9f")):
        data = data.replace(name + b"\0", odd.ljust(len(name), b"\xed")[:len(name)] + b"\0")
    with open(path, "wb") as file:
        file.write(data)


def main():
    command, source = sys.argv[1], sys.argv[-1 if sys.argv[1] == "--offset" else -2]
    elf = Elf(source)
    if command == "--offset":
        print("%x" % elf.function_offset())
    elif command == "--names":
        odd_names(elf, os.fsencode(sys.argv[3]))
    else:
        kinds = {"--huge": huge, "--many": many, "--small": small}
        write(sys.argv[-1], kinds.get(command, damage)(elf))


main()
