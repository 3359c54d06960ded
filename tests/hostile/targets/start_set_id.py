# SPDX-License-Identifier: Apache-2.0
"""start_set_id.py INTERPRETER NAME SECONDS: works for some ms in a child, which then executes the
interpreter with this script; again and again. Says "ready", "started PID", and with which effective
user the interpreter runs. INTERPRETER "run": works in a function of that name."""
import os
import sys
import time

WORK = 0.01     # seconds
SET_ID_WORK = 0.04


def before_the_exec(end):
    clock = time.time
    while clock() < end:
        pass


def run(name, seconds):
    names = {}
    exec(f"def {name}(end, clock):\n  while clock() < end:\n    pass\n", names)
    names[name](time.time() + seconds, time.time)


def start(interpreter, name):
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        print("started", child, flush=True)
        return
    before_the_exec(time.time() + WORK)
    os.execv(interpreter, [interpreter, "-I", "-S", __file__, "run", name, str(SET_ID_WORK)])


def main():
    interpreter, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    if interpreter == "run":
        print("euid", os.geteuid(), flush=True)
        run(name, seconds)
        return
    print("ready", flush=True)
    end = time.time() + seconds
    while time.time() < end:
        start(interpreter, name)


main()
