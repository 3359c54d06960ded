#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cases.py DELIVER EXPORTER [PART_OF_A_NAME]: windows on their way to a server that does its worst. Each
case has a server (server.py) and a process of DELIVER (deliver.c). As root, EXPORTER (exporter.c) sends some of
them by keyhole-exporter itself. Prints TAP."""
import concurrent.futures
import multiprocessing
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import payload
import server
from server import Server, grpc_ok, grpc_status, http, http_ok

DELIVER, EXPORTER = (os.path.abspath(path) for path in sys.argv[1:3])
FOLDER = tempfile.mkdtemp(prefix="keyhole-otlp.")
AT_ONCE = 8  # cases; most of their time is waiting
CASE_SECONDS = 60
SMALL = payload.make(2, 20, times=3)
EVENTS = 120
LARGE = payload.make(3, 2000, depth=8, times=4)
EVENTS_LARGE = 24000


def keep(name, data):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


class Run:
    """A server, and a delivery to it."""

    def __init__(self, script, *steps, protocol="grpc", windows=(SMALL,), speaks=None, wait=30, **how):
        if speaks is None:
            speaks = "h2" if protocol == "grpc" else "h1"
        self.server = Server(speaks, script, **how)
        settings = [step for step in steps if re.match(
            r"(compression|tls|host|address|path|timeout|request|queue|age|finish|header)=", step)]
        steps = [step for step in steps if step not in settings]
        if not any(step.startswith("window=") for step in steps):
            first = next((at for at, step in enumerate(steps) if not re.match("(ca|certificate|key)=", step)),
                         len(steps))
            steps[first:first] = ["window=" + keep(f"window{os.getpid()}.{id(self)}.{number}", window)
                                  for number, window in enumerate(windows)]
        self.begin = time.monotonic()
        result = subprocess.run([DELIVER, f"protocol={protocol}", f"port={self.server.port}", *settings, *steps],
                                capture_output=True, text=True, timeout=wait, check=False)
        self.seconds = time.monotonic() - self.begin
        self.server.close()
        self.log = result.stderr
        assert result.returncode == 0, f"status {result.returncode}: {self.log}"
        rows = [line.split() for line in result.stdout.strip().split("\n")]
        self.counts = {name: int(value) for name, value in rows}
        self.results = [int(value) for name, value in rows if name == "window"]
        self.check()

    def check(self):
        """Each event that was taken has one fate, and nothing is left."""
        counts = self.counts
        fates = sum(counts[name] for name in counts if name.startswith("events_") and name != "events_taken")
        assert counts["events_taken"] == fates, counts
        assert counts["queue_bytes"] == counts["queue_windows"] == 0, counts
        for line in self.log.strip().split("\n"):
            assert len(line) < 260 and line.isprintable(), repr(line)

    def expect(self, **counts):
        for name, value in counts.items():
            assert self.counts[name] == value, f"{name} {self.counts[name]}, not {value}: {self.counts} {self.log}"
        return self

    def says(self, *texts):
        for text in texts:
            assert text in self.log, f"no {text!r} in {self.log!r}"
        return self

    def messages(self):
        return [exchange.message() for exchange in self.server.accepted]

    def brought(self, *windows):
        """The server has exactly the samples of these windows, in well-formed requests."""
        messages = self.messages()
        for message in messages:
            assert payload.protoc_knows(message), "protoc does not know the request"
        assert payload.union(messages) == payload.union(windows), "other samples than were sent"
        return self


CASES = []


def case(function):
    CASES.append(function)
    return function


# ---- success in each way ----

@case
def grpc_without_tls():
    run = Run([grpc_ok()]).expect(events_delivered=EVENTS, requests=1, connections=1).brought(SMALL)
    headers = run.server.seen[0].headers
    assert headers[":path"] == "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
    assert headers["te"] == "trailers" and headers["content-type"].startswith("application/grpc")
    assert headers["grpc-timeout"] == "10000m" and "grpc-encoding" not in headers
    assert re.fullmatch(r"keyhole/\S+ OTel-OTLP-Exporter-C/\S+", headers["user-agent"])


@case
def grpc_with_tls():
    Run([grpc_ok()], "tls=1", f"ca={FOLDER}/ca.pem", tls=server.context(FOLDER)).brought(SMALL)


@case
def grpc_with_tls_1_2():
    Run([grpc_ok()], "tls=1", f"ca={FOLDER}/ca.pem",
        tls=server.context(FOLDER, version=ssl.TLSVersion.TLSv1_2)).brought(SMALL)


@case
def grpc_to_an_address():
    Run([grpc_ok()], "tls=1", "host=127.0.0.1", f"ca={FOLDER}/ca.pem", tls=server.context(FOLDER)).brought(SMALL)


@case
def grpc_with_a_client_certificate():
    Run([grpc_ok()], "tls=1", f"ca={FOLDER}/ca.pem", f"certificate={FOLDER}/client.pem",
        f"key={FOLDER}/client.key", tls=server.context(FOLDER, client_ca="ca")).brought(SMALL)


@case
def grpc_compressed():
    for codec in ("gzip", "zstd"):
        run = Run([grpc_ok()], f"compression={codec}").brought(SMALL)
        assert run.server.seen[0].headers["grpc-encoding"] == codec
        assert run.counts["bytes_sent"] < run.counts["bytes_unpacked"] / 2


@case
def grpc_answers_compressed():
    for codec, pack in (("gzip", ["gzip", "-c"]), ("zstd", ["zstd", "-c"])):
        packed = subprocess.run(pack, input=server.OK_BODY, capture_output=True, check=True).stdout
        Run([grpc_ok(server.frame(packed, 1), [("grpc-encoding", codec)])]).expect(
            requests_delivered=1, answers_bad=0)


@case
def http_1_1():
    for how in ({}, {"chunked": True}, {"to_end": True}):
        Run([http_ok(**how)], protocol="http").expect(requests_delivered=1, answers_bad=0).brought(SMALL)


@case
def http_compressed():
    for codec in ("gzip", "zstd"):
        run = Run([http_ok()], f"compression={codec}", protocol="http").brought(SMALL)
        assert run.server.seen[0].headers["content-encoding"] == codec
        assert run.server.seen[0].headers["content-type"] == "application/x-protobuf"


@case
def http_2_where_the_server_chooses_it():
    Run([lambda exchange: (exchange.handler.respond([(":status", "200")], server.OK_BODY, None),
                           exchange.handler.server.accept(exchange))],
        "tls=1", f"ca={FOLDER}/ca.pem", protocol="http", speaks="any", tls=server.context(FOLDER)).brought(SMALL)


@case
def http_1_1_where_the_server_chooses_it():
    for alpn in (("http/1.1",), ()):
        Run([http_ok()], "tls=1", f"ca={FOLDER}/ca.pem", protocol="http", speaks="any",
            tls=server.context(FOLDER, alpn=alpn)).brought(SMALL)


@case
def headers_and_path_of_the_user():
    run = Run([http_ok()], "header=Authorization:Bearer s3cret", "header=x-scope-orgid:tenant",
              "path=/otlp/v1development/profiles", protocol="http")
    headers = run.server.seen[0].headers
    assert headers["authorization"] == "Bearer s3cret" and headers["x-scope-orgid"] == "tenant"
    assert headers[":path"] == "/otlp/v1development/profiles"
    assert "s3cret" not in run.log
    run = Run([grpc_ok()], "header=Authorization:Bearer s3cret")
    assert run.server.seen[0].headers["authorization"] == "Bearer s3cret"


@case
def one_connection_for_many_windows():
    for protocol, script in (("grpc", [grpc_ok()]), ("http", [http_ok()])):
        Run(script, protocol=protocol, windows=[SMALL] * 20).expect(
            connections=1, requests_delivered=20, events_delivered=20 * EVENTS)


@case
def a_large_window_in_parts():
    limit = 100000
    run = Run([grpc_ok()], f"request={limit}", windows=[LARGE]).brought(LARGE)
    sizes = [len(message) for message in run.messages()]
    assert len(sizes) > len(LARGE) // limit and max(sizes) <= limit, sizes


@case
def a_large_window_at_once():
    Run([grpc_ok()], "compression=gzip", windows=[LARGE]).expect(requests=1).brought(LARGE)


# ---- statuses ----

@case
def each_status_of_grpc():
    again = {1, 4, 10, 11, 14, 15}
    for code in range(1, 18):
        if code == 8:
            continue
        run = Run([grpc_status(code, "be%20cause", trailers_only=code % 2 == 0), grpc_ok()])
        if code in again:
            run.expect(requests_failed=1, events_delivered=EVENTS).says("be cause", "delivered again").brought(SMALL)
        else:
            run.expect(requests_refused=1, events_refused=EVENTS, requests=1)
        assert len(run.server.seen) == (2 if code in again else 1), code


@case
def exhausted_with_a_time():
    details = server.retry_info(2)
    run = Run([grpc_status(8, "quota", details), grpc_ok()]).brought(SMALL)
    assert run.server.times[1] - run.server.times[0] >= 2
    run.says("RESOURCE_EXHAUSTED: quota")


@case
def unavailable_with_a_time():
    run = Run([grpc_status(14, "", server.retry_info(1, 900_000_000), trailers_only=False), grpc_ok()]).brought(SMALL)
    assert run.server.times[1] - run.server.times[0] >= 1.9


@case
def no_status_of_grpc():
    for status, again in ((200, False), (401, False), (404, False), (500, False), (429, True), (503, True)):
        run = Run([server.http2_status(status), grpc_ok()])
        assert len(run.server.seen) == (2 if again else 1), (status, run.log)


@case
def each_status_of_http():
    for status in (300, 301, 400, 401, 403, 404, 405, 415, 429, 500, 501, 502, 503, 504, 505):
        run = Run([http(status, body=b"no"), http_ok()], protocol="http")
        again = status in (429, 502, 503, 504)
        assert len(run.server.seen) == (2 if again else 1), (status, run.log)
        run.says(f"HTTP status {status}" if status != 404 else "takes no profiles")


@case
def retry_after_in_both_forms():
    def in_three_seconds(exchange):
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3))
        http(503, (("Retry-After", date),))(exchange)
    for deed, least in ((http(503, (("Retry-After", "2"),)), 2), (in_three_seconds, 1.9)):
        run = Run([deed, http_ok()], protocol="http").brought(SMALL)
        assert run.server.times[1] - run.server.times[0] >= least, least


@case
def the_date_of_a_server_with_another_clock():
    run = Run([http(503, (("Retry-After", "Sun, 06 Nov 1994 08:49:39 GMT"),
                          ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"))), http_ok()], protocol="http").brought(SMALL)
    assert 2 <= run.server.times[1] - run.server.times[0] < 4


@case
def waits_grow():
    run = Run([grpc_status(14), grpc_status(14), grpc_status(14), grpc_ok()], "finish=1", "empty=20000").brought(SMALL)
    waits = [after - before for before, after in zip(run.server.times, run.server.times[1:])]
    for wait, interval in zip(waits, (1, 1.5, 2.25)):
        assert interval / 2 - 0.01 <= wait <= interval * 1.5 + 0.7, waits


@case
def partial_success():
    body = payload.data(1, payload.number(1, 3) + payload.data(2, "too old"))
    for protocol, script in (("grpc", grpc_ok(server.frame(body))), ("http", http_ok(body))):
        Run([script], protocol=protocol).expect(
            requests=1, requests_partial=1, profiles_rejected=3, events_delivered=EVENTS).says(
            "3 profiles rejected: too old")


@case
def another_version_of_the_protocol():
    text = "proto: wrong wireType = 2 for field LinkIndex"
    Run([grpc_status(13, text)]).expect(requests_refused=1).says("another version of OTLP profiles")
    body = payload.data(2, text)
    Run([http(400, (("Content-Type", "application/x-protobuf"),), body)], protocol="http").says(
        "another version of OTLP profiles")


@case
def profiles_that_are_off():
    Run([grpc_status(12, "unknown service opentelemetry.proto")]).says("takes no profiles", "profilesSupport")
    Run([http(404, body=b"404 page not found")], protocol="http").says("takes no profiles")


@case
def compression_that_is_refused():
    """Less and less of it, at once and for good."""
    def only(*codecs, refuse):
        def deed(exchange):
            name = "content-encoding" if ":path" in exchange.headers and "te" not in exchange.headers \
                else "grpc-encoding"
            taken = exchange.headers.get(name, "identity") in codecs
            (accept if taken else refuse)(exchange)
        return deed
    texts = {12: 'grpc: Decompressor is not installed for grpc-encoding "zstd"',
             3: "Content is compressed with `zstd` which isn't supported", 13: "failed to decompress"}
    for code, text in texts.items():
        accept = grpc_ok()
        run = Run([only("gzip", "identity", refuse=grpc_status(code, text))], "compression=zstd",
                  windows=[SMALL, SMALL]).brought(SMALL, SMALL)
        run.expect(encodings_refused=1, requests=3).says("requests have gzip from now on, not zstd")
        assert run.log.count("from now on") == 1 and run.seconds < 2
    for refuse in (http(415), http(400, body=b"unsupported Content-Encoding: zstd"),
                   http(400, body=b"gzip: invalid header")):
        accept = http_ok()
        Run([only("identity", refuse=refuse)], "compression=zstd", protocol="http").brought(SMALL).expect(
            encodings_refused=2, requests=3)
    Run([http(415)], "compression=gzip", protocol="http").expect(
        encodings_refused=1, requests=2, events_refused=EVENTS)


@case
def a_web_page():
    Run([http(200, (("Content-Type", "text/html"),), b"<html>")], protocol="http").expect(
        events_refused=EVENTS).says("web page")


# ---- size ----

def too_large_for(limit, refuse, accept):
    def deed(exchange):
        (refuse if len(exchange.message()) > limit else accept)(exchange)
    return deed


@case
def halves_what_is_too_large():
    limit = len(LARGE) // 3
    for protocol, refuse, accept in (
            ("grpc", grpc_status(8, "grpc: received message larger than max (5 vs. 4)"), grpc_ok()),
            ("grpc", grpc_status(8), grpc_ok()),
            ("http", http(413), http_ok()),
            ("http", http(400, body=b"http: request body too large"), http_ok())):
        run = Run([too_large_for(limit, refuse, accept)], protocol=protocol, windows=[LARGE, LARGE])
        run.brought(LARGE, LARGE).expect(events_delivered=2 * EVENTS_LARGE)
        assert 1 <= run.counts["requests_too_large"] <= 3, run.counts


@case
def refuses_every_size():
    run = Run([grpc_status(8, "too large")], windows=[LARGE]).expect(events_refused=EVENTS_LARGE)
    assert len(run.server.seen) <= 9


# ---- HTTP/2 ----

@case
def resets():
    for code, again in ((7, True), (8, True), (11, False), (12, False), (2, False), (1, False)):
        run = Run([server.reset(code), grpc_ok()])
        assert len(run.server.seen) == (2 if again else 1), (code, run.log)


@case
def goaway_before_the_request():
    Run([server.goaway, grpc_ok()]).expect(connections=2, events_delivered=EVENTS).brought(SMALL)


@case
def goaway_after_a_request():
    Run([server.grpc_ok_then_goaway, grpc_ok()], windows=[SMALL, SMALL]).expect(
        connections=2, requests_delivered=2).brought(SMALL, SMALL)


@case
def a_slow_window():
    Run([grpc_ok()], windows=[LARGE], window=0.002).expect(requests=1).brought(LARGE)


@case
def a_window_that_never_opens():
    run = Run([grpc_ok()], "timeout=700", "finish=1", "failed=20000", windows=[LARGE], window=-1)
    run.expect(events_expired=EVENTS_LARGE, requests_delivered=0).says("no answer in time")


@case
def an_answer_before_the_request_is_whole():
    def refuse(handler, stream):
        handler.stream = stream
        handler.respond([(":status", "200"), ("grpc-status", "3"), ("grpc-message", "early")], None, None)
    Run([grpc_ok()], windows=[LARGE], at_headers=[refuse], window=-1).expect(requests_refused=1).says("early")

    def refuse_1_1(handler, stream):
        del stream
        handler.link.sendall(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        handler.link.shutdown(1)
        time.sleep(0.2)
        raise server.Cut
    Run([http_ok()], protocol="http", windows=[LARGE * 1], at_headers=[refuse_1_1]).expect(
        requests_refused=1).says("HTTP status 401")


@case
def a_server_of_http_1_1_for_grpc():
    Run([http(400)], "finish=1", "failed=20000", speaks="raw").expect(
        requests_delivered=0, events_expired=EVENTS)


@case
def frames_that_break_the_rules():
    for data in (b"\xff" * 100, b"\x00\x00\x05\x00\x00\x00\x00\x00\x07hello", b"\x00\x00\x04\x08\x00\x00\x00\x00\x00\0\0\0\0"):
        Run([server.raw(data), grpc_ok()]).expect(events_delivered=EVENTS, requests_failed=1)


# ---- connections ----

@case
def cut_in_the_middle_of_a_request():
    def early(handler, stream):
        del stream
        handler.close()
        raise server.Cut
    for protocol, ok in (("grpc", grpc_ok()), ("http", http_ok())):
        Run([ok], protocol=protocol, windows=[LARGE], at_headers=[early]).expect(
            requests_failed=1, events_delivered=EVENTS_LARGE).brought(LARGE)


@case
def cut_in_the_middle_of_an_answer():
    def half(exchange):
        exchange.handler.link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        server.cut(exchange)
    Run([half, http_ok()], protocol="http").expect(requests_failed=1, events_delivered=EVENTS)
    Run([server.cut, grpc_ok()]).expect(requests_failed=1, events_delivered=EVENTS)


@case
def an_idle_connection_that_the_server_closes():
    """The second request goes on a new connection at once, whether the end was seen before or not."""
    def ok_then_close(exchange):
        http_ok()(exchange)
        server.cut(exchange)
    first = keep("idle", SMALL)
    run = Run([ok_then_close, http_ok()], f"window={first}", "empty=5000", "sleep=300", f"window={first}",
              protocol="http").expect(requests_delivered=2, requests_failed=0)
    assert run.seconds < 3

    def close_when_asked(exchange):
        server.cut(exchange)
    run = Run([http_ok(), close_when_asked, http_ok()], f"window={first}", "empty=5000", f"window={first}",
              protocol="http").expect(requests_delivered=2, connections=2)
    assert run.server.times[2] - run.server.times[1] < 0.4, "it waited"


@case
def a_server_that_is_not_there():
    gone = Server("h1", [])
    gone.close()
    result = subprocess.run([DELIVER, "protocol=grpc", f"port={gone.port}", "finish=1",
                             "window=" + keep("gone", SMALL), "sleep=1800"],
                            capture_output=True, text=True, timeout=20, check=True)
    assert "Connection refused" in result.stderr and f"events_expired {EVENTS}" in result.stdout
    assert 2 <= int(re.search(r"connections_failed (\d+)", result.stdout)[1]) <= 4


@case
def a_server_that_comes_back():
    gone = Server("h2", [])
    gone.close()
    def come_back():
        time.sleep(1)
        Server("h2", [grpc_ok()], port=gone.port)
    threading.Thread(target=come_back, daemon=True).start()
    result = subprocess.run([DELIVER, "protocol=grpc", f"port={gone.port}", "finish=1", "window=" + keep("back", SMALL),
                             "empty=15000"], capture_output=True, text=True, timeout=20, check=True)
    assert f"events_delivered {EVENTS}" in result.stdout, result.stdout
    assert "delivered again" in result.stderr


@case
def no_answer():
    run = Run([server.hang, grpc_ok()], "timeout=600").expect(requests_failed=1).says("no answer in time").brought(SMALL)
    assert run.counts["connections"] == 2
    Run([server.hang, http_ok()], "timeout=600", protocol="http").says("no answer in time").brought(SMALL)


# ---- TLS ----

@case
def certificates_that_are_not_trusted():
    for name, text in (("elsewhere", "hostname mismatch"), ("stranger", "unable to get local issuer"),
                       ("expired", "certificate has expired")):
        run = Run([grpc_ok()], "tls=1", "finish=1", f"ca={FOLDER}/ca.pem", "window=" + keep(name, SMALL),
                  "failed=20000", tls=server.context(FOLDER, name))
        run.expect(requests=0, connections=0).says("certificate", text)
        assert not run.server.seen


@case
def an_address_that_the_certificate_does_not_name():
    Run([grpc_ok()], "tls=1", "host=127.0.0.2", "finish=1", f"ca={FOLDER}/ca.pem", "window=" + keep("ip", SMALL),
        "failed=20000", tls=server.context(FOLDER)).expect(requests=0).says("IP address mismatch")


@case
def no_http_2():
    for alpn in (("http/1.1",), ()):
        Run([grpc_ok()], "tls=1", "finish=1", f"ca={FOLDER}/ca.pem", "window=" + keep("alpn", SMALL), "failed=20000",
            speaks="any", tls=server.context(FOLDER, alpn=alpn)).expect(requests=0).says("connect")


@case
def a_client_certificate_that_is_missing():
    run = Run([grpc_ok()], "tls=1", "finish=1", f"ca={FOLDER}/ca.pem", "window=" + keep("mtls", SMALL),
              "failed=20000", tls=server.context(FOLDER, client_ca="ca"))
    run.expect(requests_delivered=0, events_expired=EVENTS).says("certificate required")


@case
def authorities_that_are_missing():
    Run([grpc_ok()], "tls=1", "finish=1", "window=" + keep("noca", SMALL), "failed=20000",
        tls=server.context(FOLDER)).expect(requests=0).says("no authorities")


@case
def files_that_are_no_certificates():
    damaged = keep("damaged.pem", open(f"{FOLDER}/ca.pem", "rb").read().replace(b"\nM", b"\n!", 1))
    empty = keep("empty.pem", b"")
    run = Run([grpc_ok()], "tls=1", f"ca={empty}", f"ca={damaged}", f"key={FOLDER}/ca.pem",
              f"certificate={empty}", f"ca={FOLDER}/ca.pem", tls=server.context(FOLDER)).brought(SMALL)
    run.says("TLS: localhost", "authorities")


@case
def certificates_that_are_replaced():
    window = keep("replaced", SMALL)
    steps = [f"certificate={FOLDER}/client.pem", f"key={FOLDER}/client.key", f"window={window}", "empty=5000",
             f"certificate={FOLDER}/client2.pem", f"key={FOLDER}/client2.key", f"window={window}", "empty=5000"]
    names = []

    def note(exchange):
        names.append(dict(pair[0] for pair in exchange.handler.link.getpeercert()["subject"])["commonName"])
        grpc_ok()(exchange)
    Run([note], "tls=1", f"ca={FOLDER}/ca.pem", *steps, tls=server.context(FOLDER, client_ca="ca")).expect(
        requests_delivered=2, connections=2)
    assert names == ["client", "client2"], names


@case
def a_certificate_whose_key_is_another():
    window = keep("pair", SMALL)
    names = []

    def note(exchange):
        names.append(dict(pair[0] for pair in exchange.handler.link.getpeercert()["subject"])["commonName"])
        grpc_ok()(exchange)
    Run([note], "tls=1", f"ca={FOLDER}/ca.pem", f"certificate={FOLDER}/client.pem", f"key={FOLDER}/client.key",
        f"window={window}", "empty=5000", f"certificate={FOLDER}/client2.pem", f"window={window}",
        tls=server.context(FOLDER, client_ca="ca")).expect(requests_delivered=2)
    assert names == ["client", "client"], names


@case
def a_handshake_that_stalls():
    """The next connection goes well; the stalled one takes its 20 s."""
    def stall(link):
        del link
        time.sleep(25)
    run = Run([grpc_ok()], "tls=1", f"ca={FOLDER}/ca.pem", "window=" + keep("stall", SMALL), "empty=30000",
              tls=server.context(FOLDER), at_connect=[stall], wait=60).brought(SMALL)
    run.says("no handshake in time")
    assert 20 <= run.seconds < 25


@case
def garbage_instead_of_a_handshake():
    def babble(link):
        link.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n" * 100)
        raise server.Cut
    Run([grpc_ok()], "tls=1", f"ca={FOLDER}/ca.pem", tls=server.context(FOLDER), at_connect=[babble]).expect(
        connections_failed=1).brought(SMALL)


@case
def a_server_without_tls():
    Run([grpc_ok()], "tls=1", "finish=1", f"ca={FOLDER}/ca.pem", "window=" + keep("plain", SMALL), "failed=20000").expect(
        requests=0).says("connect")


# ---- hostile answers ----

@case
def garbage_instead_of_http():
    for data in (b"SSH-2.0-OpenSSH_9.2p1\r\n", bytes(range(256)) * 40, b"HTTP/1.1 200 OK\r\n\0\0\r\n\r\n"):
        Run([server.raw(data), http_ok()], protocol="http").expect(
            requests_failed=1, answers_bad=1, events_delivered=EVENTS)


@case
def a_body_without_end():
    Run([server.flood]).expect(requests_refused=1, answers_bad=1).says("the answer is too large")

    def flood(exchange):
        try:
            exchange.handler.link.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (32 << 20))
        except OSError:
            pass
        raise server.Cut
    Run([flood], protocol="http").expect(requests_refused=1, answers_bad=1).says("the answer is too large")


@case
def a_bomb():
    """A few KB that unpack to 64 MiB, in memory that is bounded."""
    bomb = subprocess.run(["sh", "-c", "head -c 67108864 /dev/zero | gzip -c"], capture_output=True, check=True).stdout
    Run([http_ok(bomb, (("Content-Encoding", "gzip"),))], protocol="http").expect(
        requests_delivered=1, answers_bad=1)
    Run([grpc_ok(server.frame(bomb, 1), [("grpc-encoding", "gzip")])]).expect(requests_delivered=1, answers_bad=1)
    bomb = subprocess.run(["sh", "-c", "head -c 67108864 /dev/zero | zstd -c"], capture_output=True, check=True).stdout
    Run([grpc_ok(server.frame(bomb, 1), [("grpc-encoding", "zstd")])]).expect(requests_delivered=1, answers_bad=1)


@case
def headers_without_end():
    Run([server.header_flood, grpc_ok()]).expect(requests_refused=1, answers_bad=1)

    def flood(exchange):
        try:
            exchange.handler.link.sendall(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100000)
        except OSError:
            pass
        raise server.Cut
    Run([flood], protocol="http").expect(requests_refused=1, answers_bad=1)


@case
def success_with_garbage_behind_it():
    for body in (b"\xff\xff", b"\x00\x00\x00\x00\x09abc", b"\x01\x00\x00\x00\x02ab"):
        Run([grpc_ok(body)]).expect(requests_delivered=1, answers_bad=1)
    Run([http_ok(b"\x0a\xff")], protocol="http").expect(requests_delivered=1, answers_bad=1)


@case
def details_that_are_garbage():
    for details in ("!!!", "AAAA", "A" * 8000):
        Run([grpc_status(14, "x", details), grpc_ok()]).expect(requests_failed=1, events_delivered=EVENTS)


@case
def texts_with_control_characters():
    run = Run([grpc_status(3, "%1B%5D0%3Btitle%07")]).says("INVALID_ARGUMENT: ?]0;title?")
    assert "\x1b" not in run.log


# ---- the queue ----

@case
def a_full_queue():
    run = Run([grpc_status(14)], f"queue={3 * len(SMALL) + 10}", "finish=50", windows=[SMALL] * 10)
    run.expect(events_overflowed=7 * EVENTS, events_expired=3 * EVENTS)
    told = sum(int(number) for number in re.findall(r" (\d+) events dropped", run.log))
    assert told == 10 * EVENTS, run.log


@case
def windows_that_are_too_old():
    Run([grpc_status(14)], "age=1500", "finish=10", "window=" + keep("old", SMALL), "empty=10000").expect(
        events_expired=EVENTS, queue_windows=0)


@case
def windows_that_are_none():
    empty = payload.data(2, payload.Dictionary().write())
    run = Run([grpc_ok()], windows=[b"garbage", empty, SMALL]).brought(SMALL)
    run.expect(windows=3, windows_malformed=1, windows_empty=1, requests=1)
    assert run.results == [-74, 0, 0], run.results


@case
def ends_in_time():
    run = Run([server.hang], "finish=400").expect(events_expired=EVENTS)
    assert run.seconds < 3


# ---- the exporter itself, confined ----

class Skipped(Exception):
    """The reason why the machine cannot run the case."""


class Confined:
    """A server, and keyhole-exporter as the agent has it."""

    def __init__(self, speaks, script, *steps, windows=(SMALL,), **how):
        if os.getuid() != 0:
            raise Skipped("needs root")
        self.server = Server(speaks, script, **how)
        steps = list(steps) + ["window=" + keep(f"confined{os.getpid()}.{number}", window)
                               for number, window in enumerate(windows)]
        sent = sum(step.startswith("window=") for step in steps)
        result = subprocess.run([EXPORTER, f"port={self.server.port}", *steps], capture_output=True, text=True,
                                timeout=CASE_SECONDS, check=False)
        self.server.close()
        self.log, self.output = result.stderr, result.stdout
        assert result.returncode == 0, result.stderr + result.stdout
        assert "written 0\n" in self.output and "status 0\n" in self.output, self.output + self.log
        self.waits = [int(number) for number in re.findall(r"^window (\d+)", self.output, re.M)]
        assert len(self.waits) == sent and max(self.waits, default=0) < 1000, "the worker waited"

    def brought(self, *windows):
        came = [exchange.message() for exchange in self.server.accepted if exchange.headers[":path"] != "/v1/metrics"]
        assert payload.union(came) == payload.union(windows), self.log
        return self

    def says(self, text):
        assert text in self.log, self.log


@case
def confined_grpc():
    Confined("h2", [grpc_ok()], "protocol=grpc", windows=[SMALL] * 3).brought(*[SMALL] * 3)


@case
def confined_grpc_with_tls_and_a_client_certificate():
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        Confined("h2", [grpc_ok()], "protocol=grpc", "tls=1", "compression=gzip", f"ca={FOLDER}/ca.pem",
                 f"certificate={FOLDER}/client.pem", f"key={FOLDER}/client.key", windows=[SMALL] * 2,
                 tls=server.context(FOLDER, client_ca="ca", version=version)).brought(SMALL, SMALL)


@case
def confined_http():
    later = http(503, (("Retry-After", "Sun, 06 Nov 1994 08:49:38 GMT"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")))
    Confined("h1", [later, http_ok()], "protocol=http", "compression=zstd").brought(SMALL).says("HTTP status 503")
    Confined("any", [http_ok()], "protocol=http", "tls=1", f"ca={FOLDER}/ca.pem",
             tls=server.context(FOLDER, alpn=("http/1.1",))).brought(SMALL)


@case
def confined_large_windows_in_parts():
    run = Confined("h2", [grpc_ok()], "protocol=grpc", "request=100000", windows=[LARGE]).brought(LARGE)
    assert len(run.server.accepted) > 3


@case
def confined_never_holds_the_worker_up():
    Confined("h2", [server.hang], "protocol=grpc", "timeout=300", windows=[SMALL] * 20).says("no answer in time")


@case
def confined_without_trust():
    for name in ("expired", "stranger", "elsewhere"):
        run = Confined("h2", [grpc_ok()], "protocol=grpc", "tls=1", f"ca={FOLDER}/ca.pem",
                       tls=server.context(FOLDER, name))
        run.says("certificate")
        assert not run.server.seen


@case
def confined_without_a_connector():
    run = Confined("h2", [grpc_ok()], "protocol=grpc", "connector=gone")
    run.says("connect")
    assert run.server.connections == 0


@case
def confined_hostile_answers():
    bomb = subprocess.run(["sh", "-c", "head -c 67108864 /dev/zero | gzip -c"], capture_output=True, check=True).stdout
    Confined("h1", [http_ok(bomb, (("Content-Encoding", "gzip"),))], "protocol=http").says("cannot be read")
    Confined("h1", [server.raw(b"\xff" * 100 + b"\r\n"), http_ok()], "protocol=http").brought(SMALL)
    Confined("h2", [server.raw(b"\xff" * 100), grpc_ok()], "protocol=grpc").brought(SMALL)
    Confined("h2", [server.flood], "protocol=grpc").says("the answer is too large")


@case
def confined_outlives_a_worker():
    """The first worker's window waits for the server, and the second one's follows."""
    first, second = keep("worker1", SMALL), keep("worker2", LARGE)
    Confined("h2", [grpc_status(14), grpc_ok()], "protocol=grpc", f"window={first}", "worker=new", "worker=new",
             f"window={second}", windows=()).brought(SMALL, LARGE)


@case
def confined_certificates_that_are_replaced():
    window, garbage = keep("confined.replaced", SMALL), keep("confined.garbage", b"garbage")
    names = []

    def note(exchange):
        names.append(dict(pair[0] for pair in exchange.handler.link.getpeercert()["subject"])["commonName"])
        grpc_ok()(exchange)
    Confined("h2", [note], "protocol=grpc", "tls=1", f"ca={FOLDER}/ca.pem", f"certificate={FOLDER}/client.pem",
             f"key={FOLDER}/client.key", f"window={window}", "sleep=500", f"key={FOLDER}/client2.key",
             f"certificate={FOLDER}/client2.pem", f"window={window}", "sleep=500", f"ca={garbage}",
             f"window={window}", windows=(), tls=server.context(FOLDER, client_ca="ca")).says("authorities: ")
    assert names == ["client", "client2", "client2"], names


# ---- windows on disk ----

def spool():
    return tempfile.mkdtemp(prefix="spool.", dir=FOLDER)


@case
def spool_outlives_the_exporter():
    folder, window = spool(), keep("spool.killed", SMALL)
    Confined("h2", [grpc_status(14), grpc_status(14), grpc_ok()], "protocol=grpc", f"spool={folder}",
             f"window={window}", f"window={window}", "sleep=300", "exporter=new", "sleep=3000", windows=()).brought(
             SMALL, SMALL)
    assert not os.listdir(folder), os.listdir(folder)


@case
def spool_outlives_the_agent():
    folder = spool()
    Confined("h2", [grpc_status(14)], "protocol=grpc", f"spool={folder}", windows=[SMALL] * 3)
    names = sorted(os.listdir(folder))
    assert len(names) == 3, names
    with open(os.path.join(folder, names[0]), "r+b") as file:  # torn, as after a crash of the machine
        file.truncate(1000)
    with open(os.path.join(folder, names[1]), "r+b") as file:
        file.seek(500)
        file.write(b"#")
    run = Confined("h2", [grpc_ok()], "protocol=grpc", f"spool={folder}", "sleep=1000", windows=())
    run.brought(SMALL).says("a profile on disk cannot be read, and is removed")
    assert not os.listdir(folder), os.listdir(folder)


@case
def spool_keeps_what_leaves_the_memory():
    """The queue has room for two, and the disk for all."""
    folder = spool()
    run = Confined("h2", [grpc_status(14), grpc_status(14), grpc_ok()], "protocol=grpc",
                   f"queue={2 * len(SMALL) + 10}", f"spool={folder}",
                   *["window=" + keep("spool.many", SMALL)] * 6, "sleep=6000", windows=())
    run.brought(*[SMALL] * 6)
    assert not os.listdir(folder), os.listdir(folder)


@case
def spool_drops_the_oldest():
    """A file takes its blocks of 4 KiB, and all of them 64 KiB at most."""
    folder = spool()
    blocks = (len(SMALL) + 40 + 4095) // 4096
    run = Confined("h2", [grpc_status(14)], "protocol=grpc", f"spool={folder}", windows=[SMALL] * 20)
    assert len(os.listdir(folder)) == 16 // blocks
    run.says(f"spool: localhost:{run.server.port}: 1 profiles ({EVENTS} events) removed from disk")


@case
def spool_forgets_what_a_server_refuses():
    folder = spool()
    Confined("h2", [grpc_status(3)], "protocol=grpc", f"spool={folder}", windows=[SMALL] * 2)
    assert not os.listdir(folder), os.listdir(folder)


# ---- numbers of the agent itself ----

def apart(numbers, profiles):
    """A deed for metrics, and one for profiles."""
    return lambda exchange: (numbers if exchange.headers[":path"] == "/v1/metrics" else profiles)(exchange)


@case
def confined_numbers_that_hang_delay_no_window():
    for speaks, protocol, accept in (("h1", "http", http_ok()), ("h2", "grpc", grpc_ok())):
        run = Confined(speaks, [apart(server.hang, accept)], f"protocol={protocol}", "metrics=50", "timeout=300",
                       "sleep=500", windows=[SMALL] * 3)
        run.brought(SMALL, SMALL, SMALL).says("metrics: localhost")
        assert len(run.server.seen) > 3


@case
def confined_numbers_with_hostile_answers():
    bomb = subprocess.run(["sh", "-c", "head -c 67108864 /dev/zero | gzip -c"], capture_output=True, check=True).stdout
    for deed in (http_ok(bomb, (("Content-Encoding", "gzip"),)), http_ok(b"\xff" * 100), http(404), server.cut,
                 server.raw(b"\xff" * 100 + b"\r\n"), http(503, (("Retry-After", "3600"),))):
        run = Confined("h1", [apart(deed, http_ok())], "protocol=http", "metrics=20", "sleep=300", windows=[SMALL] * 2)
        run.brought(SMALL, SMALL)
        assert len(run.server.seen) > 3, run.log


@case
def confined_numbers_for_a_server_that_is_not_there():
    Confined("h2", [grpc_ok()], "protocol=grpc", "metrics=20", "connector=gone", "sleep=200").says("metrics: ")


def run_case(function):
    signal.alarm(CASE_SECONDS)
    try:
        function()
    except Skipped as reason:
        return f"# SKIP {reason}"
    except Exception:  # pylint: disable=broad-except
        return traceback.format_exc()
    return None


def main():
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    cases = [function for function in CASES if part in function.__name__]
    server.make_certificates(FOLDER)
    failed = 0
    payload.union([SMALL, LARGE])  # once for all processes
    with concurrent.futures.ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("fork")) as pool:
        for number, (function, problem) in enumerate(zip(cases, pool.map(run_case, cases)), 1):
            name = function.__name__.replace("_", " ")
            if not problem or problem.startswith("# SKIP"):
                print(f"ok {number} - {name}", problem or "", flush=True)
                continue
            print(f"not ok {number} - {name}", flush=True)
            for line in problem.strip().split("\n"):
                print(f"#   {line}")
            failed += 1
    print(f"1..{len(cases)}")
    shutil.rmtree(FOLDER)
    return failed > 0


sys.exit(main())
