"""Actions on output checks."""

from __future__ import annotations

import pytest

from runwatch.records.verifier import Verifier
from runwatch.view.actions.verifiers import TEST


@pytest.mark.parametrize(
    ("connection", "key"),
    [
        ({"status": "active"}, "with the key that is in use"),
        ({"status": "unbound"}, "without a key"),
        ({"status": "revoked"}, "without a key: it was revoked"),
        ({"status": "expired"}, "without a key: its stop date has passed"),
        (None, "with the key that is in use"),
    ],
)
def test_a_test_says_with_which_key_it_calls(connection: dict[str, str] | None, key: str) -> None:
    verifier = Verifier({"verifier_id": "vrf_1", "connection": connection})
    assert TEST.mutation is not None
    assert (
        TEST.mutation.sentence(verifier) == f"Calls the endpoint once with a reserved probe, {key}. No run is touched."
    )
