"""Editing the text of a field in the user's editor."""

from __future__ import annotations

from collections.abc import Callable

from runwatch.tui.shell.console import Console
from runwatch.tui.terminal.editor import EditorError, edit_text, editor_command
from runwatch.tui.widgets.inputs.text_area import MultilineInput


async def edit_field(console: Console, field: MultilineInput, refused: Callable[[str], object]) -> None:
    """Edit a field's text in the editor; if that fails, ``refused`` gets the reason."""
    environment = console.launch.environment
    try:
        command = editor_command(environment)
        field.take(await edit_text(console, command, field.text, environment))
    except EditorError as error:
        refused(error.sentences)
