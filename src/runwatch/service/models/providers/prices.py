"""What a call costs, from what the provider reports or a price table says, in exact decimals."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal, InvalidOperation
from typing import Final

from runwatch.service.models.providers.types import Generation

SOURCE_REPORTED: Final = "source_reported"
"""The amount is what the provider charges: its own words, or its tokens at the price of the connection's table."""

ESTIMATED: Final = "estimated"
"""The amount rests on a guess: of the tokens, or of the price."""

ANY_MODEL: Final = "*"
"""The entry of a price table for every model without one of its own."""

LOST_CALL_TOKENS: Final = 4096
"""Output tokens that a budget assumes for a call whose usage is not known. Not in the specification."""

CHARACTERS_PER_TOKEN: Final = 4
"""Characters that a token stands for where nobody has counted; ours, a usual rule of thumb for English."""

AMOUNT_DIGITS: Final = 60
"""Digits before or behind the point from which on an amount is not taken. A few characters can state an amount that
fills the memory when it is written in plain digits."""

_MILLION: Final = Decimal(1_000_000)
_EXACT: Final = Context(prec=100)

PriceTable = Mapping[str, Mapping[str, str]]
"""Prices by upstream model name, or ``*``: ``input_usd_per_million`` and ``output_usd_per_million`` as decimal
texts."""


def compute_cost(
    generation: Generation,
    prices: PriceTable | None,
    upstream_ref: str,
    *,
    is_keyless: bool,
    may_estimate: bool = True,
) -> tuple[Decimal, str] | None:
    """What a call cost in US dollars and the ``pricing_basis`` of that amount; ``None`` where the cost is not known.

    The provider's own report wins. Otherwise its token counts are multiplied with the price table. The basis is that of
    wire reference 2.5.

    Args:
        generation: The answer.
        prices: The price table of the connection.
        upstream_ref: The model's name in it.
        is_keyless: Whether the server asks for no key. Such a server has no account to charge, so a model of it that
            has no price is taken to be free, as an estimate.
        may_estimate: Whether missing token counts may be estimated from the length of the texts; not for an answer
            without a usable output.
    """
    if generation.usd is not None:
        return generation.usd, SOURCE_REPORTED
    counted = generation.input_tokens is not None and generation.output_tokens is not None
    if not counted and not may_estimate:
        return None
    price = find_price(prices, upstream_ref)
    if price is None:
        return (Decimal(0), ESTIMATED) if is_keyless else None
    read = generation.input_tokens
    written = generation.output_tokens
    usd = _at(
        price,
        estimated_tokens(generation.input_characters) if read is None else read,
        estimated_tokens(len(generation.text)) if written is None else written,
    )
    return usd, SOURCE_REPORTED if counted else ESTIMATED


def quote(
    prices: PriceTable | None, upstream_ref: str, input_tokens: int, output_tokens: int, *, is_keyless: bool
) -> tuple[Decimal, str] | None:
    """What a call of this size would cost in US dollars and the ``pricing_basis``; see :func:`compute_cost`."""
    price = find_price(prices, upstream_ref)
    if price is None:
        return (Decimal(0), ESTIMATED) if is_keyless else None
    return _at(price, input_tokens, output_tokens), SOURCE_REPORTED


def worst_case(
    prices: PriceTable | None,
    upstream_ref: str,
    *,
    input_bytes: int,
    is_keyless: bool,
    max_output_tokens: int = LOST_CALL_TOKENS,
) -> Decimal | None:
    """The most in US dollars that a budget assumes for a call of unknown cost; ``None`` where nothing bounds it.

    A token is at least one byte, so the input has no more tokens than bytes. The few tokens with which a provider
    frames a message are not counted.
    """
    price = find_price(prices, upstream_ref)
    if price is None:
        return Decimal(0) if is_keyless else None
    return _at(price, input_bytes, max_output_tokens)


def find_price(prices: PriceTable | None, upstream_ref: str) -> tuple[Decimal, Decimal] | None:
    """Dollars per million input and output tokens of a model; ``None`` when the table has no usable price for it."""
    entry = (prices or {}).get(upstream_ref) or (prices or {}).get(ANY_MODEL)
    if entry is None:
        return None
    read, written = (amount(entry.get(f"{side}_usd_per_million")) for side in ("input", "output"))
    return None if read is None or written is None else (read, written)


def amount(value: object) -> Decimal | None:
    """The amount of a decimal text; ``None`` when it is none, negative, or has too many digits."""
    if not isinstance(value, str):
        return None
    try:
        number = Decimal(value.strip())
    except InvalidOperation:
        return None
    return number if is_amount(number) else None


def is_amount(number: Decimal) -> bool:
    """Whether a number is finite, not negative, and short enough to be written in plain digits."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or number < 0:
        return False
    return exponent > -AMOUNT_DIGITS and number.adjusted() < AMOUNT_DIGITS


def estimated_tokens(characters: int) -> int:
    """How many tokens a text of this length probably has."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def _at(price: tuple[Decimal, Decimal], input_tokens: int, output_tokens: int) -> Decimal:
    read = _EXACT.multiply(price[0], Decimal(input_tokens))
    written = _EXACT.multiply(price[1], Decimal(output_tokens))
    return _EXACT.divide(_EXACT.add(read, written), _MILLION)
