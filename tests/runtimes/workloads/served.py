# SPDX-License-Identifier: Apache-2.0
"""served.py REPORT: a server of application.py or calls.php, in a file system of its own, and its clients.

SERVER: uwsgi or apache2, or for PHP php-fpm or php-module. TREE: the root. PLUGIN: of uwsgi. VERSION, OPCACHE: of PHP, with opcache
and what its compiler does: disable, tracing or function; without OPCACHE there is no opcache.
REPORT.ready has the processes of the server.
"""

import http.client
import os
import shutil
import signal
import socket
import struct
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
PHP_MODULE = """
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/errors
User #65534
Group #65534
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
PHPIniDir {folder}
LoadModule php{series}_module /usr/lib/apache2/modules/libphp{version}.so
StartServers 2
MaxRequestWorkers 2
DocumentRoot {folder}
<Directory {folder}>
Require all granted
SetHandler application/x-httpd-php
</Directory>
"""
FPM = """
[global]
error_log = {folder}/errors
[all]
user = 65534
group = 65534
listen = 127.0.0.1:{port}
pm = static
pm.max_children = 2
"""
CONFIGS = {"apache2": CONFIG, "php-module": PHP_MODULE, "php-fpm": FPM}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def opcache(version):
    """Returns the lines of php.ini."""
    kind = os.environ.get("OPCACHE")
    if not kind:
        return "opcache.enable=0\n"
    extension = "" if version == "8.5" else "zend_extension=opcache\n"  # a part of PHP itself
    return extension + "opcache.enable=1\nopcache.file_update_protection=0\nopcache.jit_buffer_size=64M\nopcache.jit=%s\n" % kind


def command(server, folder, port):
    version = os.environ.get("VERSION")
    if server in CONFIGS:
        with open(os.environ["TREE"] + folder + "/config", "w", encoding="utf-8") as file:
            file.write(CONFIGS[server].format(port=port, folder=folder, version=version,
                                              series="7" if version == "7.4" else ""))
        with open(os.environ["TREE"] + folder + "/php.ini", "w", encoding="utf-8") as file:
            file.write(opcache(version))
    if server == "php-fpm":
        return ["/usr/sbin/php-fpm" + version, "--nodaemonize", "--fpm-config", folder + "/config",
                "-c", folder]
    if server in CONFIGS:
        return ["/usr/sbin/apache2", "-f", folder + "/config", "-DFOREGROUND"]
    return ["/usr/bin/uwsgi-core", "--plugin", os.environ["PLUGIN"], "--http-socket", "127.0.0.1:%d" % port,
            "--wsgi-file", folder + "/application.py", "--die-on-term", "--master", "--processes", "2",
            "--threads", "2", "--disable-logging"]


def ask_fpm(folder, port):
    """Asks by FastCGI, where a request is three records of parameters and input, and the answer ends with a record 3."""
    def record(kind, content):
        return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content

    params = b""
    for key, value in (("SCRIPT_FILENAME", folder + "/calls.php"), ("REQUEST_METHOD", "GET"), ("SCRIPT_NAME", "/")):
        params += bytes((len(key), len(value))) + (key + value).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
        one.sendall(record(1, struct.pack(">HB5x", 1, 0)) + record(4, params) + record(4, b"") + record(5, b""))
        answer = one.makefile("rb")
        kind = 0
        while kind != 3:
            _, kind, _, size, padding = struct.unpack(">BBHHBx", answer.read(8))
            answer.read(size + padding)


def ask(folder, port):
    if os.environ["SERVER"] == "php-fpm":
        return ask_fpm(folder, port)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/calls.php")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return None


def ask_on(folder, port):
    while not report.stopped.is_set():
        try:
            ask(folder, port)
        except (OSError, struct.error):
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
    for name in "application.py", "report.py", "calls.php":
        shutil.copy(os.path.join(HERE, name), inside)
    os.chmod(inside, 0o777)
    server = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", INSIDE, tree] +
                              command(os.environ["SERVER"], folder, port), env={"PATH": os.environ["PATH"]},
                              start_new_session=True)  # Apache ends its whole group
    threads = [threading.Thread(target=ask_on, args=(folder, port)) for _ in range(CLIENTS)]
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
