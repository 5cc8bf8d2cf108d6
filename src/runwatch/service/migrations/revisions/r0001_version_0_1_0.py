"""The tables of version 0.1.0. Every file has at least these, so there is nothing to do."""

from __future__ import annotations

from typing import Final

revision: Final = "0001"
down_revision: Final = None
