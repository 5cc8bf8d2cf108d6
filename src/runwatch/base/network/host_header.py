"""The ``Host`` header of a request to a server on this machine (manual: security, "The console in a browser").

A page of another host can reach a server here through a name of its own that resolves to this machine. Its requests
carry that name, so a server answers only those that name the machine itself.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Sequence
from typing import Final

from runwatch.base.network.service_target import is_loopback_host

EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound
"""Hosts that mean every address of the machine."""

_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")


def names_this_machine(hosts: Sequence[str], listening: str, names: Collection[str] = ()) -> bool:
    """Return whether the ``Host`` headers of a request name the machine that a server listens on. The port may be any.

    Args:
        hosts: The values of all such headers; one is needed.
        listening: The host that the server listens on.
        names: More names of the machine, in lower case.
    """
    match = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if match is None:
        return False
    host = match[1].strip("[]").lower()
    if is_loopback_host(host) or host == listening.lower() or host in names:
        return True
    if listening not in EVERYWHERE:
        return False
    try:
        # A numeric address is not a name that someone else could point here.
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
