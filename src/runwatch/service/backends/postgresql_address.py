"""The address of a PostgreSQL database, as PostgreSQL's own programs take it."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from runwatch.base.errors import UsageError
from runwatch.base.log import keep_secret
from runwatch.base.secrets.secret import Secret

SCHEMES: Final = ("postgresql://", "postgres://")

ESCAPES: Final = "%40 for @, %2F for /, %3A for :, %23 for #, %3F for ?, %25 for % and %20 for a space"
"""What a user or a password in an address is written with."""

# A connection to a machine that is gone fails in half a minute, and not in hours.
_DEFAULTS: Final[dict[str, str]] = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}


def parse_address(url: Secret, program: str) -> dict[str, Any]:
    """Return the parameters of a connection; passwords are kept out of every log from now on.

    Args:
        program: What the sessions are called, before process and machine.

    Raises:
        UsageError: The address is not usable.
    """
    if not url.reveal().startswith(SCHEMES):
        raise _unusable("It does not begin with postgresql://")
    try:
        given = conninfo_to_dict(url.reveal())
    except psycopg.Error:
        # libpq repeats what it cannot read, which may be a part of a password.
        raise _unusable("It is not an address as PostgreSQL's own programs take it.") from None
    if "@" in str(given.get("host")) or "@" in str(given.get("dbname")) or not _has_numbers(given.get("port")):
        # A user or a password that is not escaped ends early, and the rest of it is taken for what follows.
        raise _unusable("Its user or its password has a character that an address cannot hold.")
    for name in ("password", "sslpassword"):
        keep_secret(Secret(str(given.get(name) or "")))
    keep_secret(url)
    defaults = {name: value for name, value in _DEFAULTS.items() if f"PG{name.upper()}" not in os.environ}
    # libpq allows 63 bytes.
    application = f"{program}-{os.getpid()}@{socket.gethostname()}".encode()[:63].decode(errors="ignore")
    return {"application_name": application, **defaults, **given, "client_encoding": "UTF8"}


def _unusable(detail: str) -> UsageError:
    return UsageError(
        "The address of the database is not usable",
        detail=detail,
        hint=f"Use one like postgresql://USER@HOST:5432/DATABASE; in user and password write {ESCAPES}.",
    )


def _has_numbers(port: Any) -> bool:
    """Return whether each port is a number, or none is given."""
    return all(number.isdecimal() for number in str(port or "").split(",") if number)


def describe_address(parameters: Mapping[str, Any]) -> str:
    """Describe the database without user or password."""
    host = parameters.get("host") or parameters.get("hostaddr") or os.environ.get("PGHOST") or "this machine"
    port = parameters.get("port") or os.environ.get("PGPORT") or "5432"
    name = parameters.get("dbname") or os.environ.get("PGDATABASE") or "the user's own"
    return f"database {name} on {host}, port {port}"
