"""Ids are found in whatever the user pastes, and nothing that a terminal acts on comes along."""

from __future__ import annotations

import pytest

from runwatch.base.text import is_clean
from runwatch.view.text.pasted_text import MAX_IDS, find_ids, strip_controls
from tests.support.hostile import CORPUS


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ex_1\nex_2\r\nex_3", ["ex_1", "ex_2", "ex_3"]),
        ("ex_1, ex_2;ex_3\tex_4", ["ex_1", "ex_2", "ex_3", "ex_4"]),
        ('["ex_1", "ex_2"]', ["ex_1", "ex_2"]),
        ("ex_1 ex_2 ex_1", ["ex_1", "ex_2"]),
        ("", []),
        (" \n,, ", []),
        ("oneword", ["oneword"]),
        ("an-other.form:of_id~1 and-more", ["an-other.form:of_id~1"]),
        ("please look at it", []),
        ("runs/* /tmp/ex_000001 https://example.com/?run", []),
    ],
)
def test_ids_are_between_white_space_commas_quotes_and_brackets(text: str, ids: list[str]) -> None:
    assert find_ids(text) == ids


def test_prose_around_ids_is_left_out() -> None:
    mail = "Hello, please look at ex_01M7XXQ18N and at 0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11. Thanks!"
    assert find_ids(mail) == ["ex_01M7XXQ18N", "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"]


def test_colours_of_a_terminal_do_not_stick_to_an_id() -> None:
    assert find_ids("\x1b[31mex_01M7XXQ18N\x1b[0m\x07 \u200b\u202eex_02M7XXQ18N\x1b]52;c;AAAA\x07") == [
        "ex_01M7XXQ18N",
        "ex_02M7XXQ18N",
    ]


@pytest.mark.parametrize("text", [hostile.text for hostile in CORPUS], ids=[hostile.name for hostile in CORPUS])
def test_nothing_hostile_is_left(text: str) -> None:
    assert is_clean(strip_controls(text))
    assert all(is_clean(found) for found in find_ids(text))


def test_one_paste_gives_a_bounded_number_of_ids() -> None:
    assert len(find_ids(" ".join(f"ex_{number:06}" for number in range(MAX_IDS + 10)))) == MAX_IDS
