#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prose.py [FILE...]: sentences of documents and comments that a reader would have to read twice.

A sentence has at most 25 words and begins with none of Who, Whom, Whose, What, Of, Nor and Else
(a question may). A cell of a table has at most 200 characters. Reads Markdown, manual pages,
ipc/PROTOCOL, and comments of C, shell, make and Python; without FILE everything that git tracks.
"""
import re
import subprocess
import sys

WORDS_MAX = 25
CELL_MAX = 200
OPENINGS = re.compile(r"(Who|Whom|Whose|What|Of|Nor|Else)\b(?!')")
# A dot inside of a name, a number or one of these ends no sentence.
ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx|no|Fig|St)\.$")


class Text:
    """A paragraph: its first line and its words."""
    def __init__(self, line):
        self.line, self.lines = line, []

    def sentences(self):
        words = []
        for number, line in self.lines:
            for word in plain(line).split():
                words.append((number, word))
                end = word.rstrip(")\"'*_`\u201d\u2019")
                if re.search(r"[.!?]$", end) and not ABBREVIATIONS.search(end):
                    yield words
                    words = []
        if words:
            yield words


def plain(line):
    line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)  # a link is its text
    line = re.sub(r"`[^`]*`", "code", line)
    return line.replace("**", "").replace("\u2014", " ")


def starts_item(line):
    return re.match(r"\s*([-*+]|\d+\.)\s", line)


def paragraphs(lines):
    """Joins (number, text) lines; an empty line, None or an item of a list begins another one."""
    text = None
    for number, line in lines:
        if line is None or not line.strip():
            if text:
                yield text
            text = None
            continue
        if text and starts_item(line):
            yield text
            text = None
        text = text or Text(number)
        text.lines.append((number, re.sub(r"^\s*([-*+]|\d+\.)\s+", "", line)))
    if text:
        yield text


def is_drawing(line):
    return bool(re.search(r"[\u2500-\u257f\u2580-\u259f\u25b2-\u25c6]|-->|<--|--\+|\+--|->\|", line))


def markdown(lines):
    """Lines of prose; of tables the cells, each a paragraph of its own."""
    fenced = False
    for number, line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield number, None
        elif fenced or line.startswith("#") or is_drawing(line):
            yield number, None
        elif line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line)[1:-1]:
                yield number, None
                yield number, cell
            yield number, None
        else:
            yield number, line


def cells(lines):
    for number, line in lines:
        if line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line)[1:-1]:
                if len(cell.strip()) > CELL_MAX:
                    yield number, len(cell.strip())


def manual(lines):
    """What a manual page says: no requests but those whose argument is text."""
    example = False
    for number, line in lines:
        if line.startswith((".nf", ".EX")):
            example = True
        if line.startswith((".fi", ".EE")):
            example = False
        if line.startswith((".B ", ".I ", ".BR ", ".IR ", ".RB ", ".RI ", ".BI ", ".IB ")) and not example:
            yield number, line.split(" ", 1)[1].replace('"', "").replace("\\-", "-")
        elif line.startswith(".") or line.startswith("'") or example:
            yield number, None
        else:
            yield number, re.sub(r"\\f[BIRP]", "", line).replace("\\-", "-").replace("\\&", "")


def protocol(lines):
    """Descriptions: a message's name and its column are no words. Tables and drawings are none."""
    for number, line in lines:
        if is_drawing(line) or re.match(r"\s{2,}\S+\s{2,}\S+\s{2,}\S+\s{2,}", line):
            yield number, None
        elif re.match(r"[A-Z_]{3,}\s{2,}", line):
            yield number, None
            yield number, re.sub(r"^[A-Z_]+\s+", "", line)
        elif re.match(r"\d+\. ", line):
            yield number, None
        else:
            yield number, line


def c_comments(lines):
    inside = False
    for number, line in lines:
        if not inside:
            start = re.search(r"/\*(?![^\"]*\"[^\"]*$)", line)
            if not start:
                yield number, None
                continue
            body = line[start.end():]
            yield number, None
            inside = "*/" not in body
        else:
            body = re.sub(r"^\s*\* ?", "", line) if not line.strip().startswith("*/") else ""
            if "*/" in line:
                inside = False
        body = body.split("*/")[0]
        if "SPDX" in body or "clang-format" in body or is_drawing(body) or body.startswith("  "):
            yield number, None
        else:
            yield number, body.strip()


def hash_comments(lines):
    for number, line in lines:
        match = re.match(r"\s*#( (?!SPDX)(.*))?$", line)
        text = match.group(2) if match and match.group(2) else None
        if text and (text.startswith(" ") or re.match(r"-{4}", text) or is_drawing(text)):
            text = None
        yield number, text


def reader(path):
    if path.endswith(".md"):
        return markdown
    if re.search(r"\.[1-8]$", path):
        return manual
    if path == "ipc/PROTOCOL":
        return protocol
    if re.search(r"\.([ch]|def|S)$", path):
        return c_comments
    if re.search(r"\.(sh|py|mk|cases|conf)$|(^|/)Makefile$|^contrib/try$", path):
        return hash_comments
    return None


def problems(path):
    read = reader(path)
    with open(path, encoding="utf-8") as file:
        lines = list(enumerate(file.read().split("\n"), 1))
    for text in paragraphs(read(lines)):
        for words in text.sentences():
            number, first = words[0]
            is_question = words[-1][1].endswith("?")
            if OPENINGS.match(first.lstrip("(\"'*")) and not is_question:
                yield number, "begins with " + first + ": " + shown(words)
            count = sum(1 for _, word in words if re.search(r"\w", word))
            if count > WORDS_MAX:
                yield number, f"{count} words: " + shown(words)
    if read is markdown:
        for number, length in cells(lines):
            yield number, f"a cell of {length} characters"


def shown(words):
    text = " ".join(word for _, word in words)
    return text if len(text) <= 70 else text[:68] + ".."


def tracked():
    files = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout
    return [path for path in files.split("\n") if path and path != "CHANGELOG.md" and reader(path)]


def main(paths):
    bad = 0
    for path in paths or tracked():
        if not reader(path):
            continue
        for number, text in problems(path):
            print(f"{path}:{number}: {text}")
            bad += 1
    if bad:
        print(f"{bad} to be mended")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
