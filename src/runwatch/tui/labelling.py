"""Writing a label and a note about runs: they stay on this machine, where another console may write about them too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runwatch.tui.widgets.note_editor import NoteEditor
from runwatch.view.drawn import Drawn, line
from runwatch.view.facts import RunFacts
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.store.notes import Purpose
    from runwatch.tui.screens.runs import RunsScreen


def open_editor(screen: RunsScreen, runs: Sequence[RunFacts]) -> None:
    """Let a person write about one run, or give several the same label; why that cannot be is said on the screen."""
    if screen.connected_desk() is None:
        return
    if not runs:
        screen.say("There is no run to write about.", Role.WARN)
        return
    seen = {facts.id: {"label": facts.label, "note": facts.note} for facts in runs}
    note = runs[0].note if len(runs) == 1 else None
    screen.put_over(NoteEditor(line(f"Label of {_about(screen, seen)}"), runs[0].label, note, seen=seen))


async def keep(screen: RunsScreen, message: NoteEditor.Kept) -> None:
    """Write what a person changed, and show it. What another console wrote meanwhile stays, and the person is asked.

    Raises:
        DataError: it cannot be written.
    """
    desk = screen.console.desk
    if desk is None:
        return
    typed: dict[Purpose, str] = {"label": message.label}
    if message.note is not None:
        typed["note"] = message.note
    others: dict[str, dict[str, str]] = {}
    last = ""
    for run_id, seen in message.seen.items():
        for purpose, text in typed.items():
            if text == seen[purpose]:
                continue
            other = await desk.notes.write(desk.scope, "run", run_id, purpose, text, seen=seen[purpose])
            if other is not None:
                others.setdefault(run_id, {**seen})[purpose] = last = other
    screen.read_source()
    if others:
        name, wrote = _about(screen, others), f"wrote '{line(last, 14)}'" if last else "took the text away"
        title = line(f"{name}: another console {wrote}; enter writes over it")
        screen.put_over(NoteEditor(title, message.label, message.note, seen=others, id=None))
    else:
        screen.say("kept on this machine")


def _about(screen: RunsScreen, runs: Mapping[str, object]) -> Drawn:
    return short_id(next(iter(runs)), screen.console.glyphs) if len(runs) == 1 else line(f"{len(runs)} runs")
