# SPDX-License-Identifier: Apache-2.0
"""manager.py SOCKET: listens as a service manager does and prints each line it is told."""
import socket
import sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1].replace("@", "\0") if sys.argv[1][0] == "@" else sys.argv[1])
print("listening")
while True:
    print(listener.recv(4096).decode())
