"""Finding quoted ids in any pasted text."""

from __future__ import annotations

import pytest

from runwatch.store.repositories.id_search import match_ids, normalize_id

FIRST = "b71d6a11-1f7c-4b53-8a43-6a0b6f0a7c13"
SECOND = "0e7f6d9e-6b0e-4d0e-9d55-1b2f0c4d9a12"
THIRD = "3f0c9a34-3a0f-4a36-9a29-5c7e6f1f0a11"
PLAINS = [normalize_id(text) for text in (FIRST, SECOND, THIRD)]

MAIL = f"""
From: Ada <ada@example.test>
Date: Sat, 21 Nov 2026 10:00:00 +0100
Message-ID: <20261121.decade-facade@example.test>

Hi, the console said {FIRST.upper()} at 10:05 and a moment later ({SECOND.replace("-", "")}).
Any idea? #c0ffee was the colour.
> ... the id was cut here: {THIRD[:23]}
> {THIRD[24:]}
"""


@pytest.mark.parametrize(
    "text",
    [
        FIRST, FIRST.upper(), FIRST.replace("-", ""), f"  {FIRST}\n", f"urn:uuid:{FIRST}", f"instance={FIRST};",
        f'"{FIRST}"', f"id-{FIRST}", f"{FIRST}-and", f"add-{FIRST}-bed", FIRST.replace("-", "\u2011"),
        FIRST.replace("-", "–"), FIRST[:6], FIRST[-6:], FIRST[4:11], FIRST[6:14], FIRST[7:30], FIRST[:25] + "…",
        f"…{FIRST[12:]}", f"{FIRST[:8]} {FIRST[-12:]}",
    ],
)  # fmt: skip
def test_an_id_is_found_whole_or_in_any_part_of_six_digits(text: str) -> None:
    assert match_ids(text, PLAINS) == [0]


@pytest.mark.parametrize("text", ["", "b71d6", "b71d6 a111f", "decade facade", "2026-11-21 10:00", "no id at all", "-"])
def test_what_is_too_short_or_only_looks_like_an_id_finds_nothing(text: str) -> None:
    assert match_ids(text, PLAINS) == []


def test_a_whole_mail_finds_all_the_ids_in_it() -> None:
    assert match_ids(MAIL, PLAINS) == [0, 1, 2]


def test_a_part_that_several_ids_share_finds_them_all() -> None:
    plains = ["0192f3a4aaaa7bbb", "0192f3a4cccc7ddd", "ffff"]
    assert match_ids("0192F3A4", plains) == [0, 1]


def test_the_longest_part_that_hits_wins() -> None:
    plains = ["0192f3a4aaaa7bbb", "0192f3a4cccc7ddd"]
    assert match_ids("0192f3a4-cccc-7ddd", plains) == [1]


def test_an_instance_that_is_no_uuid_is_found_by_itself() -> None:
    assert match_ids("REQ-Zürich/7", [normalize_id("req-Zürich/7"), *PLAINS]) == [0]


@pytest.mark.parametrize("dash", ["-", "", "\u2011"])
@pytest.mark.parametrize(
    "wrong", ["b71d6a11-0000-0000-0000-000000000000", "ffffffff-1f7c-4b53-8a43-6a0b6f0a7c13", f"add-{FIRST[:-1]}4-bed"]
)
def test_a_whole_id_finds_no_other_one_that_shares_a_part(wrong: str, dash: str) -> None:
    assert match_ids(f"It said {wrong.replace('-', dash).upper()}.", PLAINS) == []
    assert match_ids(f"It said {wrong}, then {SECOND[:8]}.", PLAINS) == [1]


def test_parts_do_not_run_over_from_one_id_into_the_next() -> None:
    assert match_ids("aaabbb", ["xxxaaa", "bbbyyy"]) == []


def test_problems_without_an_instance_are_not_found_by_nothing() -> None:
    assert match_ids("  ", ["", ""]) == []


@pytest.mark.parametrize("text", ["a-" * 400_000, "abcdef " * 200_000, "0" * 2_000_000, "-" * 2_000_000])
def test_an_endless_text_is_looked_through_in_bounds(text: str) -> None:
    assert match_ids(text, PLAINS * 100) == []
