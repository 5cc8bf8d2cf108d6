"""Actions on saved models."""

from __future__ import annotations

import pytest

from runwatch.records.model import CatalogEntry
from runwatch.view.actions.arms import SAVE


@pytest.mark.parametrize(
    ("allowed", "granted"),
    [(["sandbox", "public"], "public"), (["tenant_internal", "sandbox"], "tenant_internal, sandbox")],
)
def test_a_saved_model_may_be_given_public_data_alone_unless_the_user_says_more(
    allowed: list[str], granted: str
) -> None:
    entry = CatalogEntry({"id": "m_1", "arm_registration_template": {"data_class_grants": allowed}})
    assert SAVE.mutation is not None
    (field,) = [field for field in SAVE.mutation.fields if field.path == "data_class_grants"]
    assert field.start is not None
    assert field.start(entry) == granted
