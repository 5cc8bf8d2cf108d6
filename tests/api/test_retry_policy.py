"""The retry rules, cell by cell (manual: interface, "Retries")."""

from __future__ import annotations

import itertools

import pytest

from runwatch.api.retry_policy import find_retry_wait

METHODS = ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE")
KEYED = (False, True)
PASSING: tuple[tuple[int | None, str | None], ...] = (
    (500, None), (501, None), (502, None), (503, None), (504, None), (599, None),
    (None, "refused"), (None, "timeout"), (None, "reset"), (None, "cut"), (None, "tls"), (None, "dns"),
    (None, "network"),
)  # fmt: skip
LASTING: tuple[tuple[int | None, str | None], ...] = (
    (200, None), (204, None), (302, None), (400, None), (401, None), (403, None), (404, None), (408, None),
    (409, None), (425, None), (429, None), (499, None), (None, "too_large"), (None, "endless"), (None, "untrusted"),
)  # fmt: skip
ATTEMPTS = (1, 2, 3, 4)


def expected(method: str, keyed: bool, passing: bool, attempt: int) -> float | None:
    """The rules once more, as a table: what may be repeated, what is worth it, and how often."""
    if method not in ("GET", "HEAD") and not keyed:
        return None
    return {1: 0.5, 2: 1.0}.get(attempt) if passing else None


def test_every_cell_is_retried_exactly_as_documented() -> None:
    wrong = []
    for method, keyed, attempt in itertools.product(METHODS, KEYED, ATTEMPTS):
        for passing, outcomes in ((True, PASSING), (False, LASTING)):
            for status, lost in outcomes:
                step = find_retry_wait(method, keyed=keyed, attempt=attempt, status=status, lost=lost)
                if step != expected(method, keyed, passing, attempt):
                    wrong.append((method, keyed, attempt, status, lost, step))
    assert not wrong


@pytest.mark.parametrize("chance", [0.0, 0.25, 0.5, 0.999])
@pytest.mark.parametrize(("attempt", "floor"), [(1, 0.5), (2, 1.0), (3, 2.0)])
def test_jitter_only_lengthens_a_wait_and_by_a_quarter_at_most(attempt: int, floor: float, chance: float) -> None:
    wait = find_retry_wait("GET", keyed=False, attempt=attempt, status=503, retries=9, chance=chance)
    assert wait is not None
    assert wait == pytest.approx(floor * (1 + chance / 4))
    assert floor <= wait < floor * 1.25


def test_retries_can_be_switched_off() -> None:
    assert find_retry_wait("GET", keyed=False, attempt=1, lost="reset", retries=0) is None


def test_retries_can_be_more() -> None:
    steps = [find_retry_wait("POST", keyed=True, attempt=attempt, status=500, retries=4) for attempt in range(1, 6)]
    assert steps == [0.5, 1.0, 2.0, 4.0, None]
