"""Usage and spend of a period, in US dollars and tokens (manual: interface, "Usage").

``unknown_calls``, ``unknown_token_calls`` and ``estimated_calls`` are not in the specification; see
:mod:`runwatch.records.spend`.
"""

from __future__ import annotations

from runwatch.records.record import Record, Wire, amount, integer, many, one, text


class Period(Record):
    """First and last day, or first and last instant, of a period."""

    start = text("from")
    end = text("to")


class UsageTotals(Record):
    """The sums; ``platform_usd`` and ``passthrough_usd`` are parts of ``usd``."""

    executions = integer()
    slices = integer()
    input_tokens = integer()
    output_tokens = integer()
    calls = integer()
    usd = amount()
    platform_usd = amount()
    passthrough_usd = amount()
    unknown_calls = integer()
    unknown_token_calls = integer()
    estimated_calls = integer()


class ArmUsage(Record):
    """The usage of one saved model; the names are not in the specification."""

    arm_id = text()
    display_name = text()
    connection_name = text()
    selected_count = integer()
    fallback_count = integer()
    input_tokens = integer()
    output_tokens = integer()
    usd = amount()
    unknown_calls = integer()
    unknown_token_calls = integer()
    estimated_calls = integer()


class DayUsage(Record):
    date = text()
    executions = integer()
    platform_usd = amount()
    passthrough_usd = amount()
    usd = amount()
    unknown_calls = integer()
    estimated_calls = integer()


class KeyUsage(UsageTotals):
    """The usage of one key; its name is not in the specification."""

    api_key_id = text()
    display_name = text()
    by_day = many(DayUsage)
    top_arms = many(ArmUsage)


class Usage(Record):
    """Runs, tokens and spend of a period, with breakdowns by saved model, day and API key."""

    KIND = "usage"
    WIRE = Wire("/v1/usage", "", "")

    period = one(Period)
    totals = one(UsageTotals)
    by_arm = many(ArmUsage)
    by_day = many(DayUsage)
    by_key = many(KeyUsage)
