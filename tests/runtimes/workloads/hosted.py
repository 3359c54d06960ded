# SPDX-License-Identifier: Apache-2.0
"""hosted.py REPORT: a server that has Lua in it, in a file system of its own, and clients that make it run hosted.lua.

SERVER: redis, valkey, haproxy, nginx or neovim. TREE: the root. REPORT.ready has the processes of the server. The
report is made of the comments in hosted.lua: a server gives its scripts no means to look at themselves.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = 2
START, END = 20, 2  # seconds
INSIDE = ('mount --bind "$0" "$0" && mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" &&'
          'exec chroot --userspec=65534:65534 "$0" "$@"')
CHAIN = ["by_pcall", "protected", "by_coroutine", "in_coroutine", "by_gsub", "replace", "by_sort", "compare", "burn"]
NAMED = {label: label for label in ("work", "by_pcall", "by_coroutine", "by_gsub", "by_sort", "burn")}
MAIN = "main chunk"
HAPROXY = """
global
    lua-load {folder}/hosted.lua
    nbthread 1
    tune.lua.forced-yield 2000
defaults
    mode http
    timeout client 20s
    timeout server 20s
    timeout connect 20s
frontend all
    bind 127.0.0.1:{port}
    http-request use-service lua.work
"""
NGINX = """
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
worker_processes 1;
daemon off;
error_log {folder}/errors;
pid {folder}/pid;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    lua_package_path "/usr/share/lua/5.1/?.lua;;";
    server {{
        listen 127.0.0.1:{port};
        location / {{ content_by_lua_file {folder}/hosted.lua; }}
    }}
}}
"""


def ask_by_http(port, _):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status == 200


def ask_redis(port, text):
    parts = [b"EVAL", text.encode(), b"0"]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as one:
        one.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        answer = one.recv(200)
    if answer[:1] == b"-" and answer[:5] != b"-BUSY":
        print(answer)
    return answer[:1] == b":"


class Server:
    """A server, and where its script is in the stack.

    config is its file's text. Lua names the script `file`, and root is the script's outermost function. `above` is the
    function in C that runs Lua. The script's function `host` calls the server, which has `below` there. `within` are
    names of Lua's own frames, in samples without the script. `ask` makes the script run once. `policy` is a line that
    the server needs. `resumes`: the server itself runs coroutines, and no function of the script is below them.
    """

    def __init__(self, command, host, below, above, within, config="", file="hosted.lua", root=MAIN, ask=ask_by_http,
                 policy="", resumes=False):
        self.command, self.host, self.below, self.above, self.within = command, host, below, above, within
        self.config, self.file, self.root, self.ask, self.policy = config, file, root, ask, policy
        self.resumes = resumes


def of_redis(name, above, policy=""):
    return Server(["/usr/bin/%s-server" % name, "--port", "{port}", "--save", "", "--dir", "{folder}"], "in_redis",
                  ["call", "sortCommandGeneric"], above, [above], file="user_script", ask=ask_redis, policy=policy)


SERVERS = {
    "redis": of_redis("redis", "evalGenericCommand"),
    "valkey": of_redis("valkey", "processCommand", "runtime valkey\n"),
    "haproxy": Server(["/usr/sbin/haproxy", "-db", "-f", "{folder}/config"], "in_haproxy", ["haproxy"],
                      "hlua_applet_http_fct", ["lua_resume"], config=HAPROXY, root="answer"),
    "nginx": Server(["/usr/sbin/nginx", "-c", "{folder}/config"], "in_nginx", ["ngx_http_lua_module"],
                    "nginx", ["lua_resume"], config=NGINX, resumes=True),
    "neovim": Server(["/usr/bin/nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c",
                      "luafile {folder}/hosted.lua"], "in_neovim", ["nvim"], "nvim", ["lua_pcall"],
                     ask=None),
}


# ---- the report -------------------------------------------------------------------------------

class Script:
    """The comments of hosted.lua. Functions have the names that they have without their callers."""

    def __init__(self, text, file):
        self.lines, self.file = text.split("\n"), file
        self.own = {MAIN: MAIN}
        self.first = {}
        for number, line in enumerate(self.lines, 1):
            for label in re.findall(r"--: (\w+)", line):
                self.first[label] = number
                self.own[label] = "function <%s:%d>" % (file, number)

    def last(self, label):
        """Returns the last line of a function: its `end` is as far to the right as its beginning."""
        number = self.first[label]
        begin = re.match(r"\t*", self.lines[number - 1]).group()
        while not self.lines[number].startswith(begin + "end"):
            number += 1
        return number + 1

    def calls(self):
        """Returns lines and the functions that they call."""
        found = [(number, label) for number, line in enumerate(self.lines, 1)
                 for label in re.findall(r"--> (\w+)", line)]
        return found

    def innermost(self, number):
        """Returns the function that a line is in, where the line does not begin one."""
        around = [label for label, first in self.first.items() if first < number <= self.last(label)]
        return max(around, key=self.first.get, default=MAIN)

    def names(self, host):
        """Returns the names that callers have for functions."""
        names = {label: label for number, label in self.calls()
                 if label in self.own and re.search(r"\b%s\([^()]*\)\t*-->" % label, self.lines[number - 1])}
        names[host] = "in_host"
        names["work"] = "work"
        return {self.own[label]: [name] for label, name in names.items()}


def report_of(server, name, text):
    script = Script(text, server.file)
    root = [server.root, "work"]
    stacks, chain = [root + [server.host]], root + CHAIN
    if server.resumes:
        at = chain.index("in_coroutine")
        stacks, chain = stacks + [chain[:at]], chain[at:]
    stacks.append(chain)
    calls = set()
    for number, label in script.calls():
        callee = server.host if label == "in_host" else label
        calls.add((script.own[script.innermost(number)], server.file, number, script.own[callee]))
    lines = [(script.own[label], server.file, list(range(first, script.last(label) + 1)))
             for label, first in script.first.items()]
    lines.append((MAIN, server.file, list(range(1, len(script.lines) + 1))))
    return {
        "version": name, "files": [server.file],
        "stacks": [[(script.own[label], server.file) for label in stack] for stack in stacks],
        "calls": sorted(calls), "lines": lines, "names": script.names(server.host), "within": server.within,
        "orders": [
            (script.own["burn"], [server.above] + [NAMED.get(label, script.own[label]) for label in chain]),
            (script.own[server.host], [server.above, "work", "in_host", *server.below]),
        ],
    }


# ---- the server -------------------------------------------------------------------------------

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


stopped = threading.Event()


def ask_on(server, port, text):
    while not stopped.is_set():
        try:
            server.ask(port, text)
        except OSError:
            time.sleep(0.1)


def has_answered(server, port, text, started):
    if not server.ask:
        return os.path.exists(started)
    try:
        return server.ask(port, text)
    except OSError:
        return False


def processes(server):
    """Returns the server's process and those below it."""
    found = [server.pid]
    for pid in found:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            found += map(int, file.read().split())
    return found


def end_program(program):
    """Neovim does not end while its script runs."""
    program.terminate()
    try:
        program.wait(END)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


def main(path):
    name, tree, port = os.environ["SERVER"], os.environ["TREE"], free_port()
    server = SERVERS[name]
    inside = tempfile.mkdtemp(dir=tree + "/tmp")
    folder = inside[len(tree):]
    os.chmod(inside, 0o777)
    shutil.copy(os.path.join(HERE, "hosted.lua"), inside)
    with open(os.path.join(HERE, "hosted.lua"), encoding="utf-8") as file:
        text = file.read()
    with open(inside + "/config", "w", encoding="utf-8") as file:
        file.write(server.config.format(port=port, folder=folder))
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    command = [one.format(port=port, folder=folder) for one in server.command]
    program = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", INSIDE, tree] + command,
                               env={"PATH": os.environ["PATH"], "LC_ALL": "C", "STARTED": folder + "/started"})
    end = time.monotonic() + START
    while not has_answered(server, port, text, inside + "/started") and time.monotonic() < end:
        time.sleep(0.1)
    threads = []
    if server.ask:
        threads = [threading.Thread(target=ask_on, args=(server, port, text)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report_of(server, name, text), file)
    if server.policy:
        with open(path + ".policy", "w", encoding="ascii") as file:
            file.write(server.policy)
    with open(path + ".ready.new", "w", encoding="ascii") as file:
        file.write(" ".join(map(str, processes(program))))
    os.rename(path + ".ready.new", path + ".ready")
    stopped.wait()
    for thread in threads:
        thread.join()
    end_program(program)
    shutil.rmtree(inside)


main(sys.argv[1])
