# SPDX-License-Identifier: Apache-2.0
"""Runs as root in the machine of tests/systemd/run.sh: starts, looks at, disturbs and stops the
service. Prints TAP, and leaves files for the host to compare in the current folder.
"""
import grp
import os
import pwd
import re
import signal
import stat
import subprocess
import sys
import time

import starts

UNIT = "keyhole.service"
DROP_IN = "/run/systemd/system/keyhole.service.d"
CONNECTOR = "keyhole-connector@.service"
STATE = "/var/lib/keyhole"
CONFIGURATION = "/etc/keyhole/agent.conf"
PORT = 4318
USERS = {"keyhole-worker": 65431, "keyhole-exporter": 65432, "keyhole-broker": 65433,
         "keyhole": 65434, "keyhole-connect": 65435}
CAPABILITIES = {"BPF", "PERFMON", "SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "SYSLOG",
                "SYS_PTRACE", "CHECKPOINT_RESTORE", "DAC_READ_SEARCH"}
EXPOSURE = {UNIT: 2.6, CONNECTOR: 1.2}
WATCHDOG = 8    # seconds, for this test; the unit's are longer
# Names of the unit file, and the names of the manager for them.
WANTED = {"Type": "notify", "NotifyAccess": "main", "User": "keyhole", "UMask": "0077",
          "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes",
          "ProtectProc": "invisible", "PrivateNetwork": "yes", "KillMode": "mixed",
          "MemoryMax": str(1 << 30), "TasksMax": "32", "LimitCORE": "0",
          "KeyringMode": "private", "Restart": "on-failure", "LoadState": "loaded"}

tests, failed = 0, 0


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def show(name):
    return run("systemctl", "show", "-P", name, UNIT)[1].strip()


def until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited %d s for: %s" % (seconds, what))
        time.sleep(0.2)


def equal(what, have, want):
    assert have == want, f"{what}: {have}, not {want}"


def main_pid():
    return int(show("MainPID"))


def is_gone(pid):
    """A zombie whose parent has not looked yet runs no more."""
    try:
        return starts.status(pid)["State"].startswith("Z")
    except (OSError, KeyError):
        return True


# ---- in this order ----------------------------------------------------------------------------


def users_are_reserved():
    status, text = run("systemd-sysusers", "keyhole.conf")
    assert status == 0, text
    equal("systemd-tmpfiles", run("systemd-tmpfiles", "--create", "--boot", "keyhole.conf"),
          (0, ""))
    for name, number in USERS.items():
        equal(name, (pwd.getpwnam(name).pw_uid, pwd.getpwnam(name).pw_gid), (number, number))
        equal(name, (pwd.getpwuid(number).pw_name, grp.getgrgid(number).gr_name), (name, name))
        assert pwd.getpwnam(name).pw_shell.endswith("nologin")


def unit_is_understood():
    for unit in (UNIT, "keyhole-connector.socket", CONNECTOR):
        equal(f"systemd-analyze verify {unit}",
              run("systemd-analyze", "verify", "--man=no", unit), (0, ""))
    assert "\nWatchdogSec=30\n" in run("systemctl", "cat", UNIT)[1]


def exposure():
    for unit, allowed in EXPOSURE.items():
        text = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit)[1]
        level = float(re.search(r"Overall exposure level for \S+ ([0-9.]+) ", text).group(1))
        print(f"# |systemd {run('systemctl', '--version')[1].split()[1]}: "
              f"exposure of {unit} {level}, {allowed} allowed")
        assert level <= allowed, text


def configure(*lines, version="version 1"):
    """Root alone may read the file, as if a password were in it."""
    os.makedirs(os.path.dirname(CONFIGURATION), exist_ok=True)
    with open(os.open(CONFIGURATION, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        file.write("\n".join((version, *lines)) + "\n")


def journal(form="cat"):
    return run("journalctl", "-u", UNIT, "-o", form)[1]


def becomes_active():
    configure("interval 2", "frequency 49")
    os.makedirs(DROP_IN)
    with open(f"{DROP_IN}/test.conf", "w") as file:
        file.write(f"[Service]\nWatchdogSec={WATCHDOG}\nRestartSec=1\n")
    equal("daemon-reload", run("systemctl", "daemon-reload"), (0, ""))
    began = time.monotonic()
    equal("start", run("systemctl", "start", UNIT), (0, ""))
    print(f"# |started in {time.monotonic() - began:.1f} s, emulated")
    for name, want in dict(WANTED, ActiveState="active", SubState="running", NRestarts="0").items():
        equal(name, show(name), want)
    equal("connector's socket", run("systemctl", "is-active", "keyhole-connector.socket"),
          (0, "active\n"))
    bounding = {name.upper()[4:] for name in show("CapabilityBoundingSet").split()}
    equal("CapabilityBoundingSet", bounding, CAPABILITIES)


def active_means_sampling():
    loader = starts.status(main_pid())
    equal("Uid", loader["Uid"].split(), ["65434"] * 4)
    events = [os.readlink(f"/proc/{main_pid()}/fd/{fd}")
              for fd in os.listdir(f"/proc/{main_pid()}/fd")]
    assert "anon_inode:[perf_event]" in events, events


def runs_confined():
    loader = main_pid()
    committer = next(pid for pid in starts.family(loader)
                     if starts.status(pid)["Name"] == "keyhole-output")
    of = starts.status(committer)
    equal("committer", (of["Uid"].split()[0], of["CapPrm"], of["NoNewPrivs"]),
          ("65434", "0" * 16, "1"))
    # The committer has no filter of ours: all of its are those of the unit.
    base = int(of["Seccomp_filters"])
    with open("table", "w") as file:
        file.write("\n".join(starts.as_table(starts.look(loader, base))) + "\n")
    print(f"# |{base} filters of the unit below ours")


def nobody_is_root():
    for pid in starts.family(main_pid()):
        assert "0" not in starts.status(pid)["Uid"].split(), starts.status(pid)["Name"]


def folders():
    for folder in ("/var/lib/keyhole", "/run/keyhole"):
        of = os.stat(folder)
        equal(folder, (of.st_uid, of.st_gid, stat.S_IMODE(of.st_mode)), (65434, 65434, 0o700))


def stays_active():
    """Left alone for longer than the watchdog waits."""
    active = int(show("ActiveEnterTimestampMonotonic")) / 1e6
    time.sleep(max(0, active + WATCHDOG + 2 - time.monotonic()))
    equal("left alone", (show("ActiveState"), show("NRestarts")), ("active", "0"))
    print(f"# |memory {int(show('MemoryCurrent')) >> 20} MB, {show('TasksCurrent')} tasks")


def windows():
    return sorted(name for name in os.listdir(STATE) if name.endswith(".pb.gz"))


def keep_windows():
    """Leaves the windows for the host, but for one that may be taken away meanwhile."""
    os.makedirs("windows", exist_ok=True)
    run("sh", "-c", f"cp {STATE}/*.pb.gz windows")


def files_appear():
    run("/test/mixed", "5")
    until("two windows", lambda: len(windows()) >= 2)
    for name in windows():
        assert re.fullmatch(r"keyhole-\d{8}T\d{6}Z\.pb\.gz", name), name
        of = os.stat(f"{STATE}/{name}")
        equal(name, (of.st_uid, stat.S_IMODE(of.st_mode)), (65434, 0o600))
    keep_windows()


def said(old):
    """Lines of keyhole's processes other than the running service, since the journal was `old`."""
    found = re.findall(r" keyhole\[(\d+)\]: (keyhole: .*)", journal("short")[len(old):])
    return [text for pid, text in found if int(pid) != main_pid()]


def refuses(line):
    """A reload fails, says why in one line, and changes nothing."""
    old, restarts_before, told = main_pid(), show("NRestarts"), journal("short")
    status, _ = run("systemctl", "reload", UNIT)
    assert status != 0, "the reload did not fail"
    until("a line", lambda: said(told))
    ours = said(told)
    equal("lines of keyhole", len(ours), 1)
    assert re.search(line, ours[0]), ours
    equal("after the reload", (main_pid(), show("NRestarts"), show("ActiveState")),
          (old, restarts_before, "active"))


def refuses_file(line, path, text):
    """The same for a file, which is taken away again."""
    with open(path, "w") as file:
        file.write(text)
    try:
        refuses(line)
    finally:
        os.unlink(path)


def invalid_files_change_nothing():
    try:
        configure("interval 2", "frequenzy 97")
        refuses(r"agent\.conf:3: not an option of this file; did you mean frequency")
        configure("endpoint https://x", "client-key /none", "client-certificate /none")
        refuses(r"agent: /none: No such file")
    finally:
        configure("interval 2", "frequency 49")
    refuses_file(r"policy\.conf:2: ", "/etc/keyhole/policy.conf", "version 1\ndeny nonsense 1\n")
    refuses_file(r"OTEL_EXPORTER_OTLP_TIMEOUT: not a time", "/etc/default/keyhole",
                 "OTEL_EXPORTER_OTLP_TIMEOUT=soon\n")


def reloads():
    """The service ends, and begins again with what the files say now."""
    old, number = starts.family(main_pid()), int(show("NRestarts"))
    equal("reload", run("systemctl", "reload", UNIT), (0, ""))
    until("new start", lambda: int(show("NRestarts")) == number + 1)
    until("active", lambda: show("ActiveState") == "active" and main_pid() not in (0, *old))
    equal("left over", [pid for pid in old if not is_gone(pid)], [])


def reload_changes_the_rate():
    before = windows()
    configure("interval 2", "frequency 97")
    reloads()
    run("/test/mixed", "5")
    until("a new window", lambda: len(set(windows()) - set(before)) >= 3)
    keep_windows()


def start_collector():
    for name in ("port", "pids"):
        if os.path.exists(name):
            os.unlink(name)
    process = subprocess.Popen(["python3", "/test/e2e/collector.py", "http", "."],
                               stdout=subprocess.PIPE, text=True, env=dict(os.environ, PORT=str(PORT)))
    until("the collector", lambda: os.path.exists("port") or process.poll() is not None)
    assert process.poll() is None, "the collector ended"
    return process


def stop_collector(process):
    process.terminate()
    text = process.communicate()[0]
    equal("collector", process.returncode, 0)
    return int(re.search(r" events (\d+) ", text).group(1))


def network_of(pid):
    """None of a process that has ended, as a reader of debug information does."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except FileNotFoundError:
        return None


def reload_adds_a_server():
    """keyhole-connector is in the machine's network, in a service of its own, and holds no right."""
    collector = start_collector()
    configure("interval 2", "frequency 97", f"endpoint http://127.0.0.1:{PORT}")
    reloads()
    unit = run("systemctl", "list-units", "--plain", "--no-legend", "keyhole-connector@*")[1]
    equal("connectors", len(unit.splitlines()), 1)
    pid = int(run("systemctl", "show", "-P", "MainPID", unit.split()[0])[1])
    of = starts.status(pid)
    equal("connector", (of["Name"], of["Uid"].split(), of["CapPrm"], of["CapBnd"], of["NoNewPrivs"]),
          ("keyhole-connector"[:15], ["65435"] * 4, "0" * 16, "0" * 16, "1"))
    equal("its network", network_of(pid), network_of("self"))
    for other in starts.family(main_pid()):
        assert network_of(other) != network_of("self"), other
    run("/test/mixed", "5")
    run("systemctl", "stop", UNIT)
    until("the connector to end", lambda: is_gone(pid), 10)
    assert stop_collector(collector) > 0, "nothing came"


def samples_taken():
    """By the summary of the service that ended last."""
    return int(re.findall(r"samples: .*taken (\d+)", journal())[-1])


def stop_sends_all():
    """As many samples came as were taken, those of the last window too. OTEL_SERVICE_NAME is the
    name of keyhole's own processes, and of no others."""
    with open("/etc/default/keyhole", "w") as file:
        file.write("OTEL_SERVICE_NAME=profiler\nOTEL_RESOURCE_ATTRIBUTES=cloud.region=r1\n")
    collector = start_collector()
    equal("start", run("systemctl", "start", UNIT), (0, ""))
    run("/test/mixed", "5")
    began = time.monotonic()
    equal("stop", run("systemctl", "stop", UNIT), (0, ""))
    print(f"# |stopped in {time.monotonic() - began:.1f} s, emulated")
    equal("result", (show("ActiveState"), show("Result"), show("ExecMainStatus")),
          ("inactive", "success", "0"))
    came = stop_collector(collector)
    taken = samples_taken()
    print(f"# |taken {taken}, came {came}")
    equal("samples", came, taken)
    with open("resources", encoding="utf-8") as file:
        resources = file.read().splitlines()
    named = [line for line in resources if "service.name=profiler" in line]
    assert named and all("/libexec/keyhole/keyhole-" in line or "/bin/keyhole" in line
                         for line in named), named
    assert all("cloud.region=r1" in line for line in resources), resources
    assert not os.path.exists("/run/keyhole")


def a_server_goes_away():
    """For a sixth of the time nobody answers. The samples came, or were too old for the queue and are counted."""
    seconds = float(os.environ["AWAY_SECONDS"])
    told = len(journal())
    os.unlink("/etc/default/keyhole")
    configure(f"endpoint http://127.0.0.1:{PORT}")
    collector = start_collector()
    equal("start", run("systemctl", "start", UNIT), (0, ""))
    load = subprocess.Popen(["/test/mixed", str(seconds)], stdout=subprocess.DEVNULL)
    time.sleep(seconds / 3)
    came = stop_collector(collector)
    time.sleep(seconds / 6)
    collector = start_collector()
    load.wait()
    equal("running", (show("ActiveState"), show("NRestarts")), ("active", "0"))
    print(f"# |memory {int(show('MemoryCurrent')) >> 20} MB, CPU {int(show('CPUUsageNSec')) / 1e9:.1f} s, emulated")
    equal("stop", run("systemctl", "stop", UNIT), (0, ""))
    came += stop_collector(collector)
    taken = samples_taken()
    dropped = sum(int(number) for number in re.findall(r" (\d+) events dropped", journal()[told:]))
    print(f"# |{seconds:.0f} s, of which {seconds / 6:.0f} without a server: taken {taken}, came {came}, dropped {dropped}")
    equal("samples", came + dropped, taken)


def restarts(what, do, reason):
    """After do(pids) the manager says why the service ended, all of it is gone, and it runs again."""
    old, number = starts.family(main_pid()), int(show("NRestarts"))
    began = time.monotonic()
    do(old)
    until("restart", lambda: int(show("NRestarts")) == number + 1)
    until("active", lambda: show("ActiveState") == "active")
    print(f"# |{what}: active again after {time.monotonic() - began:.1f} s")
    left = [pid for pid in old if not is_gone(pid)]
    equal("left over", left, [])
    assert reason in journal().split("Started ")[-2]


def signal_to(name, number):
    def do(pids):
        os.kill(next(pid for pid in pids if starts.status(pid)["Name"] == name), number)
    return do


def stopped_loader_is_noticed():
    restarts("SIGSTOP to the loader", signal_to("keyhole", signal.SIGSTOP), "Watchdog timeout")


def stopped_worker_is_noticed():
    restarts("SIGSTOP to the worker", signal_to("keyhole-worker", signal.SIGSTOP),
             "Watchdog timeout")


def killed_loader_leaves_nobody():
    def kill(pids):
        signal_to("keyhole", signal.SIGKILL)(pids)
        until("children to end", lambda: all(is_gone(pid) for pid in pids), 2)
    restarts("SIGKILL to the loader", kill, "status=9/KILL")


TESTS = [users_are_reserved, unit_is_understood, exposure, becomes_active, active_means_sampling,
         runs_confined, nobody_is_root, folders, stays_active, files_appear,
         invalid_files_change_nothing, reload_changes_the_rate, stopped_loader_is_noticed,
         stopped_worker_is_noticed, killed_loader_leaves_nobody, reload_adds_a_server,
         stop_sends_all, a_server_goes_away]


def main():
    global tests, failed
    for test in TESTS:
        tests += 1
        try:
            test()
            print(f"ok {tests} - {test.__name__}", flush=True)
        except Exception as error:
            failed += 1
            print(f"not ok {tests} - {test.__name__}")
            print("\n".join("#   " + line for line in str(error).split("\n")), flush=True)
    if failed:
        print("\n".join("# " + line for line in run("journalctl", "-b", "-u", UNIT)[1].split("\n")))
    return failed


if __name__ == "__main__":
    sys.exit(main())
