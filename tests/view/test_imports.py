"""The view is cheap to import and knows neither a screen nor the network."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import runwatch.view.resources.registry, runwatch.view.export.text_output
import runwatch.view.query.parser, runwatch.view.runs.event_lines
print(sorted({name.partition(".")[0] for name in sys.modules} | {"runwatch.api.http.transport"} & sys.modules.keys()))
"""


def test_importing_the_view_loads_no_heavy_library() -> None:
    loaded = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout
    assert "'runwatch'" in loaded
    for heavy in ("textual", "pydantic", "httpx", "sqlalchemy", "starlette", "sqlite3", "runwatch.api.http.transport"):
        assert f"'{heavy}'" not in loaded
