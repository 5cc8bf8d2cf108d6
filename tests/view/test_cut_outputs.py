"""The run and the receipt of an incomplete output say so, and a filter finds cut ones."""

from __future__ import annotations

import pytest

from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.records.run import Slice
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, UNICODE, Glyphs, Role
from runwatch.view.text.member_format import output_end
from runwatch.view.text.styled_text import StyledText
from tests.view.strategies import NOW


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("length", "cut at the limit of output tokens, length"),
        ("content_filter", "stopped by the provider's content filter, content_filter"),
        ("tool_calls", "a call of tools, which the service does not carry out, tool_calls"),
        ("empty", "empty"),
    ],
)
def test_an_output_that_is_no_whole_answer_is_a_warning(glyphs: Glyphs, reason: str, said: str) -> None:
    shown = output_end(None, Slice({"finish_reason": reason}), RenderContext(NOW, glyphs=glyphs))
    assert isinstance(shown, StyledText)
    assert (shown.role, shown.text) == (Role.WARN, f"{glyphs.warn} {said}")


def test_every_other_reason_is_shown_as_it_came_and_none_not_at_all() -> None:
    assert output_end(None, ReceiptSlice({"finish_reason": "sto\x1bp"}), RenderContext(NOW)) == "sto␛p"
    assert output_end(None, ReceiptSlice({}), RenderContext(NOW)) is None


def test_cut_outputs_are_filtered_for() -> None:
    cut, whole = ({"slices": [{"slice_id": "s", "finish_reason": reason}]} for reason in ("length", "stop"))
    assert [RECEIPTS.flags["cut"](Receipt(raw)) for raw in (cut, whole, {})] == [True, False, False]
