"""Pages, menus, dialogs, forms and files of hostile content: the bytes on a terminal are our renderer's alone.

The lists are in :mod:`tests.end_to_end.test_console_hostile_screens`. Here is all that draws records in another way,
and everything else that may come from a stranger: the settings file, what is pasted, a file to open and its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.problems.support_bundle import BUNDLE_FORMAT, BUNDLE_VERSION
from runwatch.view.resources.registry import resource_named
from runwatch.view.resources.runs import RUNS
from tests.support.cli import Cli
from tests.support.console import KEY, console
from tests.support.filled import all_members
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.hostile_service import TEXTS, hostile_service, records_of
from tests.support.reader import ROWS, Reader, assert_only_text, copied
from tests.support.screen import foreign_controls
from tests.support.scripted import Said, ScriptedService, running_service

SHARE: Final = 24
EVENTS: Final = [all_members(RUNS.record, text) | {"event_id": text, "state": text, "at": text} for text in TEXTS[::5]]
FILE_NAME: Final = "\x1b]0;owned\x07\u202e[red]\x9b2J[@click=app.bell].json"
"""A name that a file system allows."""

PASTED: Final = ALL_AT_ONCE.text.replace("\x1b[201~", "").encode("utf-8", "replace").decode()
"""A terminal takes the mark of the end out of what it pastes, and sends UTF-8."""

COMPARED: Final = [resource_named(name) for name in ("runs", "receipts", "templates", "arms")]

SHEETS: Final = (
    "runs X", "runs A", "arms X", "arms E", "verifiers X", "verifiers E", "sources X", "keys X", "agents .",
)  # fmt: skip
"""Lists, and the key that opens a dialog, a form or a menu of what can be done with a record of theirs."""

IN_FRONT: Final = re.compile(r"┏━ (?:.* on environment ━|Actions   )|tab next field")
"""The signs that one of them is in front."""

IN_TOML: Final = [entry.text for entry in CORPUS if entry.is_unicode and len(entry.text) < 100]
"""What a settings file can hold."""


@pytest.fixture(scope="module")
def service() -> Iterator[ScriptedService]:
    script = hostile_service(SHARE, KEY)
    # Runs in unknown states are followed as live ones, and none of them has anything new after a while.
    events = Said(200, {"events": EVENTS})
    script.say("GET", "/v1/executions/[^/]*/events", *(events,) * 20, Said(200, {"events": []}))
    with running_service(script) as running:
        yield running


def settings(base_url: str) -> str:
    """A settings file with two profiles, and hostile names and values in every place."""
    key = f"key_command = {json.dumps(f'printf %s {KEY}')}\n"
    lines = [
        'default_profile = "work"', 'clipboard = "osc52"', 'theme = "\\u001b]0;x\\u0007"', "[refresh]",
        "lists_s = 3600",
    ]  # fmt: skip
    for table in ("filters", "keys", "columns", "\x1b[2J"):
        lines.append(f"[{_quoted(table)}]")
        for number, text in enumerate(IN_TOML[::7]):
            value = f"[{_quoted(text)}, 'id']" if table == "columns" else _quoted(text)
            lines.append(f"{_quoted(f'{number}{text}')} = {value}")
    own = f"base_url = {_quoted(base_url)}\n{key}{_quoted(IN_TOML[40])} = 1"
    lines += [f"[profiles.{name}]\n{own}" for name in ("work", "home")]
    lines.append(f"[profiles.{_quoted(FILE_NAME)}]\nbase_url = {_quoted(FILE_NAME)}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def go(reader: Reader, words: str, sign: str) -> None:
    """Give a command, and wait until its screen is in front."""
    reader.command(words)
    reader.terminal.wait_until(lambda: sign in reader.terminal.screen.lines[1], f"{sign} above")


@pytest.mark.exhaustive
def test_every_page_is_only_text(tmp_path: Path, service: ScriptedService) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(settings(service.base_url), "utf-8")
    file.chmod(0o600)
    with console(tmp_path, columns=160, rows=ROWS) as terminal:
        terminal.wait_for("● live")
        reader = Reader(terminal)
        # What went wrong, as a notice and in the journal.
        for number in (3, 60, 90, 120):
            reader.command(f"open asked{number}")
            terminal.wait_for(f"asked{number}: ")
        go(reader, "overview", "Overview")
        terminal.press("tab", "G", "tab", "G", "pageup")
        go(reader, "settings", "Settings")
        terminal.press(*("pagedown",) * 12)
        terminal.press("g", "down", "enter")
        terminal.press("esc")
        go(reader, "codes", "Problems by code")
        terminal.press("G", "enter", "G", "v")
        go(reader, "account", "Account")
        terminal.press("G", "tab", "G", "v", "G", "v", ">", ">")
        reader.command("usage \u200b[red]x[/]")
        terminal.wait_for("is not a period")
        terminal.press("esc")
        terminal.wait_gone("is not a period")
        go(reader, "compliance", "Compliance")
        terminal.press("G", "tab", "G", "v", "G", "v")
        go(reader, "problems", "Problems")
        terminal.wait_for("Problems   ")
        terminal.press("@", until="Around a time   ")
        terminal.press("G", "enter", "G", "v", "G")
        go(reader, "tail all", "Tail")
        terminal.wait_for("Tail of ")
        terminal.press("g", "enter", "pagedown", "G", "q", "w", "G", "/")
        terminal.paste(PASTED)
        terminal.press("enter", "esc", "esc", "y", "right", "right")
        go(reader, "wall", "Run wall")
        terminal.wait_gone("reading its events")
        terminal.press("pagedown", "right", "m")
        terminal.wait_until(lambda: "Replay" in terminal.screen.lines[1], "the replay above")
        terminal.press("G", "left", "tab", "G", "enter", "G")
        go(reader, "wall", "Run wall")
        terminal.wait_for("enter open  m replay")
        # The names of filters and of actions, completed.
        terminal.type(":filter", until="filter: ")
        terminal.press(*("down",) * 12, "esc")
        terminal.wait_gone("filter: ")
        assert_only_text(terminal, tmp_path)
    assert service.requests("POST") == []


@pytest.mark.exhaustive
def test_records_compared_kept_copied_labelled_and_done_with_are_only_text(
    tmp_path: Path, service: ScriptedService
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(settings(service.base_url), "utf-8")
    file.chmod(0o600)
    with console(tmp_path, "--read-only", columns=160, rows=ROWS) as terminal:
        terminal.wait_for("● live")
        reader = Reader(terminal)
        for spec in COMPARED:
            go(reader, spec.name, spec.title.partition(" · ")[0])
            terminal.wait_for(f"   {len(records_of(spec, SHARE))} ")
            terminal.press("g", "D", "down", "D")
            terminal.wait_until(lambda: "Compare" in terminal.screen.lines[1], "the comparison")
            terminal.press("a", "G", "q")
            terminal.wait_until(lambda: "Compare" not in terminal.screen.lines[1], "the list again")
        go(reader, "receipts", "Receipts")
        terminal.press("y", "e", until="━ Export")
        terminal.press("esc")
        terminal.wait_gone("━ Export")
        terminal.press("Y", until="━ Copy")
        terminal.press("down", "enter")
        terminal.wait_gone("━ Copy")
        go(reader, "models", "Models")
        terminal.press("F", until="Keep the rows with")
        terminal.press("down", "down", "enter")
        terminal.wait_gone("Keep the rows with")
        go(reader, "runs", "Runs")
        terminal.press("G", "i", until="━ Label of")
        terminal.paste(PASTED)
        terminal.press("tab")
        terminal.paste(PASTED)
        terminal.press("enter")
        terminal.wait_gone("━ Label of")
        for resource in ("templates", "receipts"):
            go(reader, resource, resource.title())
            go(reader, "across all", "2 profiles")
            terminal.press("G", "enter", "G", "v", "G")
        assert_only_text(terminal, tmp_path)
        assert copied(terminal) or "Nothing was copied" in terminal.raw.decode("utf-8", "replace")
    assert service.requests("POST") == []


@pytest.mark.exhaustive
def test_sheets_and_forms_of_hostile_records_are_only_text(tmp_path: Path, service: ScriptedService) -> None:
    with console(tmp_path, base_url=service.base_url, columns=160, rows=ROWS) as terminal:
        terminal.wait_for("● live")
        reader = Reader(terminal)
        for name, key in map(str.split, SHEETS):
            spec = resource_named(name)
            go(reader, name, spec.title.partition(" · ")[0])
            terminal.wait_for(f"   {len(records_of(spec, SHARE))} ")
            terminal.press("G", key, until=IN_FRONT)
            terminal.press("tab", "tab", "down", "esc")
            terminal.wait_gone(IN_FRONT)
        assert_only_text(terminal, tmp_path)
    assert service.requests("POST") == []


def bundle() -> dict[str, Any]:
    """A support bundle with a hostile text in every member of everything it holds."""
    problems = [{**all_members(ProblemEntry, text), "time": TEXTS[-1]} for text in TEXTS[::9]]
    requests = [{**all_members(RequestEntry, text), "what": "request"} for text in TEXTS[1::9]]
    runs = [
        {"what": "run", "run_id": text, "state": text, "kept": all_members(RUNS.record, text)} for text in TEXTS[2::9]
    ]
    around = [*({**problem, "what": "problem", "kept": problem} for problem in problems[1:]), *runs]
    whole = {"form_version": BUNDLE_VERSION, "problem": problems[0], "requests": requests, "around": around}
    more = dict.fromkeys(("made_at", "means", "next", "support_block", ALL_AT_ONCE.text), ALL_AT_ONCE.text)
    return {
        "form": BUNDLE_FORMAT, **whole, **more, "settings": [{"setting": PASTED, "value": PASTED, "source": PASTED}],
    }  # fmt: skip


@pytest.mark.exhaustive
def test_a_hostile_bundle_under_a_hostile_name_is_only_text(tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    file.write_text(json.dumps(bundle()), "ascii")
    with console(tmp_path, "open", str(file), columns=160, rows=ROWS) as terminal:
        terminal.wait_for("READ-ONLY")
        terminal.wait_until(lambda: "Problems › " in terminal.screen.lines[1], "the problem of the bundle")
        reader = Reader(terminal)
        terminal.press("G", "v", "G")
        for name, copy in (("problems", "Y"), ("requests", "c"), ("runs", "y")):
            go(reader, name, name.title())
            terminal.wait_for(re.compile(rf"[━─] {name.title()}.*   \d"))
            terminal.press("G", "g", "enter")
            terminal.wait_until(lambda: " › " in terminal.screen.lines[1], "the record")
            terminal.press("G", "v", "G", copy)
            # No command repeats a request whose method is a hostile text, and an id with control characters stays here.
            terminal.wait_for(re.compile("No command can repeat" if name == "requests" else "[Cc]opied"))
        assert_only_text(terminal, tmp_path)


def test_a_hostile_file_is_told_of_and_printed_as_only_text(tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    cli = Cli(tmp_path)
    for content in (json.dumps(bundle()), "{", json.dumps({ALL_AT_ONCE.text: 1}), ALL_AT_ONCE.text):
        file.write_text(content, "utf-8", "replace")
        outcome = cli("open", str(file))
        assert foreign_controls(outcome.stdout) == []
        assert foreign_controls(outcome.stderr) == []
        assert "Traceback" not in outcome.errors
        assert outcome.stdout or outcome.code
