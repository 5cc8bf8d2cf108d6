"""The help knows what the code knows, and finds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch import __version__
from runwatch.base.paths import Paths
from runwatch.view.glyphs import ASCII, UNICODE
from runwatch.view.help_words import FILTERS, facts, found, reference, signs
from runwatch.view.query_text import parse
from runwatch.view.resources.runs import RUNS

PATHS = Paths(Path("/somewhere/settings.toml"), Path("/somewhere/data"))


def key_of(action: str) -> str:
    """A key that no action has by itself."""
    return f"<{action}>"


def test_each_sign_stands_beside_its_ascii_form() -> None:
    labels = [str(entry.label) for entry in signs().lines]
    for name in ("live", "good", "bad", "off", "warn", "unknown", "nothing"):
        assert f"{getattr(UNICODE, name)}   {getattr(ASCII, name)}" in labels


@pytest.mark.parametrize("example", [example for example, _ in FILTERS])
def test_every_form_of_a_filter_can_be_read(example: str) -> None:
    for part in example.replace("field", "mode").split("  "):
        assert parse(part, RUNS, named={"name": "word"}).text == part


def test_places_and_version_are_named() -> None:
    texts = [str(entry.text) for part in reference(PATHS, key_of) for entry in part.lines]
    assert str(PATHS.settings_file) in texts
    assert str(PATHS.log_file) in texts
    assert f"runwatch {__version__}" in texts


def test_a_search_finds_lines_by_all_of_its_words_without_regard_to_capitals() -> None:
    shown = found([*reference(PATHS, key_of), *facts(key_of)], "KEY twice")
    assert [[str(entry.label) for entry in part.lines] for part in shown] == [["Waiting", "Lost answers"]]
    assert found(facts(key_of), "no such words at all") == []


def test_sentences_name_the_keys_that_hold_now() -> None:
    said = " ".join(str(entry.text) for part in [*reference(PATHS, key_of), *facts(key_of)] for entry in part.lines)
    for action in ("screen.add", "screen.copy", "screen.copy_menu", "screen.refresh", "app.outbox"):
        assert f"<{action}>" in said
    assert "{" not in said
