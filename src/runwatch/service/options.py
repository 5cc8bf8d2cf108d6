"""How a service is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from runwatch.base.sealing import MasterKeys

SAMPLE_RUNS: Final = 200
"""How many finished runs the sample organization has unless somebody says otherwise."""

SAMPLE_KEYS: Final = "sample-keys.json"
"""The file of the data directory that holds the keys of the sample organizations, for people who try roles and
organizations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of ``runwatch serve``.

    Attributes:
        host: The address to listen on.
        port: The port, or 0 for that of the last start, else any free one.
        data_dir: Where the service keeps its data.
        master_keys: Finds the master keys that seal secrets at rest; it may raise any error of runwatch's.
        key_command: Prints the header with the owner's key for other clients; empty where no command does.
        json: Whether one JSON line with address and key goes to standard output.
        allow_remote: Whether an address that other machines can reach is taken.
        idle_exit_s: Seconds without a caller and without a live run after which the service ends; ``None`` for never.
        rate_limit_rpm: Requests a minute of one key above which it answers 429; ``None`` for no limit.
        allow_loopback_checks: Whether checks, review agents and webhooks may be on this machine, by plain http.
        allow_signup: Whether anyone who reaches the service may make an organization of their own.
        balance_usd: The balance that the first organization has from this start on; ``None`` leaves it as it is.
        quota_executions: How many runs a month it may submit; ``None`` leaves that as it is.
        concurrency: How many of its runs are worked on at once; ``None`` leaves that as it is.
        provider_config: The file that names further sources of models; ``None`` for none.
        sample: Whether the sample sources of models and the sample checks are served.
        sample_runs: How many finished runs the sample organization has that a new data directory begins with; ``None``
            for no such organization.
        sample_trickle: Whether further runs come and go in the sample organization while somebody watches.
        pace: What the waits of a test run are multiplied with; the demo stretches them, so that people see runs move.
    """

    host: str = "127.0.0.1"
    port: int = 0
    data_dir: Path
    master_keys: Callable[[], MasterKeys]
    key_command: str = ""
    json: bool
    allow_remote: bool = False
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
