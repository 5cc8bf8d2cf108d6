"""The floor that the local service is measured against: bare Starlette on uvicorn that reads the same SQLite file.

It has uvicorn's settings of the local service and only the two routes that are compared: one run by its id, and a page
of runs. It checks no key and no limit, writes no log, makes no Problem, and sends each row as it is. Like the service,
it reads the database on a thread and not on the event loop.

``python -m tests.performance.bare_service DATABASE`` prints its address once it listens, and serves until it is killed.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import sys
import threading
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from runwatch.service.http.protocol import KEEP_ALIVE_S


class _Rows:
    """The runs of a database, read over one connection per thread."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._own = threading.local()

    def select(self, rest: str, *values: object) -> list[dict[str, Any]]:
        """Return the runs that the rest of a statement selects."""
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)
            connection.row_factory = sqlite3.Row
        return [_form(row) for row in connection.execute(f"SELECT * FROM runs {rest}", values)]


def _form(row: sqlite3.Row) -> dict[str, Any]:
    return {**dict(row), "policy": json.loads(row["policy"]), "slices": json.loads(row["slices"])}


def application(path: str) -> Starlette:
    """Return an application that serves one run, or a page of runs, of the database at this path."""
    rows = _Rows(path)

    def read_run(request: Request) -> Response:
        (run,) = rows.select("WHERE execution_id = ?", request.path_params["execution_id"])
        return JSONResponse(run)

    def list_runs(request: Request) -> Response:
        limit = int(request.query_params.get("limit", "50"))
        return JSONResponse({"executions": rows.select("ORDER BY sequence DESC LIMIT ?", limit)})

    return Starlette(routes=[Route("/v1/executions", list_runs), Route("/v1/executions/{execution_id}", read_run)])


def main() -> None:
    """Serve the database that the command line names."""
    # With the protocol named, asyncio turns Nagle's algorithm off, as on the sockets of the service.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        application(sys.argv[1]), http="h11", ws="none", loop="asyncio", lifespan="off", interface="asgi3",
        log_config=None, access_log=False, proxy_headers=False, server_header=False, timeout_keep_alive=KEEP_ALIVE_S,
    )  # fmt: skip
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
