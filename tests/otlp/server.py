# SPDX-License-Identifier: Apache-2.0
"""A server of OTLP that does as a script says: HTTP/2 and HTTP/1.1, with TLS or without. Each request
takes the next deed of the script, the last one again and again. A deed is a function of the exchange."""
import base64
import gzip
import socket
import ssl
import struct
import subprocess
import threading
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings

import payload

OK_BODY = b"\x0a\x00"  # what a Collector sends: an empty partial_success


class Cut(Exception):
    """The deed has ended the connection."""


class Exchange:
    """One request and the means to answer it."""

    def __init__(self, handler, headers, body):
        self.handler, self.headers, self.body = handler, headers, body

    def message(self):
        """The request's message, unpacked."""
        body, encoding = self.body, self.headers.get("content-encoding", "identity")
        if self.headers.get("content-type", "").startswith("application/grpc"):
            flag, size = struct.unpack(">BI", body[:5])
            body = body[5:]
            assert size == len(body), "the length before the message is wrong"
            encoding = self.headers.get("grpc-encoding", "identity") if flag else "identity"
        if encoding == "gzip":
            return gzip.decompress(body)
        if encoding == "zstd":
            return subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=True).stdout
        return body


# ---- deeds for gRPC ----

def frame(message=OK_BODY, flag=0):
    return struct.pack(">BI", flag, len(message)) + message


def grpc_ok(body=None, headers=(), trailers=(("grpc-status", "0"),)):
    def deed(exchange):
        exchange.handler.server.accept(exchange)  # before the client can end
        exchange.handler.respond([(":status", "200"), ("content-type", "application/grpc"), *headers],
                                 frame() if body is None else body, trailers)
    return deed


def retry_info(seconds, nanos=0):
    """google.rpc.Status with a RetryInfo, as grpc-status-details-bin has it."""
    duration = payload.number(1, seconds) + payload.number(2, nanos)
    any_value = (payload.data(1, "type.googleapis.com/google.rpc.RetryInfo") +
                 payload.data(2, payload.data(1, duration)))
    status = payload.number(1, 14) + payload.data(2, "later") + payload.data(3, any_value)
    return base64.b64encode(status).decode().rstrip("=")


def grpc_status(code, message="", details=None, trailers_only=True):
    def deed(exchange):
        status = [("grpc-status", str(code)), ("grpc-message", message)]
        if details:
            status.append(("grpc-status-details-bin", details))
        head = [(":status", "200"), ("content-type", "application/grpc")]
        if trailers_only:
            exchange.handler.respond(head + status, None, None)
        else:
            exchange.handler.respond(head, b"", status)
    return deed


def http2_status(status, headers=()):
    """An answer without grpc-status, as of a proxy."""
    return lambda exchange: exchange.handler.respond([(":status", str(status)), *headers], b"no", None)


def reset(code):
    return lambda exchange: exchange.handler.reset(code)


def goaway(exchange):
    """Ends the connection without this request."""
    exchange.handler.goaway(0)


def grpc_ok_then_goaway(exchange):
    grpc_ok()(exchange)
    exchange.handler.goaway(exchange.handler.stream)


def hang(exchange):
    del exchange


def cut(exchange):
    exchange.handler.close()
    raise Cut


def raw(data):
    """Bytes that are no HTTP."""
    def deed(exchange):
        exchange.handler.send_raw(data)
    return deed


def flood(exchange):
    """More of a body than any answer has."""
    handler = exchange.handler
    handler.begin([(":status", "200"), ("content-type", "application/grpc")])
    try:
        while not handler.is_reset():
            handler.push(b"x" * 16384)
    except OSError:
        pass


def header_flood(exchange):
    exchange.handler.respond([(":status", "200")] +
                             [(f"x-{number}", "v" * 4000) for number in range(40)], b"", None)


# ---- HTTP/2 ----

class Http2:
    def __init__(self, server, link):
        self.server, self.link, self.stream, self.resets = server, link, None, set()
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.bodies, self.heads = {}, {}
        self.ended = []

    def flush(self):
        data = self.h2.data_to_send()
        if data:
            self.link.sendall(data)

    def begin(self, headers):
        self.h2.send_headers(self.stream, headers)
        self.flush()

    def push(self, data):
        """Sends as much as the client's window allows, and reads what it says meanwhile."""
        while data and not self.is_reset():
            room = min(self.h2.local_flow_control_window(self.stream), len(data), 16384)
            if room:
                self.h2.send_data(self.stream, data[:room])
                data = data[room:]
                self.flush()
            else:
                self.receive()

    def is_reset(self):
        return self.stream in self.resets

    def respond(self, headers, body, trailers):
        self.h2.send_headers(self.stream, headers, end_stream=body is None)
        self.flush()
        if body is None:
            return
        self.push(body)
        if trailers:
            self.h2.send_headers(self.stream, trailers, end_stream=True)
        else:
            self.h2.end_stream(self.stream)
        self.flush()

    def reset(self, code):
        self.h2.reset_stream(self.stream, code)
        self.flush()

    def goaway(self, last):
        self.h2.close_connection(last_stream_id=last)
        self.flush()

    def send_raw(self, data):
        self.link.sendall(data)

    def close(self):
        self.link.close()

    def receive(self):
        data = self.link.recv(65536)
        if not data:
            raise Cut
        self.server.received += len(data)
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                self.heads[event.stream_id] = dict(event.headers)
                self.bodies[event.stream_id] = bytearray()
                if self.server.at_headers:
                    self.server.at_headers.pop(0)(self, event.stream_id)
            elif isinstance(event, h2.events.DataReceived):
                self.bodies.setdefault(event.stream_id, bytearray()).extend(event.data)
                self.open_window(event)
            elif isinstance(event, h2.events.StreamEnded):
                self.ended.append(event.stream_id)
            elif isinstance(event, h2.events.StreamReset):
                self.resets.add(event.stream_id)
        self.flush()

    def open_window(self, event):
        if self.server.window is None:
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif self.server.window > 0:
            time.sleep(self.server.window)
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def run(self):
        self.h2.initiate_connection()
        self.flush()
        while True:
            self.receive()
            while self.ended:
                self.stream = self.ended.pop(0)
                self.server.act(Exchange(self, self.heads[self.stream], bytes(self.bodies[self.stream])))


# ---- HTTP/1.1 ----

def http(status, headers=(), body=b"", chunked=False, to_end=False):
    def deed(exchange):
        rows = [f"HTTP/1.1 {status} Because"] + [f"{name}: {value}" for name, value in headers]
        data = body
        if chunked:
            rows.append("Transfer-Encoding: chunked")
            data = b"".join(b"%x;a=b\r\n%s\r\n" % (len(piece), piece)
                            for piece in (body[:3], body[3:]) if piece) + b"0\r\nX-Trailer: 1\r\n\r\n"
        elif not to_end:
            rows.append(f"Content-Length: {len(body)}")
        if 200 <= status < 300:
            exchange.handler.server.accept(exchange)
        exchange.handler.link.sendall("\r\n".join(rows).encode() + b"\r\n\r\n" + data)
        if to_end:
            cut(exchange)
    return deed


def http_ok(body=OK_BODY, headers=(), **how):
    return http(200, (("Content-Type", "application/x-protobuf"), *headers), body, **how)


class Http1:
    def __init__(self, server, link):
        self.server, self.link = server, link

    def close(self):
        self.link.close()

    def send_raw(self, data):
        self.link.sendall(data)

    def run(self):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                data = self.more(data)
            head, data = data.split(b"\r\n\r\n", 1)
            lines = head.decode().split("\r\n")
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
            headers[":method"], headers[":path"] = lines[0].split(" ")[:2]
            if self.server.at_headers:
                self.server.at_headers.pop(0)(self, 0)
            size = int(headers["content-length"])
            while len(data) < size:
                data = self.more(data)
            self.server.act(Exchange(self, headers, data[:size]))
            data = data[size:]

    def more(self, data):
        new = self.link.recv(65536)
        if not new:
            raise Cut
        self.server.received += len(new)
        return data + new


class Raw(Http1):
    """Answers HTTP/1.1 to whatever comes."""

    def run(self):
        self.link.recv(65536)
        self.link.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        self.link.recv(65536)


# ---- the server ----

class Server:
    """accepted: exchanges that were answered with success. seen: all requests, with their times.
    at_connect: deeds of connections, each before a byte is exchanged. at_headers: deeds of requests,
    before their bodies. window: seconds until what came may come again; -1: never."""

    def __init__(self, protocol, script, tls=None, at_connect=(), at_headers=(), window=None, port=0):
        self.protocol, self.script, self.tls = protocol, list(script), tls
        self.at_connect, self.at_headers, self.window = list(at_connect), list(at_headers), window
        self.accepted, self.seen, self.times, self.problems = [], [], [], []
        self.connections = self.received = 0
        self.links, self.lock = [], threading.Lock()
        self.socket = socket.create_server(("127.0.0.1", port))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def accept(self, exchange):
        with self.lock:
            self.accepted.append(exchange)

    def act(self, exchange):
        with self.lock:
            self.seen.append(exchange)
            self.times.append(time.monotonic())
            deed = self.script[0] if len(self.script) == 1 else self.script.pop(0)
        deed(exchange)

    def serve(self):
        while True:
            try:
                link, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            self.links.append(link)
            threading.Thread(target=self.handle, args=(link,), daemon=True).start()

    def handle(self, link):
        try:
            if self.at_connect:
                self.at_connect.pop(0)(link)
            if self.tls:
                link = self.tls.wrap_socket(link, server_side=True)
                self.links.append(link)
            kind = self.protocol
            if self.tls and kind == "any":
                kind = "h2" if link.selected_alpn_protocol() == "h2" else "h1"
            {"h2": Http2, "h1": Http1, "raw": Raw}[kind](self, link).run()
        except Exception as error:  # pylint: disable=broad-except
            self.problems.append(repr(error))
        finally:
            link.close()

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes accept()
        except OSError:
            pass
        self.socket.close()
        for link in self.links:
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            link.close()


def context(folder, certificate="server", alpn=("h2", "http/1.1"), client_ca=None, version=None):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key")
    if alpn:
        tls.set_alpn_protocols(list(alpn))
    if client_ca:
        tls.load_verify_locations(f"{folder}/{client_ca}.pem")
        tls.verify_mode = ssl.CERT_REQUIRED
    if version:
        tls.minimum_version = tls.maximum_version = version
    return tls


CERTIFICATES = r"""
set -e
cd "$1"
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key" 2>/dev/null; }
authority() {
	key "$1"
	openssl req -x509 -new -key "$1.key" -subj "/CN=$1" -days 2 -out "$1.pem" 2>/dev/null
}
signed() {	# NAME AUTHORITY EXTENSION [DAYS]
	key "$1"
	openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr" 2>/dev/null
	printf '%s\n' "$3" >"$1.ext"
	openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days "${4:-2}" \
		-extfile "$1.ext" -out "$1.pem" 2>/dev/null
}
authority ca
authority other
signed server ca 'subjectAltName=DNS:localhost,IP:127.0.0.1'
signed elsewhere ca 'subjectAltName=DNS:elsewhere.example'
signed stranger other 'subjectAltName=DNS:localhost'
signed expired ca 'subjectAltName=DNS:localhost' -1
signed client ca 'extendedKeyUsage=clientAuth'
signed client2 ca 'extendedKeyUsage=clientAuth'
"""


def make_certificates(folder):
    subprocess.run(["sh", "-c", CERTIFICATES, "sh", folder], check=True)
