"""The optional packages of this installation."""

from __future__ import annotations

import re
import sys
from importlib import metadata

from runwatch.base.shell_words import quote_word


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra into this Python.

    It names the packages, because an index need not have runwatch, and ``pip`` alone may belong to another Python.
    """
    try:
        requirements = metadata.requires("runwatch") or []
    except metadata.PackageNotFoundError:
        requirements = []
    marker = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    packages = [each.partition(";")[0].strip() for each in requirements if marker.search(each)]
    return " ".join(map(quote_word, [sys.executable, "-m", "pip", "install", *(packages or [f".[{extra}]"])]))
