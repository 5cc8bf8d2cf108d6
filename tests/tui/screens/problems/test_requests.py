"""The trace of what was sent, and the command that sends it again."""

from __future__ import annotations

import re
import shlex
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.api.operations import SUBMIT
from runwatch.store.repositories.journal import JournalRequest
from runwatch.store.repositories.outbox import WriteRequest
from runwatch.tui.screens.problems.requests import RequestsScreen
from runwatch.tui.sources import journal_source
from runwatch.view.problems.journal_entries import RequestEntry, request_from_journal
from tests.support.builders import account
from tests.support.scripted import ScriptedService
from tests.tui.console import KEY, NARROW, Driven, console
from tests.tui.samples import NOON


def service() -> ScriptedService:
    return ScriptedService(account=account())


def listen(driven: Driven) -> list[str]:
    """Everything that is written to the terminal's clipboard from now on."""
    written: list[str] = []
    driven.app._write_to_terminal = written.append  # type: ignore[method-assign, assignment]
    return written


async def test_every_attempt_is_a_row_with_its_answer_as_soon_as_it_is_sent(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        with pytest.raises(Exception, match="no such"):
            await driven.session.client.get_run("ex_nowhere")
        await driven.press("H")
        assert isinstance(driven.app.screen, RequestsScreen)
        await driven.shows("✗ 404", "✓ 200", "/v1/executions/ex_nowhere", "elapsed_s")
        with pytest.raises(Exception, match="no such"):
            await driven.session.client.get_run("ex_later")
        await driven.shows("/v1/executions/ex_later")


@pytest.mark.exhaustive
async def test_a_list_without_a_row_offers_nothing_to_copy(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="requests") as driven:
        await driven.shows("copy curl")
        await driven.press("slash")
        await driven.type("path:nowhere")
        await driven.press("enter")
        await driven.until(lambda: "copy" not in driven.lines[-1] and "filter" in driven.lines[-1], "the hints")


@pytest.mark.exhaustive
async def test_at_80_columns_a_request_of_another_profile_names_it_and_the_time_of_day_is_never_cut(
    tmp_path: Path,
) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        await driven.reaches("/v1/executions ", "H")
        assert "profile" not in driven.app.screen.table.shown_columns, "all are of the one in the header"  # type: ignore[attr-defined]
        driven.session.journal.note(
            RequestAttempt(
                at=NOON, operation="getMe", method="GET", path="/v1/me", query="", status=200, elapsed_s=0.1, attempt=1,
                key=None, sent_bytes=0, received_bytes=0, error=None, problem=None, profile="team",
                origin="http://127.0.0.1:1",
            )
        )  # fmt: skip
        await driven.reaches(re.compile(r"/v1/me +team +\d"), "r")
        heads = next(row for row in driven.lines if "status" in row)
        assert heads.split()[1:-1] == ["time", "status", "method", "path", "profile", "took", "try", "bytes›"]
        await driven.shows(re.compile(r"/v1/executions +environment +\d"))
        ages = driven.app.screen.table.shown_columns  # type: ignore[attr-defined]
        await driven.reaches(re.compile(r"^┃ . \d\d:\d\d:\d\d +✓ 200", re.MULTILINE), "t")
        assert not re.search(r":\d*…", driven.text)
        await driven.reaches(re.compile(r"^┃ . \ds ago +✓ 200", re.MULTILINE), "t", "t")
        assert driven.app.screen.table.shown_columns == ages  # type: ignore[attr-defined]


async def test_the_command_takes_the_key_from_a_pipe(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings='clipboard = "osc52"\n') as driven:
        written = listen(driven)
        await driven.reaches("/v1/executions ", "H")
        screen: Any = driven.app.screen
        # Which request is the newest depends on which response comes first, and a later one moves the rows.
        await driven.select(next(row.key for row in screen.rows_to_export() if row.subject.query == "limit=100"))
        await driven.reaches("Copied curl command by OSC 52: runwatch config header --base-url", "c")
        await driven.reaches("Copied '/v1/executions?limit=100' · path by OSC 52", "y")
        assert len(written) == 2
        assert KEY not in driven.text


async def test_a_submit_of_this_session_is_copied_with_its_body_and_any_other_with_a_file(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings='clipboard = "osc52"\n') as driven:
        written = listen(driven)
        body = b'{"mode":"echo","task":{"objective":"it\'s $HOME"}}'
        await driven.session.send_write(WriteRequest(SUBMIT, {}, body, "one"))
        await driven.session.client.request(SUBMIT, body=body, key="two")
        await driven.reaches("POST", "H")
        screen: Any = driven.app.screen
        await driven.until(lambda: sum(row.subject.method == "POST" for row in screen.rows_to_export()) == 2, "both")
        for key, end in (("one", ["--data-raw", body.decode()]), ("two", ["--data-binary", "@body.json"])):
            rows = {row.subject.key: row.key for row in screen.rows_to_export()}
            await driven.select(rows[key])
            written.clear()
            await driven.press("c")
            await driven.until(lambda: bool(written), "the command to be copied")
            command = b64decode(written[-1].split(";")[-1].rstrip("\x1b\\\a")).decode()
            assert shlex.split(command)[-2:] == end
            assert ("body in body.json" in driven.text) == (key == "two")


@pytest.mark.exhaustive
async def test_what_is_listed_already_is_neither_read_nor_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(), tmp_path) as driven:
        with pytest.raises(Exception, match="no such"):
            await driven.session.client.get_run("ex_first")
        await driven.reaches("/v1/executions/ex_first", "H")
        screen = driven.app.screen
        assert isinstance(screen, RequestsScreen)
        before = {row.key: row for row in screen.rows_to_export()}
        read: list[str] = []

        def read_line(kept: JournalRequest) -> RequestEntry:
            read.append(kept.path)
            return request_from_journal(kept)

        monkeypatch.setattr(journal_source, "request_from_journal", read_line)
        with pytest.raises(Exception, match="no such"):
            await driven.session.client.get_run("ex_later")
        await driven.shows("/v1/executions/ex_later")
        assert "/v1/executions/ex_first" not in read
        after = {row.key: row for row in screen.rows_to_export()}
        assert all(after[key] is row for key, row in before.items())
        [new] = [row for row in after.values() if row.value("path") == "/v1/executions/ex_later"]
        assert new.value("code") == "not_found"
