#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collector.py grpc|http FOLDER [tls]: a server of OTLP for an agent. Writes its port into FOLDER/port.
FOLDER/resources has the attributes of each resource that has come so far, one of them a line. FOLDER/links
has the trace and the span of each link.
At SIGTERM it answers no more, says how many requests and events came, and writes FOLDER/pids. Metrics that came
are in FOLDER/metrics and FOLDER/resource; with no-metrics it refuses them. With tls it makes certificates in
FOLDER, and wants one of the client. A request that breaks a rule
of the protocol ends it with status 1."""
import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../otlp"))
import numbers_of_otlp as numbers  # noqa: E402
import payload  # noqa: E402
import server  # noqa: E402


def main():
    protocol, folder = sys.argv[1:3]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # in all threads
    clients, answering = [], threading.Lock()
    accept = server.grpc_ok() if protocol == "grpc" else server.http_ok()
    refuse = server.grpc_status(12, "no metrics") if protocol == "grpc" else server.http(404)

    def deed(exchange):
        if tls:
            subject = dict(pair[0] for pair in exchange.handler.link.getpeercert()["subject"])
            if subject["commonName"] not in clients:
                clients.append(subject["commonName"])
        with answering:
            (refuse if "no-metrics" in sys.argv[3:] and is_metrics(exchange) else accept)(exchange)

    tls = None
    if "tls" in sys.argv[3:]:
        server.make_certificates(folder)
        tls = server.context(folder, client_ca="ca")
    speaks = "h2" if protocol == "grpc" else "h1"
    at = server.Server(speaks, [deed], tls=tls, port=int(os.environ.get("PORT", 0)))
    write(folder, "port", str(at.port))
    seen = Seen(folder)
    while not signal.sigtimedwait([signal.SIGTERM], 0.2):
        seen.look(at.accepted)
    answering.acquire()  # for good: what is answered from here on would not be counted
    at.close()
    seen.look(at.accepted)
    if clients:
        print("clients", ",".join(clients))
    print("requests", seen.requests, "events", seen.events, "processes", len(seen.pids))
    write(folder, "pids", "".join(f"{pid}\n" for pid in sorted(seen.pids)))
    write_metrics(folder, [exchange.message() for exchange in at.accepted if is_metrics(exchange)])


class Seen:
    """All that came so far. It is counted while more comes, as that takes minutes on a slow machine."""

    def __init__(self, folder):
        self.folder, self.looked_at, self.requests, self.events = folder, 0, 0, 0
        self.lines, self.links, self.pids = set(), set(), set()

    def look(self, accepted):
        for exchange in accepted[self.looked_at:]:
            self.looked_at += 1
            if not is_metrics(exchange):
                self.count(exchange.message())
            write(self.folder, "resources", "".join(f"{line}\n" for line in sorted(self.lines)))
            write(self.folder, "links", "".join(f"{line}\n" for line in sorted(self.links)))

    def count(self, message):
        self.requests += 1
        self.lines.update(resources_of(message))
        self.links.update(links_of(message))
        for (around, *_), count in payload.samples_of(message).items():
            self.events += count
            self.pids.update(pid_of(around[0]))


def is_metrics(exchange):
    return exchange.headers[":path"] in (
        "/v1/metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export")


def write_metrics(folder, messages):
    with open(os.path.join(folder, "metrics"), "w", encoding="utf-8") as file:
        file.writelines(f"{name} {value}\n" for name, value in numbers.check_sequence(messages).items())
    with open(os.path.join(folder, "resource"), "w", encoding="utf-8") as file:
        for message in messages[-1:]:
            file.writelines(f"{key}={value}\n" for key, value in numbers.read(message)[0].items())


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


def text_of(value):
    """The value of an attribute: a text or a number."""
    kind, content = next(payload.fields(value), (0, b""))
    return content.decode() if kind == 1 else content


def resources_of(request):
    """A line for each: process.pid=5 service.name=x ..., in the order of the keys."""
    for resource in payload.every(request, 1):
        pairs = (payload.one(pair, 1) and
                 (payload.one(pair, 1).decode(), text_of(payload.one(pair, 2)))
                 for pair in payload.every(payload.one(resource, 1), 1))
        yield " ".join(f"{key}={value}" for key, value in sorted(pairs))


def links_of(request):
    for link in payload.every(payload.one(request, 2), 4):
        if link:
            yield f"{payload.one(link, 1).hex()} {payload.one(link, 2).hex()}"


def pid_of(resource):
    for pair in payload.every(resource, 1):
        if payload.one(pair, 1) == b"process.pid":
            yield payload.one(payload.one(pair, 2), 3)


main()
