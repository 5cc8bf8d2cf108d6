"""Where the user left the console is kept whole, and a file that cannot be used is named with the reason."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.errors import SettingsError
from runwatch.settings.view_state import (
    MAX_STATE_BYTES,
    MAX_TEXT_CHARACTERS,
    PaneSplit,
    ViewState,
    load_session,
    load_view_state,
    save_view_state,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(
    view=st.builds(
        ViewState, screen=TEXT.filter(bool), filter=TEXT, is_filter_off=st.booleans(),
        sort=st.lists(st.tuples(TEXT, st.booleans()), max_size=3).map(tuple), is_wide=st.booleans(), selected=TEXT,
        is_open=st.booleans(),
    ),
)  # fmt: skip
def test_what_was_kept_is_what_is_read(view: ViewState, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("session") / "session.toml"
    save_view_state(path, view)
    assert load_view_state(path) == view


def test_the_place_in_a_record_is_left_out_as_it_can_hold_words_of_the_service(tmp_path: Path) -> None:
    path = tmp_path / "session.toml"
    save_view_state(path, ViewState("runs", place="summary 2 Words"))
    assert "Words" not in path.read_text("utf-8")
    assert load_view_state(path) == ViewState("runs")


@pytest.mark.parametrize("view", [None, ViewState("runs")])
def test_how_screens_are_divided_is_kept_with_a_view_and_without(view: ViewState | None, tmp_path: Path) -> None:
    splits = {"runs": PaneSplit("below", 0.4, 0.25), "a.b": PaneSplit()}
    save_view_state(tmp_path / "session.toml", view, splits)
    assert load_session(tmp_path / "session.toml") == (view, splits)


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "session.toml"
    save_view_state(path, ViewState("runs"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_file_there_is_no_session(tmp_path: Path) -> None:
    assert load_view_state(tmp_path / "session.toml") is None


def test_the_last_of_several_consoles_wins(tmp_path: Path) -> None:
    path = tmp_path / "session.toml"
    save_view_state(path, ViewState("runs", filter="is:live " * 100))
    save_view_state(path, ViewState("receipts"))
    assert load_view_state(path) == ViewState("receipts")


def test_members_of_a_newer_version_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "session.toml"
    path.write_text('screen = "runs"\nmood = "good"\n', "utf-8")
    assert load_view_state(path) == ViewState("runs")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"screen = ", "Invalid value"),
        (b"\xff\xfe", "can't decode"),
        (b"", "screen is missing"),
        (b"screen = 7", "screen is no text"),
        (b'screen = "runs"\nis_open = "yes"', "is_open is neither true nor false"),
        (b'screen = "runs"\nsplits = {runs = 1}', "splits is not a table of tables"),
        (b"[splits.runs]\nbeside = 1.0", "beside is no number from 0 to 1"),
        (b'[splits.runs]\nplace = "above"', "place is neither beside nor below"),
        (b'screen = "runs"\nsort = "status"', "sort is not a list of tables"),
        (b'screen = "runs"\nsort = [1]', "sort is not a list of tables"),
        (b'screen = "runs"\nsort = [{field = 1}]', "field is no text"),
        (b'screen = "' + b"x" * (MAX_TEXT_CHARACTERS + 1) + b'"', "screen is no text of at most 4,000"),
        (b"#" * (MAX_STATE_BYTES + 1), "is larger than 100,000 bytes"),
        (b"a = " + b"[" * 20_000, ""),
    ],
)
def test_a_broken_file_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "session.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        load_view_state(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way", "utf-8")
    with pytest.raises(SettingsError, match="could not be saved"):
        save_view_state(tmp_path / "data" / "session.toml", ViewState("runs"))


@pytest.mark.parametrize(
    ("stored", "restored"),
    [
        ("profile=unnamed", "profile=environment"),
        (
            'status:429 profile!="unnamed" | !profile:unnamed',
            'status:429 profile!="environment" | !profile:environment',
        ),
        ("unnamed", "unnamed"),
        (
            "profile=unnamed-2 profiles=unnamed x.profile=unnamed",
            "profile=unnamed-2 profiles=unnamed x.profile=unnamed",
        ),
    ],
)
def test_a_filter_of_0_1_0_names_the_environments_profile_as_it_is_called_today(
    stored: str, restored: str, tmp_path: Path
) -> None:
    path = tmp_path / "session.toml"
    save_view_state(path, ViewState("requests", filter=stored))
    assert load_view_state(path) == ViewState("requests", filter=restored)
