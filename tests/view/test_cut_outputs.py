"""An output that was cut at a limit of tokens says so on its run and its receipt, and can be filtered for."""

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
def test_a_cut_output_is_a_warning(glyphs: Glyphs) -> None:
    shown = output_end(None, Slice({"finish_reason": "length"}), RenderContext(NOW, glyphs=glyphs))
    assert isinstance(shown, StyledText)
    assert (shown.role, shown.text) == (Role.WARN, f"{glyphs.warn} cut at the limit of output tokens, length")


def test_every_other_reason_is_shown_as_it_came_and_none_not_at_all() -> None:
    assert output_end(None, ReceiptSlice({"finish_reason": "sto\x1bp"}), RenderContext(NOW)) == "sto␛p"
    assert output_end(None, ReceiptSlice({}), RenderContext(NOW)) is None


def test_cut_outputs_are_filtered_for() -> None:
    cut, whole = ({"slices": [{"slice_id": "s", "finish_reason": reason}]} for reason in ("length", "stop"))
    assert [RECEIPTS.flags["cut"](Receipt(raw)) for raw in (cut, whole, {})] == [True, False, False]
