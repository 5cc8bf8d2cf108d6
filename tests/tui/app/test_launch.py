"""The console starts with little and imports the rest afterwards; a command imports nothing of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.settings.declarations import ENVIRONMENT
from runwatch.store.db.database import Database
from runwatch.store.repositories.record_cache import RecordCache
from runwatch.store.repositories.scope import stand_in_scope
from tests.support import builders
from tests.support.environment import clean_environment
from tests.support.terminal import Terminal
from tests.tui.golden import check_golden

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("pydantic", "httpx", "sqlalchemy", "starlette", "uvicorn", "tomlkit", "cryptography")


def painted_with(home: Path, more: Mapping[str, str] | None = None) -> tuple[set[str], bytes]:
    """Return the modules that the console imports before its first paint, and what it wrote until then."""
    written = home / "modules"
    command = [sys.executable, "-m", "tests.tui.painted", str(written)]
    with Terminal(command, env=clean_environment(home, more), cwd=ROOT, columns=120, rows=36) as terminal:
        assert terminal.wait_exit() == 0, terminal.screen.text
        return set(written.read_text().split()), bytes(terminal.raw)


def test_what_is_imported_before_the_first_paint_is_what_was_agreed_on(tmp_path: Path) -> None:
    """(manual: measurements, "Targets")

    Each module costs a third of a millisecond: one that is new here is imported later, or added with a reason.
    """
    imported, _ = painted_with(tmp_path)
    assert imported.isdisjoint({*HEAVY, "sqlite3"})
    own = ("runwatch.", "textual.widgets.", "textual.command")
    check_golden("first-paint-modules", "\n".join(sorted(name for name in imported if name.startswith(own))))


async def test_the_first_paint_has_the_lists_of_the_last_session_and_needs_no_client(tmp_path: Path) -> None:
    environment = {"RUNWATCH_BASE_URL": "http://127.0.0.1:9", "RUNWATCH_API_KEY": "k"}
    target = Target(ENVIRONMENT, environment["RUNWATCH_BASE_URL"], Secret("k"))
    database = Database.open(tmp_path / "runwatch-data" / "console.db")
    runs = [builders.run("ex_seen", "completed")]
    await RecordCache(database).save(stand_in_scope(target), "run", runs, datetime(2026, 11, 20, tzinfo=UTC))
    database.close()
    imported, drawn = painted_with(tmp_path, environment)
    assert b"ex_seen" in drawn
    assert "sqlite3" in imported
    assert not [name for name in imported if name.startswith(("httpx", "runwatch.api"))]


@pytest.mark.parametrize("words", [("problems", "list"), ("requests", "list"), ("config", "show"), ("demo", "--help")])
def test_a_verb_does_not_import_the_console(tmp_path: Path, words: tuple[str, ...]) -> None:
    code = (
        "import sys; from runwatch.cli import run; code = run(sys.argv[1:]);"
        " print([name for name in sys.modules if name.startswith(('textual', 'runwatch.tui'))], file=sys.stderr);"
        " sys.exit(code)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *words], env=clean_environment(tmp_path), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--profile", "nobody"), "There is no profile 'nobody'"),
        (("--theme", "no such"), "--theme"),
        (("--opne", "runs"), "did you mean --open?"),
    ],
)
def test_a_mistake_in_the_options_is_reported_before_anything_is_drawn(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    command = [sys.executable, "-m", "runwatch", *words]
    with Terminal(command, env=clean_environment(tmp_path)) as terminal:
        assert terminal.wait_exit() == 2
        assert told in terminal.screen.text
        assert b"\x1b[?1049h" not in terminal.raw
