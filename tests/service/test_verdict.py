"""Which answers are verdicts."""

from __future__ import annotations

import pytest

from runwatch.service.checks.verdict import InvalidVerdictError, parse_verdict


@pytest.mark.parametrize(
    "content",
    [
        b'{"is_correct": true, "quality_score": 1}',
        b'{"is_correct": false, "quality_score": 0}',
        b'{"is_correct": false, "quality_score": 0.5, "named_metrics": {}, "anchor_results": {}}',
        b'{"is_correct": true, "quality_score": 0.50, "anchor_results": {"a": false}, "named_metrics": {"n": -3e5}}',
        b' {"quality_score": 1e-3, "is_correct": true, "note": "unknown members pass"} ',
    ],
)
def test_what_keeps_to_the_contract_is_a_verdict(content: bytes) -> None:
    parse_verdict(content)


def test_a_verdict_is_shown_as_it_came() -> None:
    verdict = parse_verdict(b'{"is_correct": true, "quality_score": 0.5, "anchor_results": {"a": true}}')
    assert verdict.to_json() == {"is_correct": True, "quality_score": 0.5, "anchor_results": {"a": True}}


@pytest.mark.parametrize(
    "content",
    [
        b"", b"true", b"[]", b"null", b"\xff", b"{", b"{}", b'{"is_correct": true}', b'{"quality_score": 1}',
        b'{"is_correct": "true", "quality_score": 1}', b'{"is_correct": 1, "quality_score": 1}',
        b'{"is_correct": null, "quality_score": 1}', b'{"is_correct": true, "quality_score": "1"}',
        b'{"is_correct": true, "quality_score": true}', b'{"is_correct": true, "quality_score": null}',
        b'{"is_correct": true, "quality_score": 1.0001}', b'{"is_correct": true, "quality_score": -0.1}',
        b'{"is_correct": true, "quality_score": NaN}', b'{"is_correct": true, "quality_score": Infinity}',
        b'{"is_correct": true, "quality_score": 1e999}',
        b'{"is_correct": true, "quality_score": 1, "anchor_results": null}',
        b'{"is_correct": true, "quality_score": 1, "anchor_results": []}',
        b'{"is_correct": true, "quality_score": 1, "anchor_results": {"a": 1}}',
        b'{"is_correct": true, "quality_score": 1, "named_metrics": {"a": true}}',
        b'{"is_correct": true, "quality_score": 1, "named_metrics": {"a": "1"}}',
        b'{"is_correct": true, "quality_score": 1, "named_metrics": {"a": 1e999}}',
        b'{"is_correct": true, "quality_score": 1} {}',
        b'{"is_correct": false, "quality_score": 1, "is_correct": true}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_anything_else_is_none_and_is_not_repeated(content: bytes) -> None:
    with pytest.raises(InvalidVerdictError) as caught:
        parse_verdict(content)
    assert len(str(caught.value)) < 100
