"""A usage report names models as lists of runs do."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from runwatch.records.arm import Arm
from runwatch.records.usage import Usage
from runwatch.settings.view_state import ViewState
from runwatch.view.reports.usage import NameLookup, usage_sections
from runwatch.view.text.format import RenderContext


def test_models_with_and_without_a_publisher_have_one_form_of_name() -> None:
    names = {"a1": "river/river-pro", "a2": "cedar-deep"}
    arms = {id: Arm({"arm_id": id, "model_id": model}) for id, model in names.items()}
    usage = Usage({"by_arm": [{"arm_id": id, "usd": Decimal(1), "selected_count": 1} for id in names]})
    context = RenderContext(datetime(2026, 11, 21, tzinfo=UTC))
    sections = usage_sections(usage, NameLookup(arms), lambda *_: 40, context)
    (models,) = [section for section in sections if section.title == "Spend by model"]
    assert [line.label for line in models.lines] == ["river-pro", "cedar-deep"]
    # Receipts name every model with a publisher, so that they are found by their saved models.
    assert models.lines[0].target == ViewState("receipts", filter="arm=a1")
