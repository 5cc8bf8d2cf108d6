"""A value that no row has is answered with the nearest one that some have."""

from __future__ import annotations

import pytest

from runwatch.view.query.parser import parse_filter
from runwatch.view.query.suggested_values import suggest_value
from runwatch.view.resources.registry import resource_named

KNOWN = {"status": ("failed", "completed"), "model": ("ember 7b",)}


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("status=faild", "status=failed"),
        ("cost>0 status:FALED", "status=failed"),
        ("model=ember-7b", 'model="ember 7b"'),
        ("status:fail cost>5", ""),
        ("status=failed", ""),
        ("!status=faild", ""),
        ("status=faild | cost>5", ""),
        ("status=xyzzy", ""),
        ("status:done", "is:done"),
        ("cost>0 Live", "is:live"),
        ("lively", ""),
    ],
)
def test_the_nearest_value_is_named_where_every_match_needs_another(text: str, nearest: str) -> None:
    runs = resource_named("runs")
    term = parse_filter(text, runs).term
    assert suggest_value(term, lambda field: KNOWN.get(field, ()), runs.flags) == nearest
