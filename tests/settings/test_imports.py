"""What the settings cost before the first paint."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    "pydantic", "httpx", "sqlalchemy", "textual", "starlette", "tomllib", "tomlkit", "tomli_w", "keyring",
    "cryptography",
}  # fmt: skip


def test_reading_settings_and_resolving_a_target_loads_nothing_heavy() -> None:
    code = "import sys, runwatch.settings.resolver; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "runwatch" in loaded
    assert HEAVY & set(loaded) == set()
