#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collector.py BUILD COLLECTOR: `keyhole agent` sends to a real Collector, which writes what it took into a
file. As many events are there as the agent took. Prints TAP."""
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../otlp"))
import payload  # noqa: E402

BUILD, COLLECTOR = (os.path.abspath(path) for path in sys.argv[1:3])
SECONDS = float(os.environ.get("COLLECTOR_SECONDS", 40))
FOLDER = tempfile.mkdtemp(prefix="keyhole-collector.")
WAIT = 60  # seconds for what takes one

CONFIG = """
receivers:
  otlp/plain:
    protocols:
      grpc: {{endpoint: "127.0.0.1:{grpc}"}}
      http: {{endpoint: "127.0.0.1:{http}"}}
  otlp/tls:
    protocols:
      grpc: {{endpoint: "127.0.0.1:{grpcs}", {tls}}}
      http: {{endpoint: "127.0.0.1:{https}", {tls}}}
exporters:
  file: {{path: taken, format: proto, append: true, flush_interval: 100ms}}
  debug: {{verbosity: basic}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    profiles: {{receivers: [otlp/plain, otlp/tls], exporters: [file, debug]}}
"""
TLS = "tls: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}"

CERTIFICATES = r"""
set -e
new="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
openssl req -x509 $new -days 2 -subj /CN=ca -keyout ca.key -out ca.pem
for name in server client; do
	openssl req $new -subj /CN=$name -keyout $name.key -out $name.csr
	printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' >ext
	openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out $name.pem
done
"""


def wait_for(text, path, process):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        with open(path, encoding="utf-8", errors="replace") as file:
            if text in file.read():
                return
        assert process.poll() is None, open(path, encoding="utf-8", errors="replace").read()[-2000:]
        time.sleep(0.1)
    raise AssertionError(f"no {text!r} in {path}")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Collector:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="collector.", dir=FOLDER)
        subprocess.run(["sh", "-c", CERTIFICATES], cwd=self.folder, check=True, stderr=subprocess.DEVNULL)
        self.ports = dict(zip(("grpc", "http", "grpcs", "https"), free_ports(4)))
        with open(os.path.join(self.folder, "config.yaml"), "w", encoding="utf-8") as file:
            file.write(CONFIG.format(tls=TLS, **self.ports))
        self.start()

    def start(self):
        log = os.path.join(self.folder, "log")
        with open(log, "w", encoding="utf-8") as file:
            self.process = subprocess.Popen([COLLECTOR, "--config", "config.yaml",
                                             "--feature-gates=service.profilesSupport"],
                                            cwd=self.folder, stdout=file, stderr=file)
        wait_for("Everything is ready", log, self.process)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(WAIT) == 0
        self.process = None

    def kill(self):
        """As a crash does: what was answered is in the file, but for its buffer."""
        time.sleep(0.3)
        self.process.kill()
        self.process.wait()

    def requests(self):
        with open(os.path.join(self.folder, "taken"), "rb") as file:
            data = file.read()
        at = 0
        while at < len(data):
            size = struct.unpack(">I", data[at:at + 4])[0]
            at += 4
            assert len(data) >= at + size, "a torn request"
            yield data[at:at + size]
            at += size

    def events(self):
        """The events, each index of a request resolved."""
        return sum(sum(payload.Request(request, tidy=False).samples.values()) for request in self.requests())

    def count(self):
        """The same by a look at the samples alone, of a long run."""
        return sum(len(payload.one(sample, 5)) // 8 or sum(payload.integers(sample, 4))
                   for request in self.requests()
                   for resource in payload.every(request, 1)
                   for scope in payload.every(resource, 2)
                   for profile in payload.every(scope, 2)
                   for sample in payload.every(profile, 2))


class Agent:
    def __init__(self, url, *options):
        self.log = os.path.join(FOLDER, f"agent.{time.monotonic_ns()}")
        with open(self.log, "w", encoding="utf-8") as file:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, "keyhole"), "agent", "-v", "--endpoint", url, "--interval", "1", "-F", "99",
                 *options], stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        wait_for("enabled", self.log, self.process)

    def end(self):
        """Returns how many samples were taken, of which none was lost."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(WAIT)
        with open(self.log, encoding="utf-8") as file:
            log = file.read()
        assert status == 0, log
        assert "dropped" not in log, log
        return int(re.search(r"^samples: .*taken (\d+)", log, re.M)[1])


def seconds_of_work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def compare(url, *options, certificates=False):
    collector = Collector()
    if certificates:
        at = collector.folder
        options += ("--ca-certificate", f"{at}/ca.pem", "--client-certificate", f"{at}/client.pem", "--client-key",
                    f"{at}/client.key")
    agent = Agent(url.format(**collector.ports), *options)
    seconds_of_work(3)
    taken = agent.end()
    collector.stop()
    came = collector.events()
    assert taken == came > 100, (taken, came, open(agent.log, encoding="utf-8").read())
    return f"{came} events in {len(list(collector.requests()))} requests"


def grpc():
    return compare("http://localhost:{grpc}", "--protocol", "grpc", "--compression", "none")


def grpc_packed():
    return ", ".join(compare("http://127.0.0.1:{grpc}", "--protocol", "grpc", "--compression", codec)
                     for codec in ("gzip", "zstd"))


def http():
    return ", ".join(compare("http://localhost:{http}", "--compression", codec) for codec in ("none", "gzip", "zstd"))


def grpc_over_tls_with_a_client_certificate():
    return compare("https://localhost:{grpcs}", "--protocol", "grpc", "--compression", "zstd", certificates=True)


def http_over_tls_with_a_client_certificate():
    return compare("https://127.0.0.1:{https}", certificates=True)


def without_a_client_certificate():
    """The Collector takes nothing, and says why."""
    collector = Collector()
    agent = Agent(f"https://localhost:{collector.ports['grpcs']}", "--protocol", "grpc", "--ca-certificate",
                  f"{collector.folder}/ca.pem")
    seconds_of_work(2)
    agent.process.send_signal(signal.SIGTERM)
    assert agent.process.wait(WAIT) == 0
    collector.stop()
    assert collector.events() == 0
    assert "certificate required" in open(agent.log, encoding="utf-8").read()


def restarts():
    """The Collector ends well and badly, and is away for a while; a spool is behind the queue."""
    collector, spool = Collector(), tempfile.mkdtemp(prefix="spool.", dir=FOLDER)
    agent = Agent(f"http://localhost:{collector.ports['grpc']}", "--protocol", "grpc", "--spool", "64M",
                  "--directory", spool)
    end, count = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        seconds_of_work(2)
        (collector.stop if count % 2 else collector.kill)()
        seconds_of_work(2)
        collector.start()
        count += 1
    seconds_of_work(2)
    until_empty(spool)
    taken = agent.end()
    collector.stop()
    came = collector.count()
    # a request that was taken just before the end, and not answered, comes again
    assert taken <= came <= taken * 1.2, (taken, came)
    assert not os.listdir(spool)
    return f"{count} restarts in {SECONDS:.0f} s, taken {taken}, came {came}"


def until_empty(folder):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if len(os.listdir(folder)) <= 1:  # of the window under way
            return
        time.sleep(0.1)
    raise AssertionError(os.listdir(folder))


CASES = (grpc, grpc_packed, http, grpc_over_tls_with_a_client_certificate, http_over_tls_with_a_client_certificate,
         without_a_client_certificate, restarts)


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, function in enumerate(CASES, 1):
        name = "collector: " + function.__name__.replace("_", " ")
        try:
            note = function()
            print(f"ok {number} - {name}", flush=True)
            if note:
                print(f"# | {name}: {note}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            for line in traceback.format_exc().strip().split("\n"):
                print(f"#   {line}", flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    return failed > 0


sys.exit(main())
