#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collector.py grpc|http FOLDER [tls]: a server of OTLP for an agent. Writes its port into FOLDER/port.
At SIGTERM it says how many requests and events came, and writes FOLDER/pids and FOLDER/resources. With tls it makes certificates in
FOLDER, and wants one of the client. A request that breaks a rule
of the protocol ends it with status 1."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../otlp"))
import payload  # noqa: E402
import server  # noqa: E402


def main():
    protocol, folder = sys.argv[1:3]
    deed = server.grpc_ok() if protocol == "grpc" else server.http_ok()
    tls = None
    if "tls" in sys.argv[3:]:
        server.make_certificates(folder)
        tls = server.context(folder, client_ca="ca")
    speaks = "h2" if protocol == "grpc" else "h1"
    at = server.Server(speaks, [deed], tls=tls, port=int(os.environ.get("PORT", 0)))
    signal.signal(signal.SIGTERM, lambda *_: None)
    with open(os.path.join(folder, "port.new"), "w", encoding="ascii") as file:
        file.write(str(at.port))
    os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
    signal.pause()
    events, pids, resources = 0, set(), set()
    for exchange in at.accepted:
        for (around, *_), count in payload.samples_of(exchange.message()).items():
            events += count
            pids.update(pid_of(around[0]))
            resources.add(texts_of(around[0]))
    print("requests", len(at.accepted), "events", events, "processes", len(pids))
    with open(os.path.join(folder, "pids"), "w", encoding="ascii") as file:
        file.writelines(f"{pid}\n" for pid in sorted(pids))
    with open(os.path.join(folder, "resources"), "w", encoding="utf-8") as file:
        file.writelines(f"{texts}\n" for texts in sorted(resources))


def texts_of(resource):
    """Returns the attributes that are texts: "a=b c=d"."""
    pairs = [(payload.one(pair, 1), payload.one(payload.one(pair, 2), 1))
             for pair in payload.every(resource, 1)]
    return " ".join(f"{key.decode()}={value.decode()}" for key, value in pairs if isinstance(value, bytes))


def pid_of(resource):
    for pair in payload.every(resource, 1):
        if payload.one(pair, 1) == b"process.pid":
            yield payload.one(payload.one(pair, 2), 3)


main()
