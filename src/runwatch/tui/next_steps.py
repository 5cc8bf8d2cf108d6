"""Following a next action: the operation that does it, on the record that it means, or a copy of what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runwatch.base.shell import quote_active
from runwatch.records.account import Account
from runwatch.records.record import Record
from runwatch.records.source import SourceConnection
from runwatch.records.template import Template
from runwatch.tui.known import known_records
from runwatch.tui.work import start_work, take_turn
from runwatch.view.drawn import line
from runwatch.view.mutation import Action
from runwatch.view.next_actions import Next, Step, connection_of
from runwatch.view.registry import by_name
from runwatch.view.resource import ResourceSpec

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen


def follow(
    screen: ConsoleScreen, wanted: Next, template: Template | None, open_plan: Callable[[ConsoleScreen, str], None]
) -> None:
    """Do what a next action of a template asks for; what belongs to an application is done by its own screen.

    Args:
        screen: The screen on which a person stands on it.
        wanted: The next action.
        template: The template whose blocker it clears.
        open_plan: Shows the plan of a template, by its id, in front of a screen.
    """
    step = wanted.step
    if step is None or step.kind not in {"plan", "record", "make"}:
        text = quote_active(wanted.text)
        start_work(screen, screen.console.copy_text(text, line("next action"), several_lines=True), "copying")
    elif step.kind == "plan":
        open_plan(screen, wanted.template_id)
    else:
        start_work(screen, _do(screen, wanted, step, template or Template({})), "next action", group="next")


async def _do(screen: ConsoleScreen, wanted: Next, step: Step, template: Template) -> None:
    spec = by_name(step.resource)
    desk = screen.connected_desk()
    if desk is None:
        return
    if step.kind == "make":
        making = _action(spec.makes, step.operation)
        subject: Record | None = None
        if making is None:
            # What is made of an account stands among what can be done with it.
            making = _action(spec.actions, step.operation)
            subject = next(iter(await known_records(desk, Account)), None)
        if making is None:
            _leave_it_to(screen, spec, None)
        elif subject is None:
            screen.console.perform(screen, None, making)
        else:
            screen.console.perform(screen, subject, making)
        return
    action = _action(spec.actions, step.operation)
    known = [one for one in await known_records(desk, SourceConnection) if isinstance(one, SourceConnection)]
    record_id = connection_of(template, wanted.blocker, known, is_sync=step.is_sync)
    subject = next((one for one in known if one.id == record_id), None)
    if action is None or subject is None:
        _leave_it_to(screen, spec, record_id)
    else:
        screen.console.perform(screen, subject, action)


def _action(actions: tuple[Action[Any], ...], operation: str) -> Action[Any] | None:
    return next((each for each in actions if each.mutation is not None and each.mutation.operation == operation), None)


def _leave_it_to(screen: ConsoleScreen, spec: ResourceSpec[Any], record_id: str | None) -> None:
    """Go to the list where a person finds the record, because it is not clear which one is meant."""
    console = screen.console
    if record_id is not None:
        console.call_later(console.open_record, spec.kind, record_id)
        return

    async def go() -> None:
        await console.go_to(spec.name)
        key = console.keys.shown("screen.actions")
        console.notify_user(f"Choose the {spec.singular}; {key} shows what to do.")

    take_turn(console, go, "next action")
