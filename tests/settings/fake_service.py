"""A stand-in for ``runwatch serve``: the same arguments, lock, file and line, but no service behind its socket.

``FAKE_SERVICE`` in the environment chooses what it does wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from runwatch.base.network.service_file import ServiceFile, service_line, service_lock, write_service_file
from runwatch.base.network.service_socket import listen_on_socket
from runwatch.base.paths import find_paths
from runwatch.base.secrets.secret import Secret
from runwatch.settings.master_key import find_master_keys

KEY = "rw_fake_service_key"


def main() -> int:
    """Serve until SIGTERM; exit 2 when the data directory is held."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--idle-exit-s", type=float, required=True)
    parser.add_argument("--pace", type=float)
    options = parser.parse_args()
    manner = os.environ.get("FAKE_SERVICE", "")
    data_dir: Path = options.data_dir
    sys.stderr.write(f"starting\x1b[31m as {KEY}\n" * int(os.environ.get("FAKE_LINES", "1")))
    sys.stderr.flush()
    if manner == "dies":
        return 3
    if manner == "says nothing":
        signal.pause()
    lock = service_lock(data_dir)
    if not lock.acquire(wait=False):
        sys.stderr.write("held\n")
        return 2
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set() if manner != "does not end" else None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        path, local_listener = listen_on_socket(data_dir, os.environ)
        file = ServiceFile(address, Secret(KEY), data_dir, os.getpid(), None if manner == "is old" else path)
        write_service_file(file, find_master_keys(find_paths().settings_file))
        (data_dir / "seen.json").write_text(
            json.dumps(
                {
                    "environment": dict(os.environ), "arguments": sys.argv[1:], "directory": str(Path.cwd()),
                    "session": os.getsid(0) == os.getpid(), "stdin": sys.stdin.read(),
                },
            ),
        )  # fmt: skip
        print("no line of ours" if manner == "says something else" else service_line(file), flush=True)
        stop.wait()
    local_listener.close()
    lock.release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
