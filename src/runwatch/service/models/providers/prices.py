"""Compute the cost of a call from the provider's report or a price table, in exact decimals."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal, InvalidOperation
from typing import Final

from runwatch.service.models.providers.types import Generation

SOURCE_REPORTED: Final = "source_reported"
"""The amount is what the provider charges: its own figure, or its token counts at prices that it lists itself."""

ESTIMATED: Final = "estimated"
"""The amount rests on an estimate of tokens, on prices that a person entered, or on the assumption that a server
without keys charges nothing.
"""

UNKNOWN: Final = "unknown"
"""No price is known. Not in the specification, which has the other two terms alone."""

ANY_MODEL: Final = "*"
"""Price table entry for every model without its own."""

LOST_CALL_TOKENS: Final = 4096
"""Output tokens that a budget assumes for a call of unknown usage."""

CHARACTERS_PER_TOKEN: Final = 4
"""Assumed characters per token, a rule of thumb for English."""

AMOUNT_DIGITS: Final = 60
"""Most digits before or after the point. A few characters can state an amount that fills the memory when written in
plain digits.
"""

_MILLION: Final = Decimal(1_000_000)
_EXACT: Final = Context(prec=100)

PriceTable = Mapping[str, Mapping[str, str]]
"""Prices by upstream model name, or ``*``: ``input_usd_per_million`` and ``output_usd_per_million`` as decimal text."""


def compute_cost(
    generation: Generation,
    prices: PriceTable | None,
    upstream_ref: str,
    *,
    is_keyless: bool,
    is_listed: bool,
    may_estimate: bool = True,
) -> tuple[Decimal, str] | None:
    """Return the cost of a call in US dollars and its ``pricing_basis``, or ``None`` when the cost is unknown.

    The provider's own cost wins; otherwise its token counts are multiplied by the price table.

    Args:
        is_keyless: Whether the server needs no key. It then has no account to charge, so a model without a price counts
            as free, as an estimate.
        is_listed: Whether the provider itself lists the model's price; see :func:`price_basis`.
        may_estimate: Whether missing token counts may be estimated from text length; not for a response without usable
            output.
    """
    if generation.usd is not None:
        return generation.usd, SOURCE_REPORTED
    counted = generation.input_tokens is not None and generation.output_tokens is not None
    if not counted and not may_estimate:
        return None
    read, written = generation.input_tokens, generation.output_tokens
    quoted = quote(
        prices,
        upstream_ref,
        estimated_tokens(generation.input_characters) if read is None else read,
        estimated_tokens(len(generation.text)) if written is None else written,
        is_keyless=is_keyless,
        is_listed=is_listed,
    )
    return quoted if quoted is None or counted else (quoted[0], ESTIMATED)


def quote(
    prices: PriceTable | None,
    upstream_ref: str,
    input_tokens: int,
    output_tokens: int,
    *,
    is_keyless: bool,
    is_listed: bool,
) -> tuple[Decimal, str] | None:
    """Return the cost of a call of this size in US dollars and its ``pricing_basis``; see :func:`compute_cost`."""
    price = find_price(prices, upstream_ref)
    if price is None:
        return (Decimal(0), ESTIMATED) if is_keyless else None
    return _at(price, input_tokens, output_tokens), SOURCE_REPORTED if is_listed else ESTIMATED


def price_basis(prices: PriceTable, listed: PriceTable, upstream_ref: str, *, is_keyless: bool) -> str:
    """Return where the price of a model is from: :data:`SOURCE_REPORTED`, :data:`ESTIMATED` or :data:`UNKNOWN`.

    Args:
        prices: The prices that a run is charged at.
        listed: Those that the provider lists itself.
    """
    price = find_price(prices, upstream_ref)
    if price is None:
        return ESTIMATED if is_keyless else UNKNOWN
    return SOURCE_REPORTED if price == find_price(listed, upstream_ref) else ESTIMATED


def worst_case(prices: PriceTable | None, upstream_ref: str, *, input_bytes: int, is_keyless: bool) -> Decimal | None:
    """Return the most US dollars that a budget assumes for a call of unknown cost, or ``None`` without a bound.

    A token is at least one byte, so the input has at most as many tokens as bytes. The few tokens of a provider's
    message framing are not counted.
    """
    quoted = quote(prices, upstream_ref, input_bytes, LOST_CALL_TOKENS, is_keyless=is_keyless, is_listed=False)
    return None if quoted is None else quoted[0]


def find_price(prices: PriceTable | None, upstream_ref: str) -> tuple[Decimal, Decimal] | None:
    """Return a model's prices per million input and output tokens in dollars, or ``None`` without a usable price."""
    entry = (prices or {}).get(upstream_ref) or (prices or {}).get(ANY_MODEL)
    if entry is None:
        return None
    read, written = (amount(entry.get(f"{side}_usd_per_million")) for side in ("input", "output"))
    return None if read is None or written is None else (read, written)


def amount(value: object) -> Decimal | None:
    """Parse a decimal amount; ``None`` if it is invalid, negative, or has too many digits."""
    if not isinstance(value, str):
        return None
    try:
        number = Decimal(value.strip())
    except InvalidOperation:
        return None
    return number if is_amount(number) else None


def is_amount(number: Decimal) -> bool:
    """Whether a number is finite, not negative, and short enough for plain digits."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or number < 0:
        return False
    return exponent > -AMOUNT_DIGITS and number.adjusted() < AMOUNT_DIGITS


def estimated_tokens(characters: int) -> int:
    """Estimate the number of tokens in a text of this length."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def _at(price: tuple[Decimal, Decimal], input_tokens: int, output_tokens: int) -> Decimal:
    read = _EXACT.multiply(price[0], Decimal(input_tokens))
    written = _EXACT.multiply(price[1], Decimal(output_tokens))
    return _EXACT.divide(_EXACT.add(read, written), _MILLION)
