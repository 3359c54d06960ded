# SPDX-License-Identifier: Apache-2.0
"""served.py REPORT: a server of application.py, in a file system of its own, and its clients.

SERVER: uwsgi or apache2. TREE: the root. PLUGIN: of uwsgi. REPORT.ready has the processes of the server.
"""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import report

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = 3
START = 20  # seconds
INSIDE = ('mount --bind "$0" "$0" && mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" &&'
          'exec chroot "$0" "$@"')
CONFIG = """
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/errors
User #65534
Group #65534
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule wsgi_module /usr/lib/apache2/modules/mod_wsgi.so
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MaxRequestWorkers 4
WSGIScriptAlias / {folder}/application.py
<Directory {folder}>
Require all granted
</Directory>
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def command(server, folder, port):
    if server == "apache2":
        with open(os.environ["TREE"] + folder + "/config", "w", encoding="utf-8") as file:
            file.write(CONFIG.format(port=port, folder=folder))
        return ["/usr/sbin/apache2", "-f", folder + "/config", "-DFOREGROUND"]
    return ["/usr/bin/uwsgi-core", "--plugin", os.environ["PLUGIN"], "--http-socket", "127.0.0.1:%d" % port,
            "--wsgi-file", folder + "/application.py", "--die-on-term", "--master", "--processes", "2",
            "--threads", "2", "--disable-logging"]


def ask(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", "/")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status == 200


def ask_on(port):
    while not report.stopped.is_set():
        try:
            ask(port)
        except OSError:
            time.sleep(0.1)


def processes(server):
    """Returns the server's process and those below it."""
    found = [server.pid]
    for pid in found:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            found += map(int, file.read().split())
    return found


def main(path):
    tree, port = os.environ["TREE"], free_port()
    inside = tempfile.mkdtemp(dir=tree + "/tmp")
    folder = inside[len(tree):]
    for name in "application.py", "report.py":
        shutil.copy(os.path.join(HERE, name), inside)
    os.chmod(inside, 0o777)
    server = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", INSIDE, tree] +
                              command(os.environ["SERVER"], folder, port), env={"PATH": os.environ["PATH"]})
    threads = [threading.Thread(target=ask_on, args=(port,)) for _ in range(CLIENTS)]
    report.until_stopped(path)
    for thread in threads:
        thread.start()
    end = time.monotonic() + START
    while not os.path.exists(inside + "/application.json") and time.monotonic() < end:
        time.sleep(0.05)
    with open(path + ".ready.new", "w", encoding="ascii") as file:
        file.write(" ".join(map(str, processes(server))))
    os.rename(path + ".ready.new", path + ".ready")
    report.stopped.wait()
    for thread in threads:
        thread.join()
    server.send_signal(signal.SIGTERM)
    server.wait()
    shutil.copy(inside + "/application.json", path)
    shutil.rmtree(inside)


main(sys.argv[1])
