#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prose.py [FILE...]: finds sentences that a reader would have to read twice.

The script checks four things in documents and comments:

- A sentence has at most 25 words.
- A sentence begins with none of Who, Whom, Whose, What, Of, Nor and Else. A question may.
- A paragraph does not begin with a pronoun, whose noun would stand in another paragraph.
- A cell of a table has at most 200 characters.

Fragments such as "bytes; 0 means no limit" are fine. Without FILE the script reads every tracked
file. tests/lint/prose.sh has cases of what is found and of what is not.
"""
import ast
import io
import re
import subprocess
import sys
import tokenize

WORDS_MAX = 25
CELL_MAX = 200
OPENINGS = re.compile(r"(Who|Whom|Whose|What|Of|Nor|Else)\b(?!'|-)")
VERBS = ("is are was were has have had can cannot may must will would does do did needs need means says "
         "say takes take gives give makes make keeps keep holds hold").replace(" ", "|")
PRONOUNS = re.compile(rf"(It|They|Such|Those|He|She)\b(?!'|-)|(This|That|These|Both|Its|Their) ({VERBS})\b")
# A dot behind one of these ends no sentence.
ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx|resp|Fig|St|Dr)\.$")
COLUMNS = re.compile(r"(?<=\S)(?:\s{3,}|\t)(?=\S)")
DRAWING = re.compile(r"[\u2500-\u257f\u2580-\u259f\u25b2-\u25c6]|-->|<--|--\+|\+--|->\||^\s*\|.*\|\s*$|----")


# ---- paragraphs ----

class Text:
    """A paragraph: its lines, as (number, text)."""
    def __init__(self):
        self.lines = []

    def words(self):
        return [(number, word) for number, line in self.lines for word in plain(line).split()]

    def sentences(self):
        words, sentence = self.words(), []
        for i, (number, word) in enumerate(words):
            sentence.append((number, word))
            following = words[i + 1][1] if i + 1 < len(words) else ""
            if ends_sentence(word, following):
                yield sentence
                sentence = []
        if sentence:
            yield sentence


def ends_sentence(word, following):
    end = word.rstrip(")]\"'*_`\u201d\u2019")
    if not re.search(r"[.!?]$", end) or ABBREVIATIONS.search(end):
        return False
    # "open, socket, ... and exec"
    return not (end.endswith("...") and following[:1].islower())


def plain(line):
    line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)  # a link is its text
    line = re.sub(r"<https?://[^>]*>|https?://\S+", "link", line)
    line = re.sub(r"``?[^`]+``?", "code", line)
    return line.replace("**", "").replace("\u2014", " ").replace(" \u2013 ", " ")


def starts_item(line):
    return re.match(r"\s*([-*+\u2022]|\d+[.)])\s", line)


def paragraphs(lines):
    """Joins (number, text) lines. An empty line, None or an item of a list begins another one."""
    text = None
    for number, line in lines:
        ends = line is None or not line.strip()
        if text and (ends or starts_item(line)):
            yield text
            text = None
        if ends:
            continue
        text = text or Text()
        text.lines.append((number, re.sub(r"^\s*([-*+\u2022]|\d+[.)])\s+", "", line)))
    if text:
        yield text


# ---- documents ----

def split_cells(line):
    return re.split(r"(?<!\\)\|", line)[1:-1]


def markdown(lines):
    """Yields lines of prose, and each cell of a table as a paragraph.

    A block between "<!-- measured by ... -->" and "<!-- end -->" is what a program printed.
    """
    fenced = indented = listed = measured = False
    blank = True
    for number, line in lines:
        listed = bool(starts_item(line)) or (listed and (not line.strip() or line.startswith("  ")))
        indented = line.startswith("    ") and not listed and (blank or indented)
        blank = not line.strip()
        if line.startswith("<!--"):
            measured = line.startswith("<!-- measured by ")
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield number, None
        elif measured or fenced or indented or line.startswith(("#", "<!--")):
            yield number, None
        elif line.startswith("|"):
            for cell in split_cells(line):
                yield number, None
                yield number, cell
            yield number, None
        elif DRAWING.search(line):
            yield number, None
        else:
            yield number, line


def long_cells(lines):
    for number, line in lines:
        if not line.startswith("|"):
            continue
        for cell in split_cells(line):
            if len(cell.strip()) > CELL_MAX:
                yield number, len(cell.strip())


# mdoc(7): macros that are a part of a sentence, and those whose arguments are.
INLINE = {"Ar", "Cm", "Ad", "An", "Dq", "Dv", "Em", "Er", "Ev", "Fl", "Fn", "Ic", "Li", "Nm", "No", "Op", "Pa",
          "Pq", "Ql", "Qq", "Sq", "Sx", "Sy", "Tn", "Va", "Xr", "Ns", "Brq", "Bq", "Aq", "Po", "Pc", "Do", "Dc",
          "So", "Sc", "Oo", "Oc", "Ms", "Fa", "Vt",
          "B", "I", "BR", "IR", "RB", "RI", "BI", "IB"}


def macro_text(line):
    """Returns what a line of inline macros prints: one word for each argument."""
    line = re.sub(r"\bXr (\S+) (\d)", r"Xr \1(\2)", line)
    words = [word.replace('"', "") for word in line.split()]
    shown = ""
    for word in words:
        if word in INLINE:
            continue
        glue = "" if re.fullmatch(r"[.,:;?!)]+", word) or not shown else " "
        shown += glue + word
    return shown


def unescape(line):
    line = re.sub(r"\\f[BIRP]|\\&", "", line)
    return line.replace("\\-", "-").replace("\\e", "\\")


def manual(lines):
    """Yields what a manual page says, without its synopsis, tags and examples."""
    literal = synopsis = False
    for number, line in lines:
        words = line[1:].split() if line.startswith((".", "'")) else []
        macro = words[0] if words else ""
        if macro in ("Bd", "nf", "EX") and ("-literal" in words or "-unfilled" in words or macro != "Bd"):
            literal = True
        if macro in ("Ed", "fi", "EE"):
            literal = False
        if macro in ("Sh", "SH"):
            synopsis = words[1:2] in (["SYNOPSIS"], ["NAME"]) or words[1:3] == ["SEE", "ALSO"]
        # a line "@options record@" is filled in by contrib/documents
        if literal or synopsis or line.startswith('.\\"') or re.fullmatch(r"@[\w ]+@", line):
            yield number, None
        elif not words:
            yield number, unescape(line)
        elif macro in INLINE:
            yield number, unescape(macro_text(line[1:]))
        else:
            yield number, None


def protocol(lines):
    """Yields descriptions: a message's name and its column are no words, nor is a table."""
    for number, line in lines:
        if DRAWING.search(line) or re.match(r"\s{2,}\S.*\S\s{2,}\S", line):
            yield number, None
        elif re.match(r"[A-Z_]{3,}\s{2,}", line):
            yield number, None
            yield number, re.sub(r"^[A-Z_]+\s+", "", line)
        elif re.match(r"\d+\. ", line):
            yield number, None
        else:
            yield number, line


# ---- comments ----

# Strings, characters and comments, in the order in which a compiler sees them.
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
BACKTICKED = re.compile(r"`(?:\\.|[^`\\])*`|" + C_TOKEN.pattern, re.S)


def comment_lines(number, text, follows_code):
    """Yields lines of one comment. Indented ones, drawings and markers are no prose.

    The first line of a comment behind code describes a field or a case: the columns in front of it
    are not its text.
    """
    for line in text.split("\n"):
        # "name   what it is": the columns of a table
        row = COLUMNS.search(line) if not follows_code else None
        if re.search(r"SPDX|clang-format|shellcheck|mypy|noqa|pylint", line) or DRAWING.search(line):
            yield number, None
        elif line.startswith("  ") and not starts_item(line):
            yield number, None
        elif row:
            yield number, None
            yield number, line[row.end():]
            yield number, None
        else:
            yield number, line.strip()
        number += 1


def c_comments(lines, token=C_TOKEN):
    text = "\n".join(line for _, line in lines)
    last = 0
    for match in token.finditer(text):
        found = match.group(0)
        if not found.startswith(("/*", "//")):
            continue
        number = text.count("\n", 0, match.start()) + 1
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        # a run of // lines is one comment
        if found.startswith("/*") or number != last + 1 or before.strip():
            yield number, None
        last = number if found.startswith("//") else 0
        body = re.sub(r"^//[/!]?", "", found) if last else found[2:-2].lstrip("*")
        body = re.sub(r"\n[ \t]*\*? ?", "\n", body) if "\n" in body else body
        yield from comment_lines(number, body[1:] if body.startswith(" ") else body, bool(before.strip()))


def js_comments(lines):
    return c_comments(lines, BACKTICKED)


def in_quotes(text):
    """Whether a shell would still be in a string at the end of the text."""
    text = re.sub(r"\\.", "", text)
    text = re.sub(r"'[^']*'", "", re.sub(r'"[^"]*"', "", text))
    return "'" in text or '"' in text


def hash_comments(lines):
    """Yields comments of shell, make and files of settings, but for here-documents."""
    end = None
    for number, line in lines:
        if end is not None:
            end = None if line.strip() == end else end
            yield number, None
            continue
        here = re.search(r"<<-?\s*['\"\\]?(\w+)", line)
        whole = re.match(r"\s*#(?: |$)(.*)$", line)
        behind = None if whole else re.search(r"\s#\s+(.*)$", line)
        if here and not whole:
            end = here.group(1)
        if whole:
            yield from comment_lines(number, whole.group(1), False)
            continue
        yield number, None
        if behind and not in_quotes(line[:behind.start()]) and "${" not in line[:behind.start()][-3:]:
            yield number, behind.group(1)
            yield number, None


def python_comments(lines):
    """Yields comments, and what documents modules, classes and functions."""
    text = "\n".join(line for _, line in lines)
    found = []
    try:
        tree = ast.parse(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            first = node.body[0].lineno
            found.append((first, False, ast.get_docstring(node)))
    for token in tokens:
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            behind = bool(token.line[:token.start[1]].strip())
            body = token.string[1:]
            found.append((token.start[0], behind, body[1:] if body.startswith(" ") else body))
    last = 0
    for number, behind, body in sorted(found):
        if number != last + 1 or behind or "\n" in body:
            yield number, None
        last = 0 if behind or "\n" in body else number
        yield from comment_lines(number, body, behind)


# ---- files ----

READERS = (
    (r"\.md$", markdown),
    (r"\.[1-8]$", manual),
    (r"PROTOCOL$", protocol),
    (r"\.([ch]|cpp|def|S|go|proto|css)$", c_comments),
    (r"\.js$", js_comments),
    (r"\.py$", python_comments),
    (r"\.(sh|mk|cases|conf|service|sysusers|tmpfiles|bash|fish|txt)$|(^|/)(Makefile|_keyhole)$", hash_comments),
)


def reader(path):
    for pattern, read in READERS:
        if re.search(pattern, path):
            return read
    return None


def reader_of(path, text):
    """Programs without a suffix are known by their first line."""
    program = re.match(r"#!.*\b(sh|bash|python3?)\b", text)
    if reader(path) or not program:
        return reader(path)
    return python_comments if program.group(1).startswith("python") else hash_comments


def problems(path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (UnicodeDecodeError, IsADirectoryError, FileNotFoundError):
        return
    read = reader_of(path, text)
    if not read:
        return
    lines = list(enumerate(text.split("\n"), 1))
    for paragraph in paragraphs(read(lines)):
        yield from judge(paragraph)
    if read is markdown:
        for number, length in long_cells(lines):
            yield number, f"a cell of {length} characters"


def judge(paragraph):
    first = True
    for words in paragraph.sentences():
        number, opening = words[0]
        beginning = " ".join(word for _, word in words[:2]).lstrip("(\"'*_")
        is_question = words[-1][1].rstrip(")\"'").endswith("?")
        count = sum(1 for _, word in words if re.search(r"\w", word))
        if OPENINGS.match(beginning) and not is_question and count > 1:
            yield number, "begins with " + opening + ": " + shown(words)
        elif first and PRONOUNS.match(beginning) and count > 2:
            yield number, "a paragraph that begins with a pronoun: " + shown(words)
        if count > WORDS_MAX:
            yield number, f"{count} words: " + shown(words)
        first = False


def shown(words):
    text = " ".join(word for _, word in words)
    return text if len(text) <= 70 else text[:68] + ".."


def tracked():
    files = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout
    return [path for path in files.split("\n") if path and not re.search(r"^LICENSE|/seeds/|/stacks/", path)]


def main(paths):
    bad = 0
    for path in paths or tracked():
        for number, text in problems(path):
            print(f"{path}:{number}: {text}")
            bad += 1
    if bad:
        print(f"{bad} to be mended")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
