#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# terminal.py COLUMNS KEYHOLE ARGS...: runs keyhole on a terminal of so many columns (or of $COLUMNS).
# The output there is held against the lines that a recording of some seconds should show.

import fcntl, os, pty, re, struct, sys, termios

columns, command = int(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.environ["TERM"] = "xterm"
    os.execv(command[0], command)
text = b""
try:
    while chunk := os.read(terminal, 4096):
        text += chunk
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, text)

columns = int(os.environ.get("COLUMNS", columns))
bad = []


def expect(what, holds):
    if not holds:
        bad.append(what)


moving, _, rest = text.rpartition(b"\r\x1b[K")
shown = [line for line in moving.replace(b"\x1b[K", b"").split(b"\r") if line]
first = rb"(\d+) s: (\d+) samples, (\d+) lost"
lines = [re.match(first, line) for line in shown]
# how often is the wide terminal's affair: a machine with more to do than CPUs may skip one
expect("a line each second", len(shown) >= (4 if columns > 100 else 2) and all(lines))
expect("counts that grow", sorted(shown, key=lambda l: int(re.match(first, l)[2])) == shown)
expect("samples", lines and int(lines[-1][2]) >= (100 if columns > 100 else 20))
complete = re.search(rb", (\d+) % complete$", shown[-1]) if shown else None
expect("a share that is complete", (complete and int(complete[1]) >= 80) or columns < 50)
expect("the summary last", rest.startswith(b"samples: expected"))
expect("no other control characters", not re.search(rb"[\x00-\x09\x0b\x0c\x0e-\x1f]", rest))
expect("no colours", not re.search(rb"\x1b(?!\[K)", text))
body = rest.replace(b"\r\n", b"\n").split(b"\nwrote ")[0].split(b"\n")
expect("nothing wider than the terminal", all(len(line) < columns for line in shown + body))
expect("status 0", status == 0)
print("missing:", bad)
# too few alone: the machine had no time for it (e2e/run.sh: STARVED)
sys.exit(75 if bad == ["samples"] else 1 if bad else 0)
