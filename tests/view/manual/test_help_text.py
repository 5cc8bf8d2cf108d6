"""The help knows what the code knows, and finds it."""

from __future__ import annotations

from pathlib import Path

from runwatch import __version__
from runwatch.base.paths import Paths
from runwatch.view.manual.help_text import (
    legend_section,
    reference_sections,
    search_sections,
    service_sections,
)
from runwatch.view.text.glyphs import ASCII, UNICODE

PATHS = Paths(Path("/somewhere/settings.toml"), Path("/somewhere/data"))


def key_of(action: str) -> str:
    return f"<{action}>"


def test_each_sign_is_beside_its_ascii_form() -> None:
    labels = [str(entry.label) for entry in legend_section(UNICODE).lines]
    for name in ("live", "good", "bad", "off", "warn", "unknown", "nothing", "at_least"):
        assert f"{getattr(UNICODE, name)}   {getattr(ASCII, name)}" in labels
    assert {"▸   >", "■   #", "›   >", "±   %"} <= set(labels)


def test_in_ascii_each_sign_is_there_once_and_has_one_meaning() -> None:
    labels = [str(entry.label) for entry in legend_section(ASCII).lines]
    assert len(set(labels)) == len(labels)
    assert all(label.isascii() for label in labels)


def test_places_and_version_are_named() -> None:
    texts = [str(entry.text) for part in reference_sections(PATHS, key_of, UNICODE) for entry in part.lines]
    assert str(PATHS.settings_file) in texts
    assert str(PATHS.log_file) in texts
    assert f"runwatch {__version__}" in texts


def test_states_are_told_where_the_frame_has_them() -> None:
    lower, upper = (
        {str(entry.label) for entry in part.lines}
        for part in reference_sections(PATHS, key_of, UNICODE)
        if part.title.startswith("States of a pane")
    )
    assert {"offline", "not read since 14:05"} < lower
    paused = {f"PAUSED by {why}" for why in ("scrolling", "<tail.follow>", "<screen.pause>")}
    assert {*paused, "ended", "2 ended unseen"} < upper


def test_a_search_finds_lines_by_all_of_its_words_without_regard_to_capitals() -> None:
    shown = search_sections([*reference_sections(PATHS, key_of, UNICODE), *service_sections(key_of)], "KEY twice")
    assert [[str(entry.label) for entry in part.lines] for part in shown] == [["Waiting", "Unconfirmed writes"]]
    assert search_sections(service_sections(key_of), "no such words at all") == []


def test_sentences_name_the_keys_that_hold_now() -> None:
    said = " ".join(
        str(entry.text)
        for part in [*reference_sections(PATHS, key_of, UNICODE), *service_sections(key_of)]
        for entry in part.lines
    )
    for action in ("screen.add", "screen.copy", "screen.copy_menu", "screen.refresh", "app.outbox"):
        assert f"<{action}>" in said
    assert "{" not in said
