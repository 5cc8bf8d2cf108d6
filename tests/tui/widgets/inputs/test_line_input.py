"""A one-line input shows that its text goes on."""

from __future__ import annotations

from runwatch.tui.widgets.inputs.line_input import LineInput
from tests.tui.look import Stage, lines_of, running


async def test_a_text_that_goes_on_is_marked_on_that_side() -> None:
    async with running(Stage(field := LineInput()), (80, 20)) as (app, pilot):
        field.styles.width = 12
        field.focus()
        field.value = "run.completed,run.failed"
        for keys, shown in (
            (["home"], "run.complet…"),
            (["end"], "…run.failed"),
            (["left"] * 14, "ted,run.fai…"),
            (["end", *["backspace"] * 14], "run.comple"),
        ):
            await pilot.press(*keys)
            assert lines_of(app)[0].rstrip() == shown
