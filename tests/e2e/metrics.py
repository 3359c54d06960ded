#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""metrics.py ADDRESS [text|openmetrics]: prints the page of an agent, after a strict look at it.
metrics.py ADDRESS settled: waits until samples stop coming, and all are delivered; then as above.
ADDRESS is HOST:PORT or unix:PATH. A page that breaks the format ends it with status 1."""
import http.client
import re
import socket
import sys
import time

TYPES = {"text": "text/plain; version=0.0.4; charset=utf-8",
         "openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8"}
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
LINE = re.compile(r'([a-z_]+)((?:\{' + LABEL + r'(?:,' + LABEL + r')*\})?) ([0-9]+(?:\.[0-9]+)?)')


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def fetch(address, form="text"):
    if address.startswith("unix:"):
        connection = Unix(address[len("unix:"):])
    else:
        connection = http.client.HTTPConnection(address, timeout=10)
    accept = "application/openmetrics-text;version=1.0.0" if form == "openmetrics" else "*/*"
    connection.request("GET", "/metrics", headers={"Accept": accept})
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    assert answer.getheader("Content-Type") == TYPES[form], answer.getheader("Content-Type")
    return answer.read().decode("utf-8")


def parse(text, form):
    """Returns {name with labels: value}. Each family has HELP, TYPE, maybe UNIT, then its lines."""
    values, families, family, kind = {}, set(), None, None
    lines = text.split("\n")
    assert lines.pop() == "", "no newline at the end"
    if form == "openmetrics":
        assert lines.pop() == "# EOF"
    for line in lines:
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            assert family not in families, f"{family} twice"
            families.add(family)
            kind = None
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and kind in ("counter", "gauge", "info"), line
        elif line.startswith("# UNIT "):
            assert form == "openmetrics" and line.split(" ")[2] == family, line
            assert family.endswith("_" + line.split(" ")[3]), line
        else:
            name, labels, value = LINE.fullmatch(line).groups()
            assert kind, line
            suffix = {"counter": "_total", "gauge": "", "info": "_info"}[kind]
            assert name == family + (suffix if form == "openmetrics" else ""), line
            assert kind != "counter" or name.endswith("_total"), line
            assert name + labels not in values, f"{line} twice"
            values[name + labels] = float(value) if "." in value else int(value)
    return values


def check_by_library(text):
    """The parser of OpenMetrics that Prometheus gives away, where it is installed."""
    try:
        from prometheus_client.openmetrics import parser
    except ImportError:
        return False
    assert list(parser.text_string_to_metric_families(text))
    return True


def settled(address):
    last, until = None, time.monotonic() + 60
    while time.monotonic() < until:
        values = parse(fetch(address), "text")
        taken = values["keyhole_samples_taken_total"]
        arrived = values.get("keyhole_export_samples_total{result=\"delivered\"}", taken)
        if taken == last == values["keyhole_samples_read_total"] == arrived:
            return
        last = taken
        time.sleep(0.5)
    raise AssertionError(f"not settled: {values}")


def main():
    address, form = sys.argv[1], (sys.argv + ["text"])[2]
    if form == "settled":
        settled(address)
        form = "text"
    text = fetch(address, form)
    parse(text, form)
    if form == "openmetrics" and not check_by_library(text):
        print("python3-prometheus-client is not installed", file=sys.stderr)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
