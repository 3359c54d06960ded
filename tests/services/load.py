# SPDX-License-Identifier: Apache-2.0
"""load.py PORT FOLDER RATE: asks a service at most RATE times a second, until FOLDER/stop is there.

For WARM seconds it goes as fast as the service answers, so that compilers have done their work. Then some requests with
the header X-Stacks let the service note its stacks, and FOLDER/ready is there. Ends with 1 when an answer is wrong.
"""

import http.client
import json
import os
import sys
import threading
import time

START, WARM = 180.0, 10.0  # seconds
NOTED = 3
CLIENTS = 2
ORDER = json.dumps({"customer": "Ada", "lines": [{"product": n, "count": n % 5 + 1} for n in range(40)]})
REQUESTS = (("POST", "/order", ORDER, "signature"), ("GET", "/catalog", None, "product 1"))


def ask(connection, number, headers=None):
    method, path, body, wanted = REQUESTS[number % len(REQUESTS)]
    connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status != 200 or wanted not in text:
        raise ValueError("%s %s: %d %s" % (method, path, answer.status, text[:200]))


def until_it_answers(port):
    end = time.monotonic() + START
    while True:
        try:
            return ask(http.client.HTTPConnection("127.0.0.1", port, timeout=20), 1)
        except (OSError, http.client.HTTPException, ValueError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def ask_on(port, is_over, rate, failures):
    """Asks on one connection: rate times a second, or without a pause where the rate is 0."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    number = 0
    try:
        while not is_over():
            began = time.monotonic()
            ask(connection, number)
            number += 1
            if rate:
                time.sleep(max(0.0, 1 / rate - (time.monotonic() - began)))
    except (OSError, http.client.HTTPException, ValueError) as error:
        failures.append(error)


def run_clients(port, is_over, rate):
    failures = []
    threads = [threading.Thread(target=ask_on, args=(port, is_over, rate / CLIENTS, failures)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def main():
    port, folder, rate = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    until_it_answers(port)
    end = time.monotonic() + WARM
    run_clients(port, lambda: time.monotonic() > end, 0)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    for number in range(NOTED * len(REQUESTS)):
        ask(connection, number, {"X-Stacks": "1"})
    for number in range(len(REQUESTS)):
        ask(connection, number)
    with open(os.path.join(folder, "ready"), "w", encoding="utf-8"):
        pass
    run_clients(port, lambda: os.path.exists(os.path.join(folder, "stop")), rate)


try:
    main()
except (OSError, http.client.HTTPException, ValueError) as failure:
    sys.exit("load.py: %s" % failure)
