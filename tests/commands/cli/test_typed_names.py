"""Errors name a field as the user typed it: by its option or argument."""

from __future__ import annotations

import sys

import pytest

from runwatch.base.clock import SystemClock
from runwatch.base.paths import find_paths
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.cli.output import CommandOutput
from runwatch.commands.cli.parser import parse_command_line
from runwatch.commands.cli.typed_names import TypedNames


def names(typed: str) -> TypedNames:
    parsed = parse_command_line(typed.split())
    assert parsed.verb is not None
    words = parsed.verb.path
    return TypedNames(
        Invocation(parsed.options, {}, find_paths({}), CommandOutput("table"), SystemClock(), sys.stdin, words)
    )


@pytest.mark.parametrize(
    ("typed", "field", "name"),
    [
        ("runs list --status faild", "status", "--status"),
        ("runs list --filter status=faild", "status", "--filter"),
        ("runs list --status faild --filter x", "status", "--status"),
        ("runs show x", "execution_id", "ID"),
        ("runs submit --mode echo", "routing.required_arm_id", "--arm-id"),
        ("runs submit --data-class a", "policy.data_classes[0]", "--data-class"),
        ("runs submit --from body.json", "policy.budget.max_cost_usd", "policy.budget.max_cost_usd"),
        ("agents register --url u", "endpoint.url", "--url"),
        ("keys create --name x", "display_name", "--name"),
        ("account --top-up 5", "amount_usd", "--top-up"),
        ("templates apply startr", "template_id", "TEMPLATE"),
        ("github connect x", "repository", "REPOSITORY"),
        ("sources connect --anthropic-compatible u", "endpoint.base_url", "--anthropic-compatible"),
        ("sources connect openai_direct", "endpoint.base_url", "--openai-compatible"),
        ("usage --period 7d", "unheard_of", "unheard_of"),
        ("runs list --base-url https://x", "base_url", "base_url"),
    ],
)
def test_a_member_is_named_by_what_sets_it(typed: str, field: str, name: str) -> None:
    assert names(typed).name(field) == name


@pytest.mark.parametrize(
    ("typed", "field", "message", "guess"),
    [
        ("runs list --status faild", "status", "Must be one of completed, failed.", "did you mean 'failed'?"),
        (
            "runs list --filter is:live|status=faild",
            "status",
            "Must be one of completed, failed.",
            "did you mean 'failed'?",
        ),
        ("keys create --role ownr", "role", "Must be 'owner' or 'reader'.", "did you mean 'owner'?"),
        (
            "webhooks create --event a.b --event execution.complet",
            "event_types[1]",
            "Must be 'execution.completed' or 'execution.failed'.",
            "did you mean 'execution.completed'?",
        ),
        ("usage --period 7d", "from", "Must be a date, such as 2026-11-20.", None),
        ("account --top-up 0", "amount_usd", "Must be greater than 0.", None),
    ],
)
def test_the_nearest_value_is_suggested(typed: str, field: str, message: str, guess: str | None) -> None:
    assert names(typed).guess(field, message) == guess
