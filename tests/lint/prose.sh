#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/lint/prose.py says what documents and comments may not say. The cases come first: each is a
# small file and the lines that the script must print for this file. Then every tracked file is read.

top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-prose.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
failed=0

is_said() {	# FILE SAID...: the file is standard input; each SAID is "LINE: words"
	local file=$1 said
	shift
	cat >"$top/$file"
	python3 tests/lint/prose.py "$top/$file" | sed -n "s|^$top/$file:||p" >"$top/said"
	for said; do
		printf '%s\n' "$said"
	done | diff - "$top/said" >"$top/difference" && return
	echo "tests/lint/prose.py: case $file"
	sed 's/^/    /' "$top/difference"
	failed=1
}

words="one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty more words than a"

# ---- sentences, in Markdown ----

is_said opening.md '3: begins with Who: Who is denied stays so.' '4: begins with Of: Of these none is kept.' <<'END'
# What a heading says is not read

Whoever reads may go on. Who is denied stays so.
Of these none is kept. "What is this?" asks a question. What is it?
Of-course and What's-its-name are words. The end.
END

is_said length.md '4: 26 words: One two three four five six seven eight nine ten eleven twelve thirt..' <<END
$(echo "$words" | sed 's/^one/One/') sentence.

$(echo "$words" | sed 's/^one/One/') good sentence.
END

is_said abbreviation.md <<'END'
Some words, e.g. these, end no sentence. Reads version 5.10 of foo.c, or a name, open, ... and more.
It's fine, and (this one, too). Next one; with `code that has many words. And a dot` in between.
END

is_said pronoun.md '1: a paragraph that begins with a pronoun: It waits for nobody.' \
	'5: a paragraph that begins with a pronoun: That is why nobody waits.' <<'END'
It waits for nobody.

The broker hangs. It is replaced. This page is fine.

That is why nobody waits.

- That page lies.
- Those.
END

is_said table.md '3: begins with What: What is left.' '4: a cell of 203 characters' <<END
| What | Who |
|---|---|
| What is left. | a cell |
| $(printf '%0203d' 0) | a cell |
END

is_said measured.md '9: begins with Of: Of the rest.' <<'END'
Text.

<!-- measured by a program -->

Of what was measured; nothing.

<!-- end -->

Of the rest.
END

is_said skipped.md <<'END'
```sh
Of what is fenced nothing is read.
```

    What is indented behind an empty line is an example.

Text.
END

# ---- comments ----

is_said comment.c '4: begins with What: What is left is given back.' '7: begins with Whose: Whose it is.' \
	'11: a paragraph that begins with a pronoun: It is late.' '13: begins with Else: Else nothing.' <<'END'
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the broker.
 * What is left is given back.
 */
struct file {
	int owner; /* Whose it is. */
	int bytes; /* bytes; 0 means no limit */
	char *name; /* a name, "/* What a string says", */
};
int f(void) { return g("/* Of a string */"); /* It is late. */ }
/* ---- What a line of a section says ---- */
// Else nothing.
/*
 *   Of an indented line nothing is read.
 *  --> What a drawing says
 */
END

is_said comment.sh '3: begins with Of: Of these none.' '5: begins with What: What it does.' <<'END'
#!/bin/sh
#
# Of these none.
echo '# What a string says' "# Of another # What"
run() {	# What it does.
	cat <<EOT
# What a here-document says.
EOT
	echo ${#What is long} $#
}
# name    a row of columns, What it is
END

is_said comment.py '2: begins with Who: Who reads this.' '4: begins with What: What a comment says.' \
	'6: begins with What: What it returns.' <<'END'
#!/usr/bin/env python3
"""Who reads this. The rest is fine."""
TEXT = """What a string says."""  # a string
# What a comment says.
def function():
    """What it returns."""
    return "# Of a string"
END

is_said page.1 '6: begins with What: What filters leave out is told as filtered.' \
	'10: 26 words: One two three four five six seven eight nine ten eleven twelve thirt..' <<END
.Sh NAME
.Nd What a page is about
.Sh DESCRIPTION
Takes samples, as
.Xr keyhole-record 1 .
What filters leave out is told as
.Em filtered .
.Bl -tag -width Ds
.It Fl o , -output Ar What
$(echo "$words" | sed 's/^one/One/' | tr '\n' ' ')
.Fl p ,
x.
.Bd -literal
What an example shows.
.Ed
END

is_said PROTOCOL '1: begins with Of: Of two processes.' <<'END'
READY          Of two processes.
  u32 magic    What is a number
END

[ $failed = 0 ] || exit 1
git ls-files >/dev/null 2>&1 || { echo 'not a clone: only the cases were run'; exit 77; }
exec python3 tests/lint/prose.py
