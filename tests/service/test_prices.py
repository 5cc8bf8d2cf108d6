"""What calls cost, exactly, and how sure that is."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest

from runwatch.base.json import ExactNumber
from runwatch.service.models.providers.json_reading import dollars
from runwatch.service.models.providers.prices import (
    LOST_CALL_TOKENS,
    PriceTable,
    amount,
    compute_cost,
    estimated_tokens,
    price_basis,
    quote,
    worst_case,
)
from runwatch.service.models.providers.types import Generation

TABLE = {
    "small": {"input_usd_per_million": "0.15", "output_usd_per_million": "0.60"},
    "*": {"input_usd_per_million": "3", "output_usd_per_million": "15"},
}
SMALL = {"small": TABLE["small"]}


def generation(
    input_tokens: int | None = 1000, output_tokens: int | None = 500, usd: str | None = None, text: str = "x" * 80
) -> Generation:
    return Generation(text, input_tokens, output_tokens, Decimal(usd) if usd else None, None, None, 400)


def test_what_the_provider_reports_wins_over_the_table() -> None:
    assert compute_cost(generation(usd="0.0123"), TABLE, "small", is_keyless=False, is_listed=True) == (
        Decimal("0.0123"),
        "source_reported",
    )


def test_counted_tokens_at_the_price_of_the_model_are_source_reported() -> None:
    assert compute_cost(generation(), TABLE, "small", is_keyless=False, is_listed=True) == (
        Decimal("0.00045"),
        "source_reported",
    )


def test_a_model_without_a_price_of_its_own_has_that_of_all_others() -> None:
    assert compute_cost(generation(), TABLE, "large", is_keyless=False, is_listed=True) == (
        Decimal("0.0105"),
        "source_reported",
    )


@pytest.mark.parametrize(
    ("counts", "usd"), [((None, 500), "0.000315"), ((1000, None), "0.000162"), ((None, None), "0.000027")]
)
def test_tokens_that_nobody_counted_are_estimated_from_the_texts(
    counts: tuple[int | None, int | None], usd: str
) -> None:
    assert compute_cost(generation(*counts), TABLE, "small", is_keyless=False, is_listed=True) == (
        Decimal(usd),
        "estimated",
    )


@pytest.mark.parametrize(
    "table",
    [
        None,
        {},
        {"other": TABLE["small"]},
        {"small": {"input_usd_per_million": "1"}},
        {"small": {"input_usd_per_million": "-1", "output_usd_per_million": "1"}},
        {"small": {"input_usd_per_million": "cheap", "output_usd_per_million": "NaN"}},
    ],
)
def test_without_a_usable_price_the_cost_is_unknown_but_for_a_server_without_keys(
    table: dict[str, dict[str, str]] | None,
) -> None:
    assert compute_cost(generation(), table, "small", is_keyless=False, is_listed=True) is None
    assert quote(table, "small", 10, 10, is_keyless=False, is_listed=True) is None
    assert worst_case(table, "small", input_bytes=10, is_keyless=False) is None
    assert compute_cost(generation(), table, "small", is_keyless=True, is_listed=True) == (Decimal(0), "estimated")
    assert quote(table, "small", 10, 10, is_keyless=True, is_listed=True) == (Decimal(0), "estimated")
    assert worst_case(table, "small", input_bytes=10, is_keyless=True) == 0


@pytest.mark.parametrize(
    ("listed", "model", "is_keyless", "basis"),
    [
        (TABLE, "small", False, "source_reported"),
        ({}, "small", False, "estimated"),
        ({}, "other", False, "unknown"),
        ({}, "other", True, "estimated"),
    ],
)
def test_only_a_price_that_the_source_lists_is_reported_by_the_source(
    listed: PriceTable, model: str, is_keyless: bool, basis: str
) -> None:
    assert price_basis(SMALL, listed, model, is_keyless=is_keyless) == basis
    is_listed = basis == "source_reported"
    cost = compute_cost(generation(), SMALL, model, is_keyless=is_keyless, is_listed=is_listed)
    assert (cost[1] if cost else "unknown") == basis


@pytest.mark.parametrize("counts", [(None, 500), (1000, None), (None, None)])
def test_an_answer_without_an_output_is_not_estimated(counts: tuple[int | None, int | None]) -> None:
    assert (
        compute_cost(generation(*counts), TABLE, "small", is_keyless=False, is_listed=True, may_estimate=False) is None
    )
    counted = compute_cost(generation(), TABLE, "small", is_keyless=False, is_listed=True, may_estimate=False)
    assert counted == (Decimal("0.00045"), "source_reported")


def test_no_digit_is_lost_whatever_the_precision_of_the_thread() -> None:
    table = {"*": {"input_usd_per_million": "0.123456789123456789", "output_usd_per_million": "0"}}
    with localcontext(prec=3):
        cost = compute_cost(generation(10**9, 0), table, "any", is_keyless=False, is_listed=True)
    assert cost == (Decimal("123.456789123456789"), "source_reported")


def test_a_quote_is_the_price_of_so_many_tokens() -> None:
    assert quote(TABLE, "small", 1_000_000, 1_000_000, is_keyless=False, is_listed=True) == (
        Decimal("0.75"),
        "source_reported",
    )


def test_the_worst_case_takes_every_byte_for_a_token() -> None:
    worst = worst_case(TABLE, "small", input_bytes=4000, is_keyless=False)
    assert worst == Decimal("0.0006") + LOST_CALL_TOKENS * Decimal("0.60") / 1_000_000


def test_a_call_without_a_cap_on_its_output_is_taken_to_write_4096_tokens() -> None:
    worst = worst_case(TABLE, "small", input_bytes=0, is_keyless=False)
    assert worst == LOST_CALL_TOKENS * Decimal("0.60") / 1_000_000


@pytest.mark.parametrize(("characters", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2)])
def test_estimates_round_up(characters: int, tokens: int) -> None:
    assert estimated_tokens(characters) == tokens


@pytest.mark.parametrize("text", ["1e999999999", "1e60", "1e-999999", "0e-999999999", "0e999999999", "9" * 61])
def test_an_amount_that_is_too_long_in_plain_digits_is_not_taken(text: str) -> None:
    assert amount(text) is None
    assert dollars(text) is None
    assert dollars(ExactNumber(text)) is None
