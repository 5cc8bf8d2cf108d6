"""What several profiles have used is added up exactly, and only where it is of one kind."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from runwatch.base.json import loads
from runwatch.records.account import Account
from runwatch.records.usage import Usage
from runwatch.view.reports.profile_usage import PROFILE_USAGE, ProfileUsage, combined_total_text
from runwatch.view.table.rows import build_rows as drawn_rows
from runwatch.view.text.format import RenderContext
from tests.support.rows import cells_of

WEEK = '{"from": "2026-11-15", "to": "2026-11-21"}'


def used(profile: str, totals: str, *, period: str = WEEK, more: str = "") -> ProfileUsage:
    """The usage of a profile, from the JSON of its sums."""
    return ProfileUsage(profile, Usage(loads(f'{{"period": {period}, "totals": {totals}{more}}}')))


def sums(runs: int, usage: str, fee: str, usd: str) -> str:
    return f'{{"executions": {runs}, "passthrough_usd": {usage}, "platform_usd": {fee}, "usd": {usd}}}'


def cells(row: ProfileUsage, year: int = 2026) -> dict[str, Any]:
    (drawn,) = drawn_rows(PROFILE_USAGE, [row], RenderContext(datetime(year, 11, 21, tzinfo=UTC)))
    return {name: str(text) for name, text in cells_of(drawn).items()}


def test_amounts_are_added_in_decimals() -> None:
    tenth = sums(1, "0.1", "0.05", "0.15")
    fine = sums(1_204, "0.2000000000000000000001", "0.05", "0.2500000000000000000001")
    assert combined_total_text([used("work", tenth), used("home", fine)]) == (
        "2 profiles: 1,205 runs, 0.3000000000000000000001 usage + 0.10 fee = 0.4000000000000000000001 USD"
    )


def test_amounts_of_several_currencies_are_not_added() -> None:
    euros = used("home", sums(1, "1", "1", "2"), more=', "currency": "EUR"')
    assert combined_total_text([used("work", sums(1, "1", "1", "2")), euros]) == "no total: amounts in EUR and USD"
    assert cells(euros)["usd"] == "2.0000 EUR"
    assert combined_total_text([euros, euros]).endswith("= 4.00 EUR")


def test_reports_of_several_periods_are_not_added() -> None:
    month = used("home", sums(1, "1", "1", "2"), period='{"from": "2026-11-01", "to": "2026-11-30"}')
    assert combined_total_text([used("work", sums(1, "1", "1", "2")), month]) == "no total: the periods differ"


def test_a_total_without_every_profile_says_of_how_many_it_is() -> None:
    told = [used(name, sums(1, "1", "1", "2")) for name in ("work", "home")]
    assert combined_total_text([*told, ProfileUsage("lab")]) == (
        "2 of 3 profiles: 2 runs, 2.00 usage + 2.00 fee = 4.00 USD"
    )


def test_less_than_two_reports_have_no_total() -> None:
    only = used("work", sums(1, "1", "1", "2"))
    assert [combined_total_text(rows) for rows in ([], [only], [only, ProfileUsage("lab")])] == ["", "", ""]


def test_an_amount_that_is_not_reported_makes_the_total_a_least_one() -> None:
    silent = used("home", '{"executions": 3}')
    assert (
        combined_total_text([used("work", sums(1, "1", "1", "2")), silent]) == "2 profiles: 4 runs, at least 2.00 USD"
    )


def test_parts_that_do_not_add_up_are_left_out_of_the_total() -> None:
    odd = used("home", sums(1, "1", "1", "3"))
    assert combined_total_text([used("work", sums(1, "1", "1", "2")), odd]) == "2 profiles: 2 runs, 5.00 USD"


def test_what_was_not_read_is_no_question_and_what_was_not_told_is_one() -> None:
    unread, silent = cells(ProfileUsage("lab")), cells(used("home", "{}", period="null"))
    assert (unread["period"], unread["usd"], unread["quota"]) == ("–", "–", "–")
    assert (silent["period"], silent["usd"]) == ("?", "?")


def test_a_period_is_short_within_the_year_and_whole_outside() -> None:
    week, day = used("work", "{}"), used("work", "{}", period='{"from": "2026-11-21", "to": "2026-11-21"}')
    assert cells(week)["period"] == "11-15 to 11-21"
    assert cells(week, 2027)["period"] == "2026-11-15 to 2026-11-21"
    assert cells(day)["period"] == "11-21"


@pytest.mark.parametrize(
    ("quota", "shown"),
    [('{"limit": 500, "used": 37}', "37 of 500"), ('{"limit": null, "used": 37}', "37"),
     ('{"used": 1204}', "1,204 of ?"), ("{}", "–")],
)  # fmt: skip
def test_the_quota_is_reported_as_far_as_it_is_known(quota: str, shown: str) -> None:
    account = Account(loads(f'{{"quota": {{"executions": {quota}}}}}'))
    assert cells(ProfileUsage("work", account=account))["quota"] == shown
