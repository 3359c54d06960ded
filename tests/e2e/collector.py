#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collector.py grpc|http FOLDER [tls]: a server of OTLP for an agent. Writes its port into FOLDER/port.
At SIGTERM it says how many requests and events came, and writes FOLDER/pids. Metrics that came are in
FOLDER/metrics and FOLDER/resource; with no-metrics it refuses them. With tls it makes certificates in
FOLDER, and wants one of the client. A request that breaks a rule
of the protocol ends it with status 1."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../otlp"))
import numbers_of_otlp as numbers  # noqa: E402
import payload  # noqa: E402
import server  # noqa: E402


def main():
    protocol, folder = sys.argv[1:3]
    accept = server.grpc_ok() if protocol == "grpc" else server.http_ok()
    refuse = server.grpc_status(12, "no metrics") if protocol == "grpc" else server.http(404)

    def deed(exchange):
        (refuse if "no-metrics" in sys.argv[3:] and is_metrics(exchange) else accept)(exchange)

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
    events, pids = 0, set()
    profiles = [exchange for exchange in at.accepted if not is_metrics(exchange)]
    for exchange in profiles:
        for (around, *_), count in payload.samples_of(exchange.message()).items():
            events += count
            pids.update(pid_of(around[0]))
    print("requests", len(profiles), "events", events, "processes", len(pids))
    with open(os.path.join(folder, "pids"), "w", encoding="ascii") as file:
        file.writelines(f"{pid}\n" for pid in sorted(pids))
    write_metrics(folder, [exchange.message() for exchange in at.accepted if is_metrics(exchange)])


def is_metrics(exchange):
    return exchange.headers[":path"] in (
        "/v1/metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export")


def write_metrics(folder, messages):
    with open(os.path.join(folder, "metrics"), "w", encoding="ascii") as file:
        file.writelines(f"{name} {value}\n" for name, value in numbers.check_sequence(messages).items())
    with open(os.path.join(folder, "resource"), "w", encoding="ascii") as file:
        for message in messages[-1:]:
            file.writelines(f"{key}={value}\n" for key, value in numbers.read(message)[0].items())


def pid_of(resource):
    for pair in payload.every(resource, 1):
        if payload.one(pair, 1) == b"process.pid":
            yield payload.one(payload.one(pair, 2), 3)


main()
