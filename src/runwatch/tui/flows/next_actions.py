"""Following a next action: performing its operation on the right record, or copying its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runwatch.records.account import Account
from runwatch.records.record import Record
from runwatch.records.source import SourceConnection
from runwatch.records.template import Template
from runwatch.tui.core.workers import run_in_app, start_worker
from runwatch.tui.flows.action_dialog import perform_action
from runwatch.tui.sources.record_loader import load_records
from runwatch.view.resources.registry import resource_named
from runwatch.view.spec.action import ResourceAction
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.templates.next_actions import NextActionTarget, NextStep, find_blocked_connection
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.safe_text import line
from runwatch.view.text.shell_commands import add_service

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen


def follow_next_action(
    screen: ConsoleScreen,
    wanted: NextActionTarget,
    template: Template | None,
    open_plan: Callable[[ConsoleScreen, str], None],
) -> None:
    """Perform the next action that clears a blocker of a template; those of an application are performed on the plan
    screen, which ``open_plan`` opens by the template's id.
    """
    step = wanted.step
    if step is None or step.kind not in {"plan", "record", "make"}:
        text = copied_word(add_service(wanted.text, screen.console.shell_service))
        start_worker(screen, screen.console.copy_text(text, line("next action"), several_lines=True), "copying")
    elif step.kind == "plan":
        open_plan(screen, wanted.template_id)
    else:
        start_worker(screen, _do(screen, wanted, step, template or Template({})), "next action", group="next")


async def _do(screen: ConsoleScreen, wanted: NextActionTarget, step: NextStep, template: Template) -> None:
    spec = resource_named(step.resource)
    session = screen.connected_session()
    if session is None:
        return
    if step.kind == "make":
        making = _action(spec.create_actions, step.operation)
        subject: Record | None = None
        if making is None:
            # Actions that create something from an account are declared as actions on the account.
            making = _action(spec.actions, step.operation)
            subject = next(iter(await load_records(session, Account)), None)
        if making is None:
            _leave_it_to(screen, spec, None)
        else:
            perform_action(screen, subject, making)
        return
    action = _action(spec.actions, step.operation)
    known = await load_records(session, SourceConnection)
    record_id = find_blocked_connection(template, wanted.blocker, known, is_sync=step.is_sync)
    subject = next((connection for connection in known if connection.id == record_id), None)
    if action is None or subject is None:
        _leave_it_to(screen, spec, record_id)
    else:
        perform_action(screen, subject, action)


def _action(actions: tuple[ResourceAction[Any], ...], operation: str) -> ResourceAction[Any] | None:
    return next((each for each in actions if each.mutation is not None and each.mutation.operation == operation), None)


def _leave_it_to(screen: ConsoleScreen, spec: ResourceSpec[Any], record_id: str | None) -> None:
    """Go to the list where the user can choose the record, because the right one is not known."""
    console = screen.console
    if record_id is not None:
        console.call_later(console.open_record, spec.kind, record_id)
        return

    async def go() -> None:
        await console.go_to(spec.name)
        key = console.keys.shown("screen.actions")
        console.notify_user(f"Choose the {spec.singular}; {key} shows what to do.")

    run_in_app(console, go, "next action")
