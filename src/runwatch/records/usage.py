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

    executions = integer("executions")
    slices = integer("slices")
    input_tokens = integer("input_tokens")
    output_tokens = integer("output_tokens")
    calls = integer("calls")
    usd = amount("usd")
    platform_usd = amount("platform_usd")
    passthrough_usd = amount("passthrough_usd")
    unknown_calls = integer("unknown_calls")
    unknown_token_calls = integer("unknown_token_calls")
    estimated_calls = integer("estimated_calls")


class ArmUsage(Record):
    """The usage of one saved model; the names are not in the specification."""

    arm_id = text("arm_id")
    display_name = text("display_name")
    connection_name = text("connection_name")
    selected_count = integer("selected_count")
    fallback_count = integer("fallback_count")
    input_tokens = integer("input_tokens")
    output_tokens = integer("output_tokens")
    usd = amount("usd")
    unknown_calls = integer("unknown_calls")
    unknown_token_calls = integer("unknown_token_calls")
    estimated_calls = integer("estimated_calls")


class DayUsage(Record):
    date = text("date")
    executions = integer("executions")
    platform_usd = amount("platform_usd")
    passthrough_usd = amount("passthrough_usd")
    usd = amount("usd")
    unknown_calls = integer("unknown_calls")
    estimated_calls = integer("estimated_calls")


class KeyUsage(UsageTotals):
    """The usage of one key; its name is not in the specification."""

    api_key_id = text("api_key_id")
    display_name = text("display_name")
    by_day = many(DayUsage, "by_day")
    top_arms = many(ArmUsage, "top_arms")


class Usage(Record):
    """Runs, tokens and spend of a period, with breakdowns by saved model, day and API key."""

    KIND = "usage"
    WIRE = Wire("/v1/usage", "", "")

    period = one(Period, "period")
    totals = one(UsageTotals, "totals")
    by_arm = many(ArmUsage, "by_arm")
    by_day = many(DayUsage, "by_day")
    by_key = many(KeyUsage, "by_key")
