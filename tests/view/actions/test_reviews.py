"""Actions on review agents and repositories."""

from __future__ import annotations

import pytest

from runwatch.view.actions.reviews import CONNECT_REPOSITORY


@pytest.mark.parametrize(
    ("repository", "is_suspect"),
    [("", False), ("acme/widgets", False), ("acme", True), ("acme/", True), ("/widgets", True)],
)
def test_a_repository_without_an_owner_is_accepted_with_a_caution(repository: str, *, is_suspect: bool) -> None:
    assert CONNECT_REPOSITORY.mutation is not None
    (field,) = CONNECT_REPOSITORY.mutation.fields
    assert ("it has an owner" in field.caution(repository)) is is_suspect
