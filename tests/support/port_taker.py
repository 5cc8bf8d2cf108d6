"""A process that takes a port and looks like a service on it, as a process of another user can when one has died.

It runs as ``nobody`` where the tests run as root, else as the same user, and answers everything with 200.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final, Self

_PROGRAM: Final = """
import os, pwd, socket, sys, threading, time

if os.geteuid() == 0:
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
for trial in range(500):
    try:
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
        break
    except OSError:
        time.sleep(0.01)  # the process that had the port is still being taken away
os.write(1, b"ready\\n")

def serve(connection):
    with connection:
        while data := connection.recv(65536):
            os.write(1, data)
            connection.sendall(
                b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\n\\r\\n{}"
            )

while True:
    threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
"""


class PortTaker:
    """Takes a port while the block runs.

    Attributes:
        heard: Every byte that was sent to it, once the block has ended.
    """

    def __init__(self, port: int) -> None:
        self.heard = b""
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Listen.

        Raises:
            AssertionError: the port does not get free.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM, str(self._port)], stdout=subprocess.PIPE, bufsize=0
        )
        assert self._process.stdout is not None
        ready = self._process.stdout.readline()
        assert ready == b"ready\n", ready
        return self

    def __exit__(self, *_: object) -> None:
        """End it, and keep what it heard."""
        assert self._process is not None
        self._process.kill()
        self.heard = self._process.communicate()[0]
