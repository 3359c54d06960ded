# SPDX-License-Identifier: Apache-2.0
"""Holds keyhole's walk of the kernel's stack to the kernel's own: kernel.py KEYHOLE SECONDS.

KEYHOLE is built with OBSERVER=tests/oracle/kernel.bpf.h (make kernel-walk-build). While it samples all
processes, loads spend their time in many parts of the kernel.
"""
import ctypes
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/bench")
import bpf  # noqa: E402

COUNTS = "same", "given up", "of another length", "with another frame", "frames", "outside", "neither"
ENOUGH = 500
WHOLE = .9  # so many are not given up, of those that the kernel's tables are for
LOADS = [
    "while :; do find /usr /proc/self /sys/kernel -xdev 2>/dev/null | wc -c; done",
    "while :; do dd if=/dev/zero of=$HOME/file bs=64k count=500; sync $HOME/file; rm -f $HOME/file; done",
    "while :; do for i in 1 2 3 4 5 6 7 8 9; do /bin/true & done; wait; done",
    "while :; do head -c 20000000 /dev/urandom | gzip -1 | tail -c 1; done",
    "while :; do tar cf - /usr/share/doc | cat | wc -c; done",
]


def begin(load, home):
    return subprocess.Popen(["sh", "-c", load], env={**os.environ, "HOME": home}, start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def read(fd, number):
    key, value = ctypes.c_uint32(number), ctypes.c_uint64()
    bpf.bpf(bpf.MAP_LOOKUP, (ctypes.c_uint64 * 4)(fd, ctypes.addressof(key), ctypes.addressof(value), 0))
    return value.value


def sample(keyhole, seconds, home):
    """The map of the walks, by its file descriptor."""
    before, fd = bpf.map_ids(), None
    loader = subprocess.Popen([keyhole, "record", "-F", "999", "-d", seconds, "-o", f"{home}/p.folded"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while fd is None and loader.poll() is None:
        fd = bpf.find_map("kernel_walks", before)
    text = loader.communicate()[0]
    if loader.returncode or fd is None:
        sys.exit(f"{text}\nkeyhole ended with {loader.returncode}; is it built with tests/oracle/kernel.bpf.h?")
    return fd


def symbols():
    with open("/proc/kallsyms", encoding="ascii") as file:
        return sorted((int(line.split()[0], 16), line.split()[2]) for line in file if line.split()[1] in "tTwW")


def name(address):
    found = [row for row in symbols() if row[0] <= address]
    return f"{found[-1][1]}+{address - found[-1][0]:#x}" if found else hex(address)


def main():
    keyhole, seconds = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home:
        loads = []
        try:
            loads.extend(begin(load, home) for load in LOADS)
            fd = sample(keyhole, seconds, home)
        finally:
            for load in loads:
                os.killpg(load.pid, 9)
                load.wait()
    same, given_up, length, frame, frames, outside, neither = (read(fd, number) for number in range(len(COUNTS)))
    print(f"kernel stacks: {same} the same ({frames} frames), {given_up} given up, {length} of another length, "
          f"{frame} with another frame, {outside} with code of modules or of BPF, {neither} that the kernel gives up "
          "as well")
    ours, theirs, at, stopped = (read(fd, len(COUNTS) + number) for number in range(4))
    if length + frame:
        print(f"the last: frame {at} is {name(ours)}, the kernel says {name(theirs)}")
        return 1
    if same < ENOUGH or same < WHOLE * (same + given_up):
        print(f"too few: {ENOUGH} and {WHOLE:.0%} of all are wanted; the last stopped at {name(stopped)}")
        return 1
    return 0


sys.exit(main())
