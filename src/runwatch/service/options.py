"""Options of a service start."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from runwatch.base.secrets.sealing import MasterKeys
from runwatch.base.secrets.secret import Secret
from runwatch.base.text import clean_line

DEFAULT_MAX_RUNS: Final = 50
"""Default number of runs that a process of a team service drives at once."""

SAMPLE_RUNS: Final = 200
"""Default number of finished runs in the sample organization."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of ``runwatch serve``.

    Attributes:
        port: The port; 0 for that of the last start, else any free one.
        master_keys: Returns the master keys that seal secrets at rest; may raise any runwatch error.
        key_command: Prints the header with the owner's key for other clients; empty if no command does.
        public_url: Scheme, host and port at which callers reach the service through a proxy; empty without one.
        database: Address of the PostgreSQL database, with or without a password; ``None`` for the SQLite file of the
            data directory.
        max_runs: Most runs that this process drives at once, as jobs in that database; ``None`` for an engine without
            jobs, which drives every run.
        has_interface: Whether to serve the interface; a worker without it answers only ``/healthz`` and ``/readyz``.
        idle_exit_s: Seconds without a caller or a live run until the service stops; ``None`` for never.
        rate_limit_rpm: Requests per minute and key before a 429; ``None`` for no limit.
        allow_loopback_checks: Whether checks, review agents and webhooks may be on this machine, over plain HTTP.
        balance_usd: Balance of the first organization from the first start with it on; ``None`` keeps it.
        quota_executions: Number of runs per month it may submit; ``None`` keeps it.
        concurrency: Number of its runs worked on at once; ``None`` keeps it.
        sample: Whether to serve the sample model sources and the sample checks.
        sample_runs: Number of finished runs of the sample organization in a new data directory; ``None`` for no such
            organization.
        sample_trickle: Whether to submit background runs in the sample organization while the service is in use.
        pace: Factor on the waits of a test run; the demo stretches them so that users see runs progress.
    """

    host: str = "127.0.0.1"
    port: int = 0
    data_dir: Path
    master_keys: Callable[[], MasterKeys]
    key_command: str = ""
    json: bool
    allow_remote: bool = False
    public_url: str = ""
    database: Secret | None = None
    max_runs: int | None = None
    has_interface: bool = True
    idle_exit_s: float | None = None
    rate_limit_rpm: int | None = None
    allow_loopback_checks: bool = False
    allow_signup: bool = False
    balance_usd: Decimal | None = None
    quota_executions: int | None = None
    concurrency: int | None = None
    provider_config: Path | None = None
    sample: bool = False
    sample_runs: int | None = None
    sample_trickle: bool = False
    pace: float = 1.0

    @property
    def is_shared(self) -> bool:
        """Whether other processes use the database too, each with jobs of its own: a team service."""
        return self.max_runs is not None

    @property
    def shared_name(self) -> str:
        """Machine and data directory of a process of a team service, in short; empty for a service of one process."""
        if not self.is_shared:
            return ""
        host = os.uname().nodename.partition(".")[0]
        return clean_line(f"{host}, {Path(*Path(os.path.normpath(self.data_dir)).parts[-2:])}")
