"""A live run against a model server of others, from nothing to its receipt, and the places where it leaves no trace.

The server repeats the prompt in its answer, so the text that is searched for is in the output, too.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from runwatch.settings import local_service
from tests.support.cli import Cli
from tests.support.console import console
from tests.support.stranger import Stranger, stranger
from tests.support.terminal import Terminal

PROMPT: Final = "Name-the-colour-71c9e2"
OUTPUT: Final = "You said"
"""What is looked for: no other text of the program, of the service or of the server has either."""

PRICES: Final = ("--price-input", "1000", "--price-output", "2000")
"""US dollars per million tokens, so that every token shows in the cost."""

BUDGET: Final = ("--data-class", "public", "--max-cost-usd", "0.5", "--max-runtime-s", "300")
PATIENCE_S: Final = 60.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    with stranger(tmp_path_factory.mktemp("stranger")) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home with nothing in it; the local service that is started there is stopped."""
    yield tmp_path
    local_service.stop_running(service_data(tmp_path))


def service_data(home: Path) -> Path:
    """Where the local service of a home keeps its data."""
    return home / "runwatch-data" / "local-service"


@pytest.mark.exhaustive
def test_from_nothing_to_the_first_receipt_of_a_foreign_model_in_three_commands(home: Path, server: Stranger) -> None:
    cli, before = Cli(home), len(server.calls())
    connect = ("sources", "connect", "--openai-compatible", server.base_url, "--local", "--model", "gpt-4o", *PRICES)
    connected = cli(*connect, code=0)
    submit = ("runs", "submit", "--mode", "live", "--objective", PROMPT, *BUDGET, "--watch", "--exit-status")
    run = cli(*submit, "--local", "--json", code=0)
    execution_id = run.json_lines[0]["execution_id"]
    receipt = cli("receipts", "show", execution_id, "--local", "--json", code=0)

    # The first call is the test of the connection.
    _, call = server.calls()[before:]
    answer = server.answer(call)
    check_receipt(json.loads(receipt.text, parse_float=Decimal), answer, server)
    result = cli("runs", "result", execution_id, "--local", "--json").json
    assert result["final_text"] == answer["choices"][0]["message"]["content"]
    assert PROMPT in result["final_text"]
    assert OUTPUT in result["final_text"]

    for words in (("receipts", "show", execution_id), ("runs", "events", execution_id), ("runs", "show", execution_id),
                  ("compliance", "export")):  # fmt: skip
        told = [cli(*words, "--local"), cli(*words, "--local", "--json")]
        assert [one.code for one in told] == [0, 0], words
        assert all(PROMPT not in one.text + one.errors and OUTPUT not in one.text + one.errors for one in told), words
    assert PROMPT not in run.text + run.errors + connected.text
    keeps_no_trace(home, execution_id)


@pytest.mark.exhaustive
def test_a_live_run_of_a_foreign_model_is_started_and_read_in_the_console(home: Path, server: Stranger) -> None:
    connect = ("sources", "connect", "--openai-compatible", server.base_url, "--local", "--model", "gpt-4o", *PRICES)
    assert Cli(home)(*connect).code == 0
    before = len(server.calls())
    with console(home) as terminal:
        terminal.wait_for("No runs yet.", PATIENCE_S)
        fill_in(terminal)
        asked = re.compile(r"Starts a live run\. It calls a model and may spend[\s\S]*Start the run")
        terminal.click_until("Start…", asked, PATIENCE_S)
        terminal.click_until("Start the run", "done", PATIENCE_S)
        terminal.wait_for(re.compile(r"lifecycle +✓ completed"), PATIENCE_S)
        (call,) = server.calls()[before:]
        answer = server.answer(call)
        tokens = f"{answer['usage']['prompt_tokens']} in · {answer['usage']['completion_tokens']} out"
        terminal.type(">>>>")
        terminal.wait_for(OUTPUT, PATIENCE_S)
        assert PROMPT in terminal.screen.text
        terminal.type(">")
        terminal.wait_for("neither prompt nor output", PATIENCE_S)
        terminal.type("z")
        terminal.wait_for(f"{cost_of(answer)} USD (estimated) · {tokens}", PATIENCE_S)
        assert PROMPT not in terminal.screen.text
        assert OUTPUT not in terminal.screen.text
        execution_id = terminal.wait_for(re.compile(r"execution_id +(ex_\w+)"))[1]
        terminal.press("ctrl+c", "ctrl+c")
        assert terminal.wait_exit(PATIENCE_S) == 130
        assert b"Traceback" not in terminal.raw
    keeps_no_trace(home, execution_id)


def fill_in(terminal: Terminal) -> None:
    """Open the form and make it a live run."""
    terminal.type("+")
    terminal.wait_for(re.compile(r"mode +[│▸] echo[\s\S]*Start…"), PATIENCE_S)
    terminal.click("echo")
    enters(terminal, "mode")
    terminal.press("end", "ctrl+u")
    terminal.wait_for('"mode": ""', PATIENCE_S)
    terminal.type("live")
    terminal.wait_for('"mode": "live"', PATIENCE_S)
    terminal.press("tab")
    enters(terminal, "objective")
    terminal.type(PROMPT)
    terminal.wait_for(f'"objective": "{PROMPT}"', PATIENCE_S)


def enters(terminal: Terminal, field: str) -> None:
    """Wait until the cursor is in a field: earlier keys go to the field that had it."""

    def is_there() -> bool:
        screen = terminal.screen
        return screen.lines[screen.cursor[1]][1:].lstrip().startswith(field)

    terminal.wait_until(is_there, f"the cursor in {field}", PATIENCE_S)


def cost_of(answer: dict[str, Any]) -> Decimal:
    """What a call costs at the prices of the connection, by the server's own count."""
    usage = answer["usage"]
    read, written = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    return (Decimal(1000) * read + Decimal(2000) * written) / 1_000_000


def check_receipt(receipt: dict[str, Any], answer: dict[str, Any], server: Stranger) -> None:
    """Model, provider, tokens and cost as the server told them."""
    (part,) = receipt["slices"]
    usage, usd = answer["usage"], cost_of(answer)
    assert (receipt["status"], receipt["mode"], receipt["totals"]["usd"]) == ("completed", "live", usd)
    assert part["cost"] == {
        "usd": usd, "input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"], "calls": 1,
        "estimated_calls": 1, "pricing_basis": "estimated",
    }  # fmt: skip
    assert part["route"]["selected"]["provider"] == urlsplit(server.base_url).netloc
    assert part["model_provenance"]["resolved"]["upstream_ref"] == answer["model"]
    assert part["recorded_check"]["state"] == "baseline"


def keeps_no_trace(home: Path, execution_id: str) -> None:
    """Stop the service and look through every byte that it and the client keep.

    The output is in the service's result and nowhere else, and with it the prompt, which it repeats. The client keeps
    the request that its own user typed on the watch list, so that a run can be started again like it.
    """
    assert local_service.stop_running(service_data(home))
    service_db, console_db = service_data(home) / "service.db", home / "runwatch-data" / "console.db"
    assert hits(home, OUTPUT) == {service_db: 1}
    found = hits(home, PROMPT)
    assert found.pop(service_db) == 1
    assert set(found) <= {console_db}
    assert rows_with(service_db, PROMPT) == [("results", execution_id)]
    assert rows_with(service_db, OUTPUT) == [("results", execution_id)]
    watched = rows_with(console_db, PROMPT)
    assert watched == [("watch", execution_id)]
    with closing(sqlite3.connect(console_db)) as database:
        (stored,) = database.execute("SELECT count(*) FROM event").fetchone()
        (journalled,) = database.execute("SELECT count(*) FROM request").fetchone()
    assert stored > 0
    assert journalled > 0


def hits(directory: Path, text: str) -> dict[Path, int]:
    """How often a text is in the bytes of the files of a directory."""
    counts = {path: path.read_bytes().count(text.encode()) for path in directory.rglob("*") if path.is_file()}
    assert len(counts) > 5
    return {path: count for path, count in counts.items() if count}


def rows_with(path: Path, text: str) -> list[tuple[str, str]]:
    """Table and run id of every row of a database that has a text in any column."""
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [
            (name, str(dict(row).get("execution_id") or dict(row).get("run_id")))
            for name in names
            for row in database.execute(f'SELECT * FROM "{name}"')
            if any(text.encode() in (cell if isinstance(cell, bytes) else str(cell).encode()) for cell in row)
        ]
