"""Dialog of a private page: shows its address, lets the user open or copy it, and waits until the page is completed.

The address is a one-time secret. Only this dialog shows it: it is not logged, cached or shown elsewhere, and no key is
ever typed here (manual: interface, "What the service does"). See :mod:`runwatch.view.actions.private_page`.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from runwatch.base.errors import RunwatchError
from runwatch.base.json import dumps
from runwatch.base.secrets.secret import Secret
from runwatch.store.session import ServiceSession
from runwatch.tui.core.messages import WorkerFailed
from runwatch.tui.core.rendering import label_span, to_content
from runwatch.tui.core.workers import start_worker
from runwatch.tui.sources.record_loader import read_object
from runwatch.tui.terminal.redirect_page import open_in_browser
from runwatch.tui.widgets.inputs.button import TextButton
from runwatch.tui.widgets.panes.dialog import BUTTONS, Dialog
from runwatch.tui.widgets.panes.pane import BorderText, Pane
from runwatch.view.actions.private_page import (
    MAX_POLLS,
    POLL_S,
    build_tunnel_command,
    describe_foreign_host,
    explain_browser_refusal,
    find_page_address,
)
from runwatch.view.spec.action import PrivatePageSpec, ResourceAction
from runwatch.view.spec.action_parts import PageProgress, PageResult
from runwatch.view.text.copied_text import copied_unchanged
from runwatch.view.text.format import time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.values import parse_time

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen

Perform = Callable[["ConsoleScreen", Any, ResourceAction[Any]], None]
"""Performs an action on a record for a screen."""

_NO_ADDRESS: Final = "The response has no address; the service gives it only once. Start again to get a new one."


def open_private_page(
    behind: ConsoleScreen,
    session: ServiceSession,
    subject: Any,
    entry: PrivatePageSpec[Any],
    response: Any,
    body: Mapping[str, Any] | None,
    perform: Perform,
) -> None:
    """Open the dialog of a private page; if there is nothing to enter, perform the action that follows it.

    Args:
        behind: The screen that shows the result.
        subject: Its record, or ``None``.
        response: The decoded response with the address.
        perform: Performs that action.
    """
    named = response if isinstance(response, Mapping) else {}
    public = {name: value for name, value in named.items() if name != "continue_url"}
    if entry.keeps is not None:
        kept = entry.keeps(body or {}, public)
        if kept.id:
            text = dumps(dict(kept.facts))
            work = session.notes.write(session.scope, kept.kind, kept.id, "intent", text)
            start_worker(behind, work, "saving the application")
    address = find_page_address(named)
    if address is None and entry.then is not None and entry.progress(public, public).stage == "entered":
        record_id = "" if subject is None else subject.id
        entered = PageResult(record_id, subject, public, public)
        then = entry.next_for(entered)
        assert then is not None
        perform(behind, entered, then)
        return
    secret = None if address is None else Secret(address)
    behind.app.push_screen(PrivatePageDialog(behind, session, subject, entry, public, secret, perform))


class PrivatePageDialog(Dialog[None]):
    """Dialog of one private page.

    Args:
        behind: The screen that shows the result.
        subject: Its record, or ``None``.
        response: The response without the address.
        address: The address; ``None`` if the response had none, as after a retry.
        perform: Performs the action that follows the page.
    """

    AUTO_FOCUS = "#page-leave"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", show=False)]

    def __init__(
        self,
        behind: ConsoleScreen,
        session: ServiceSession,
        subject: Any,
        entry: PrivatePageSpec[Any],
        response: Mapping[str, Any],
        address: Secret | None,
        perform: Perform,
    ) -> None:
        super().__init__(behind.header)
        self._behind: Final = behind
        self._session: Final = session
        self._subject: Final = subject
        self._entry: Final = entry
        self._response: Final = response
        self._address: Final = address
        self._perform: Final = perform
        self._state: Mapping[str, Any] = {}

    def _end_text(self, expires: object) -> SafeText:
        """Return until when the address works; as sent if it is no time."""
        if not isinstance(expires, str):
            return line("")
        at = parse_time(expires)
        shown = line(expires) if at is None else time_of_day(at, self._behind.console.render_context())
        return line(f"works until {shown}")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        entry = self._entry
        age = self._end_text(self._response.get("expires_at"))
        title = line(", ".join(filter(None, ("Private page", entry.step))))
        with Pane(edge=BorderText(title=title, age=age, counters=(label_span("tab moves  esc closes"),))):
            if self._address is None:
                yield Static(to_content(line(_NO_ADDRESS)))
            else:
                said = f"Open this address to {entry.what}. It works once, for anyone who has it."
                yield Static(to_content(line(said, None)))
                yield Static(to_content(line(self._address.reveal(), None), Role.PLAIN), id="page-address")
                tunnel = build_tunnel_command(self._address.reveal(), platform.node())
                if tunnel is not None:
                    yield Static(to_content(line(f"From another machine, first: {tunnel}", None), Role.QUIET))
                foreign = describe_foreign_host(self._session.target, self._address.reveal())
                if foreign is not None:
                    yield Static(to_content(line(foreign), Role.WARN))
                why = explain_browser_refusal(self._address.reveal())
                if why is not None:
                    yield Static(to_content(line(f"Not opened from here: {why}."), Role.WARN))
                yield Static(id="page-browser")
            yield Static(id="page-state")
            with Horizontal(classes=BUTTONS):
                yield TextButton(line("Close"), id="page-leave")
                if self._address is not None:
                    yield TextButton(line("Copy the address"), id="page-copy")
                    if explain_browser_refusal(self._address.reveal()) is None:
                        yield TextButton(line("Open in a browser"), id="page-open")
                if entry.then is not None:
                    yield TextButton(line(entry.then.label), role=Role.LIVE, id="page-then")

    def on_mount(self) -> None:
        for later in self.query("#page-then, #page-browser"):
            later.display = False
        if self._entry.read:
            self._say(PageProgress("waiting", "checking progress"))
            start_worker(self, self._watch(), "checking whether the key was entered")
        else:
            self._say(
                PageProgress("waiting", "the console cannot see when this is done; the screen below shows the result")
            )

    def on_text_button_pressed(self, event: TextButton.Pressed) -> None:
        match event.button.id:
            case "page-copy":
                start_worker(self, self._copy(), "copying the address")
            case "page-open":
                start_worker(self, self._open(), "opening a browser")
            case "page-then":
                self._perform_next()
            case _:
                self.action_leave()

    def on_worker_failed(self, message: WorkerFailed) -> None:
        """Show a worker's error; the address stays valid."""
        message.stop()
        self.query_one("#page-state", Static).update(
            to_content(line(f"{message.name}: {message.error}", None), Role.BAD)
        )

    def action_leave(self) -> None:
        """Close; the address stays valid until it is used or expires."""
        self.dismiss()
        self._behind.action_refresh()

    async def _copy(self) -> None:
        assert self._address is not None
        what = line("address of the private page")
        await self._behind.console.copy_text(copied_unchanged(self._address.reveal()), what, is_secret=True)
        self._say(PageProgress("waiting", "the address was copied; it works once"))

    async def _open(self) -> None:
        """Open the page in a browser from a thread, because that may take long."""
        assert self._address is not None
        console = self._behind.console
        said, role = "Sent to the browser. If no page opens, copy the address into it.", Role.QUIET
        try:
            if console.is_web:
                console.open_url(self._address.reveal())
            else:
                await asyncio.to_thread(open_in_browser, self._address.reveal(), console.launch.paths.data_dir)
        except RunwatchError as error:
            said, role = f"{error}.", Role.WARN
        note = self.query_one("#page-browser", Static)
        note.update(to_content(line(said, None), role))
        note.display = True

    async def _watch(self) -> None:
        """Poll until the page is completed or expired, or the dialog closes."""
        entry, session = self._entry, self._session
        record_id = entry.read_id(self._subject, self._response)
        before: Mapping[str, Any] | None = None
        for _ in range(MAX_POLLS):
            state = await self._read_state(entry.read, record_id)
            if state is not None:
                before = state if before is None else before
                self._state = state
                progress = entry.progress(before, state)
                self._say(progress)
                if progress.stage != "waiting":
                    self._end(progress)
                    return
            await session.clock.sleep(POLL_S)
        self._say(PageProgress("ended", "the page expired; request another one"))

    async def _read_state(self, operation: str, record_id: str) -> Mapping[str, Any] | None:
        """Return the current state; ``None`` if the read failed."""
        try:
            return await read_object(self._session, operation, record_id)
        except RunwatchError as error:
            self._say(PageProgress("waiting", f"cannot read the progress: {error}"))
            return None

    def _end(self, progress: PageProgress) -> None:
        if progress.stage == "entered":
            for button in self.query("#page-then").results(TextButton):
                button.display = True
                button.focus()
        for button in self.query("#page-copy, #page-open").results(TextButton):
            button.display = False

    def _perform_next(self) -> None:
        """Perform the next action with the state read last."""
        subject_id = "" if self._subject is None else self._subject.id
        entered = PageResult(subject_id, self._subject, self._response, self._state)
        then = self._entry.next_for(entered)
        assert then is not None
        self.dismiss()
        self._behind.console.call_later(self._perform, self._behind, entered, then)

    def _say(self, progress: PageProgress) -> None:
        role = {"waiting": Role.LIVE, "entered": Role.GOOD}.get(progress.stage, Role.WARN)
        for note_widget in self.query("#page-state").results(Static):
            note_widget.update(to_content(line(progress.words, None), role))
