"""``sources connect``: from an address and a key to a usable model, step by step (manual: interface, "Sources,
connections and credential handoffs").

Steps: handoff, private entry, connection, test, models, saved model. Each is reported on stderr when done. For a source
that is already connected, its connection is kept and updated from the options. A new connection whose test fails, or
whose first model is refused, is removed again; if another step fails, what was created stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from runwatch.api.errors import ApiError, ApiProblem
from runwatch.base.closest_word import closest_words, did_you_mean
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.secrets.secret import Secret
from runwatch.commands.cli.error_report import report_error
from runwatch.commands.cli.exit_codes import NOT_PERMITTED, REFUSED, SUCCESS, exit_code
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.models import KNOWN, SAVE, ask_data_classes, print_outcome, with_data_classes
from runwatch.commands.shared.list_reader import read_all
from runwatch.commands.shared.record_printer import print_record
from runwatch.commands.shared.record_reader import read_one
from runwatch.commands.shared.secret_entry import read_secret
from runwatch.commands.shared.session import CommandSession, run_in_session
from runwatch.commands.shared.source_connections import (
    HANDOFF,
    READ,
    announce_test,
    complete_handoff,
    connect_with_handoff,
    give_tested_key,
    replace_key,
    sync_models,
    test_connection,
)
from runwatch.commands.shared.source_request import ANY_MODEL, SourceRequest, parse_source_options
from runwatch.commands.shared.writes import require_write_access, send_write
from runwatch.records.arm import Arm
from runwatch.records.model import CatalogEntry, Deployment, SyncedModels
from runwatch.records.problem import NOT_OFFERED_STATUS
from runwatch.records.record import Record
from runwatch.records.source import KEYLESS, SourceConnection, SourceProfile, find_connected
from runwatch.view.actions.fields import DEFAULT_DATA_CLASS
from runwatch.view.actions.sources import describe_missing_models, first_scheme
from runwatch.view.problems.source_failures import explain_failure
from runwatch.view.resources.sources import SOURCES
from runwatch.view.text.safe_text import line

DISCONNECT: Final = "deleteSourceConnectionsByConnectionId"
EDIT: Final = "patchArmsByArmId"

SOURCE_REPORTED: Final = "source_reported"
"""Pricing basis of a model whose price the source lists itself."""

_REFUSALS: Final = (REFUSED, NOT_PERMITTED)
"""Exit codes of a write that changed nothing."""

R = TypeVar("R", bound=Record)

MAX_LISTED_MODELS: Final = 5
"""Most models that a message names."""


def connect(call: Invocation) -> int:
    """``sources connect``: connect a source, test it, read its models, and save the intended one."""
    request = parse_source_options(call)
    choice = require_write_access(call, HANDOFF)
    key = None if request.auth_scheme == KEYLESS else read_secret(call, request.name)
    data_classes = ask_data_classes(call)
    check_data_classes(request, data_classes)

    async def work(session: CommandSession) -> int:
        return await _SourceSetup(session, await _with_scheme(session, request), key, data_classes).run()

    return run_in_session(call, work, choice)


def check_data_classes(request: SourceRequest, data_classes: Sequence[str] | None) -> None:
    """Refuse data classes that the local service does not grant at the address, before anything is sent.

    Raises:
        UsageError: One is not allowed.
    """
    if request.base_url is None:
        return
    from runwatch.records.requests.source import is_private_host

    allowed = KNOWN if is_private_host(urlsplit(request.base_url).hostname or "") else (DEFAULT_DATA_CLASS,)
    for name in data_classes or ():
        if name not in allowed:
            raise UsageError(
                f"A model at this address cannot be granted the data class '{name}'",
                detail=f"it can be granted {', '.join(allowed)}",
                hint="Nothing was sent. Name one of these with --data-class, or leave it out.",
            )


async def _with_scheme(session: CommandSession, request: SourceRequest) -> SourceRequest:
    """Return the request with the source's auth scheme: a key if the source accepts one."""
    if request.auth_scheme is not None:
        return request
    profiles = await read_all(session, SourceProfile)
    profile = next((known for known in profiles if known.id == request.source_id), None)
    if profile is None:
        raise RunwatchError(
            f"The service knows no source '{request.source_id}'",
            detail=did_you_mean(request.source_id, [known.id for known in profiles]),
            hint="'runwatch sources list --available' shows the sources.",
        )
    return replace(request, auth_scheme=first_scheme(profile))


class Step(IntEnum):
    """The steps that are reported, in their order."""

    AUTHORISE = 1
    CONNECT = 2
    TEST = 3
    READ_MODELS = 4
    SAVE = 5


class _SourceSetup:
    """The steps after the key, each reported when done."""

    def __init__(
        self, session: CommandSession, request: SourceRequest, key: Secret | None, data_classes: list[str] | None
    ) -> None:
        self._session = session
        self._request = request
        self._key = key
        self._data_classes = data_classes
        # The connection found before the first step; without one, a new connection is made.
        self._known: SourceConnection | None = None
        self._connection: SourceConnection | None = None
        # Whether this command tested it.
        self._is_tested = False
        self._arms: list[Any] = []
        # How far it came: its models are read, or it is known which of them to save.
        self._step = Step.AUTHORISE

    async def run(self) -> int:
        """Take all steps, and print the result even if one fails."""
        try:
            code = await self._take_steps()
        except RunwatchError as error:
            if self._connection is None:
                raise
            code = report_error(error, self._session.call.output)
            if self._known is None and self._step is Step.SAVE and not self._arms and code in _REFUSALS:
                await self._remove(self._connection)
            else:
                await self._read_again()
        else:
            if self._step >= Step.READ_MODELS:
                await self._read_again()
        self._print()
        return code

    async def _take_steps(self) -> int:
        self._known = await self._find_connected()
        code = await (self._connect() if self._known is None else self._use(self._known))
        if code != SUCCESS:
            return code
        prices = None if self._known is None else self._new_prices(self._known)
        synced = await self._read_models(prices)
        if synced is None:
            return REFUSED
        self._step = Step.READ_MODELS
        served = [model for model in synced.deployments or () if model.status == "listed"]
        self._report(Step.READ_MODELS, self._describe_served(served, has_list=synced.list_failure is None))
        for words in describe_missing_models(synced):
            self._report_more(words)
        if prices is not None:
            await self._read_again()
        self._report_prices(served, has_new=prices is not None)
        return await self._save(served)

    @property
    def _current(self) -> SourceConnection:
        """The connection, after the steps that make or find it."""
        assert self._connection is not None
        return self._connection

    def _note(self, text: str) -> None:
        self._session.call.output.note(text)

    def _report(self, step: Step, text: str) -> None:
        self._note(f"{step} of {len(Step)}  {text}")

    def _report_more(self, text: str) -> None:
        """Add a line to the last step reported."""
        self._note(f"        {text}")

    async def _read_again(self) -> None:
        """Read the connection again after a step that may have changed it; if that fails, keep what was known."""
        with contextlib.suppress(ApiError):
            self._connection = await read_one(self._session, READ, self._current.id, SourceConnection)

    async def _find_connected(self) -> SourceConnection | None:
        """Return an open connection to the same source and address, regardless of its name and key.

        Only another explicit name makes it a different one. Of several, the newest usable one is chosen.
        """
        request, options = self._request, self._session.call.options
        known = await _listed(self._session, SourceConnection)
        found = find_connected(known, request.source_id, request.base_url, options.protocol)
        named = [connection for connection in found if options.name in {None, connection.display_name}]
        if found and not named:
            other = f"{found[0].id}, '{line(found[0].display_name)}'"
            self._note(
                f"another connection than {other}, because it has another --name; without --name that one is used"
            )
        return named[0] if named else None

    async def _connect(self) -> int:
        session, request = self._session, self._request
        assert request.auth_scheme is not None
        if request.auth_scheme == KEYLESS and session.call.options.auth_scheme is None:
            self._note("no key is sent to a server on this machine; --key-stdin gives one")
        handoff = await complete_handoff(session, request.source_id, request.auth_scheme, request.endpoint, self._key)
        self._report(Step.AUTHORISE, "authorised")
        made = await connect_with_handoff(
            session, handoff, request.name, request.source_id, request.auth_scheme, label=f"connect {request.name}"
        )
        self._connection = made
        self._report(Step.CONNECT, f"connected as {made.id}")
        return await self._test_new(made)

    async def _use(self, known: SourceConnection) -> int:
        """Use an existing connection: give it the key of this invocation, if any, and test it.

        A connection that was never tested was left by an interrupted command. It is treated as new, so a failed test
        removes it.
        """
        session, request = self._session, self._request
        self._connection = known
        self._report(Step.CONNECT, f"already connected as {known.id}")
        scheme = request.auth_scheme if self._key is not None else session.call.options.auth_scheme
        is_other = self._key is not None or scheme not in {None, known.auth_scheme}
        # A service of another kind makes a second connection of a second request; its own way to change a key is to
        # rotate it, which leaves the connection untested until the test below.
        if is_other and known.is_usable and session.client.target.socket is not None:
            return await self._give_tested_key(known, scheme or KEYLESS)
        if is_other:
            assert scheme is not None
            await replace_key(session, known.id, request.source_id, scheme, known.handoff_endpoint, self._key)
            self._report_key(scheme)
        elif known.is_usable and (names := self._untested(known)):
            self._report(Step.TEST, f"tested before; now only {' and '.join(map(line, names))} will be called")
            return SUCCESS
        elif known.is_usable and (session.call.options.model or self._new_prices(known) is not None):
            self._report(Step.TEST, "tested before; no model is called")
            return SUCCESS
        announce_test(session, known)
        if known.raw.get("test_state") == "untested" and known.raw.get("last_tested_at") is None:
            return await self._test_new(known)
        return await self._test(known)

    async def _give_tested_key(self, known: SourceConnection, scheme: str) -> int:
        """Give a working connection the key of this invocation, unless the service's test with it fails."""
        announce_test(self._session, known)
        given = await give_tested_key(self._session, known, scheme, self._key)
        if isinstance(given, str):
            self._report(Step.TEST, given)
            return REFUSED
        self._connection, self._is_tested = given, True
        self._report_key(scheme)
        self._report_pass()
        return SUCCESS

    def _report_key(self, scheme: str) -> None:
        self._report_more("it has the key of this call" if scheme != KEYLESS else "it is called without a key")

    async def _test_new(self, connection: SourceConnection) -> int:
        """Test a connection that was never tested; remove it if the test fails or the source cannot be reached."""
        try:
            code = await self._test(connection, is_new=True)
        except ApiProblem as error:
            if error.code != "upstream_unavailable":
                raise
            await self._read_again()
            self._report_failure(is_kept=False)
            code = exit_code(error)
        if code != SUCCESS:
            await self._remove(connection)
        return code

    async def _test(self, connection: SourceConnection, *, is_new: bool = False) -> int:
        self._connection = await test_connection(self._session, connection.id)
        self._is_tested = True
        if self._connection.is_usable:
            self._report_pass()
            return SUCCESS
        self._report_failure(is_kept=not is_new)
        return REFUSED

    async def _remove(self, connection: SourceConnection) -> None:
        await send_write(self._session, DISCONNECT, f"disconnect {connection.id}", record_id=connection.id)
        self._connection = None
        self._note("The connection and its key were removed. Correct this and connect again.")

    def _report_pass(self) -> None:
        failed = self._current.failed_models or ()
        but = f", but not for {len(failed)} of its models" if failed else ""
        self._report(Step.TEST, f"the test passed{but}{self._address_text()}")
        for model in failed:
            self._report_more(f"{model.model}: {line(model.why)}")

    def _report_failure(self, *, is_kept: bool) -> None:
        why, advice = explain_failure(self._current, is_kept=is_kept)
        self._report(Step.TEST, f"the test failed: {why}{self._address_text()}")
        self._report_more(advice)

    def _address_text(self) -> str:
        address = (self._current.endpoint or {}).get("base_url")
        return f", at {address}" if address else ""

    def _new_prices(self, known: SourceConnection) -> dict[str, Any] | None:
        """Return the requested prices if they differ from those of the connection."""
        prices: dict[str, Any] | None = (self._request.endpoint or {}).get("prices")
        had = (known.endpoint or {}).get("prices")
        had = had if isinstance(had, Mapping) else {}
        is_same = prices is not None and all(_amounts(had.get(name)) == _amounts(usd) for name, usd in prices.items())
        return None if is_same else prices

    def _untested(self, connection: SourceConnection) -> list[str]:
        """Return the models of this call that still have to be called: new ones, and ones that failed an older test."""
        if self._request.base_url is None:
            return []
        failed = [model.model for model in connection.failed_models or ()]
        named = (connection.endpoint or {}).get("models") or ()
        known = [*named, *failed] if self._is_tested else [name for name in named if name not in failed]
        asked = dict.fromkeys(self._session.call.options.model or ())
        return [name for name in asked if not {name, f"{name}:latest"} & set(known)]

    async def _read_models(self, prices: Mapping[str, Any] | None) -> SyncedModels | None:
        """Read the models; ``None`` if a named model failed its test.

        Named models that were never tested are called first; if one fails, the prices are not changed either.
        """
        connection = self._current
        try:
            return await sync_models(self._session, connection.id, self._untested(connection), prices)
        except ApiProblem as error:
            why = next((entry.message for entry in error.problem.errors or () if entry.field == "models"), None)
            if why is None:
                raise
        self._report(Step.READ_MODELS, line(why))
        self._report_more(f"{connection.id} and its models stay as they were; connect again with another --model")
        return None

    def _describe_served(self, served: list[Deployment], *, has_list: bool) -> str:
        """Describe which models answered by their names in this call and how many others the connection serves.

        Args:
            has_list: Whether the source's list was read, so that "no others" is known.
        """
        connection = self._current
        called = self._untested(connection)
        if self._is_tested:
            failed = {model.model for model in connection.failed_models or ()}
            called += [name for name in (connection.endpoint or {}).get("models") or () if name not in failed]
        by_name = [line(model.upstream_ref or model.id) for model in _named(called, served)]
        others = len(served) - len(by_name)
        kept = f"the connection has {others or 'no'} {'other' if by_name else 'model'}{'s' * (others != 1)}"
        more = f" and {len(by_name) - MAX_LISTED_MODELS} more" if len(by_name) > MAX_LISTED_MODELS else ""
        answered = f"{', '.join(by_name[:MAX_LISTED_MODELS])}{more} answered by name"
        if by_name and not others and not has_list:
            return answered
        return f"{answered}, and {kept}" if by_name else kept

    def _report_prices(self, served: list[Deployment], *, has_new: bool) -> None:
        """Say that new prices are set, or what runs cost without a price.

        Raises:
            RunwatchError: A model has no price although new ones were given.
        """
        connection = self._current
        own = (connection.endpoint or {}).get("prices") or {}
        unpriced = [
            model
            for model in served
            if model.pricing_basis != SOURCE_REPORTED and not {ANY_MODEL, model.upstream_ref} & set(own)
        ]
        if has_new and unpriced:
            raise RunwatchError(
                "The service did not accept the prices",
                detail=f"{unpriced[0].upstream_ref or unpriced[0].id} has no price",
                hint=f"Connect again after: {self._session.call.command('sources disconnect', connection.id)}",
            )
        if has_new:
            self._report_more("it has the new prices")
        elif unpriced:
            counted = "counted as 0 USD (estimated)" if connection.auth_scheme == KEYLESS else "unknown"
            self._report_more(
                f"no price is known, so the cost of its runs is {counted}; connect again with --price-input USD"
                " and --price-output USD"
            )

    async def _save(self, served: list[Deployment]) -> int:
        """Save the models named by the options, or the only one that is served."""
        asked = self._session.call.options.model or ()
        failed = {model.model for model in self._current.failed_models or ()} if self._is_tested else set()
        missed = [name for name in dict.fromkeys(asked) if name in failed]
        found = _named(asked, served) if asked else served
        wanted = [model for model in found if model.upstream_ref not in missed]
        if asked and not wanted and not missed:
            names = [model.upstream_ref or model.id for model in served]
            near = closest_words(asked[0], names, MAX_LISTED_MODELS) or names[:MAX_LISTED_MODELS]
            raise RunwatchError(
                f"It serves no model {', '.join(asked)}",
                detail=f"it serves {', '.join(near)}" if near else None,
                hint="'runwatch models list' shows all.",
            )
        is_chosen = bool(asked) or len(wanted) == 1
        if is_chosen:
            self._step = Step.SAVE
        saved = [arm for arm in await _listed(self._session, Arm) if arm.status != "disabled"]
        arms = {str(arm.model_deployment_id): arm for arm in reversed(saved)}
        if not is_chosen:
            self._report_unchosen(wanted, [model for model in wanted if model.id not in arms])
            return SUCCESS
        await self._save_models(wanted, arms)
        for name in missed:
            self._report(Step.SAVE, f"{line(name)} is not saved, because its test failed")
        return REFUSED if missed else SUCCESS

    def _report_unchosen(self, wanted: Sequence[Deployment], unsaved: Sequence[Deployment]) -> None:
        """Name the commands that save models, of which the options chose none."""
        count = len(wanted) - len(unsaved)
        if wanted and not unsaved:
            self._report(Step.SAVE, f"all {count} models are saved already")
            return
        already = f"; {count} {'is' if count == 1 else 'are'} saved already" if count else ""
        self._report(Step.SAVE, f"no model saved, because --model did not say which{already}")
        for model in unsaved[:MAX_LISTED_MODELS]:
            name = line(model.upstream_ref or model.model_key or "it")
            self._report_more(f"to save {name}: {self._session.call.command('models save', model.id)}")
        if len(unsaved) > MAX_LISTED_MODELS:
            self._report_more(f"and {len(unsaved) - MAX_LISTED_MODELS} more; 'runwatch models list' shows all")

    async def _save_models(self, wanted: Sequence[Deployment], arms: Mapping[str, Arm]) -> None:
        """Save models, and grant the data classes of this call to those that are saved already.

        Args:
            arms: Saved models by the id of what they were saved from.
        """
        entries = {entry.id: entry for entry in await read_all(self._session, CatalogEntry)}
        for model in wanted:
            arm = arms.get(model.id)
            if arm is None:
                await self._save_model(model, entries.get(model.id))
            else:
                self._report(Step.SAVE, f"{model.upstream_ref or model.id} is already saved as {arm.id}")
                self._arms.append(await self._grant(arm))
        if len(self._arms) == 1 and isinstance(self._arms[0], dict):
            self._report_run(Arm(self._arms[0]))

    async def _save_model(self, model: Deployment, entry: CatalogEntry | None) -> None:
        if entry is None:
            raise RunwatchError("The catalog does not list the model", detail=model.id)
        body = with_data_classes(self._session.call, entry, self._data_classes, is_known=bool(self._arms))
        arm = await send_write(self._session, SAVE, f"save {model.id}", body=body)
        self._arms.append(arm)
        saved = arm.get("arm_id") if isinstance(arm, dict) else None
        self._report(Step.SAVE, f"saved {model.upstream_ref or model.id} as {saved}")

    async def _grant(self, arm: Arm) -> Any:
        """Grant the data classes of this call to a saved model, and return it."""
        granted = [str(name) for name in arm.data_class_grants or ()]
        added = [name for name in dict.fromkeys(self._data_classes or ()) if name not in granted]
        if not added:
            return dict(arm.raw)
        body = {"data_class_grants": [*granted, *added]}
        changed = await send_write(self._session, EDIT, f"change {arm.id}", record_id=arm.id, body=body)
        self._report_more(f"runs may give it {', '.join(added)} data too")
        return changed

    def _report_run(self, arm: Arm) -> None:
        """Name the command that runs exactly this model, because others may be saved under the same name."""
        granted = next(iter(arm.data_class_grants or ()), "public")
        options = {"mode": "live", "arm_id": arm.id, "data_class": granted, "max_cost_usd": "0.10"}
        command = self._session.call.command(
            "runs submit", **options, max_runtime_s="300", objective="Name three rivers", watch=True
        )
        self._report_more(f"to run it: {command}")

    def _print(self) -> None:
        output, connection = self._session.call.output, self._connection
        if output.is_json:
            value = {"connection": connection and dict(connection.raw), "arms": self._arms}
            output.json(value, indent=2 if output.form == "json" else None)
        elif connection is not None:
            print_record(self._session, SOURCES, connection)
            for arm in self._arms:
                output.text("\n")
                print_outcome(self._session, arm)


async def _listed(session: CommandSession, kind: type[R]) -> list[R]:
    """Return all records of a kind; empty if the service does not offer the list."""
    try:
        return await read_all(session, kind)
    except ApiProblem as error:
        if error.status not in NOT_OFFERED_STATUS:
            raise
        return []


def _amounts(price: object) -> dict[str, Decimal] | None:
    if not isinstance(price, Mapping):
        return None
    try:
        return {str(name): Decimal(str(usd)) for name, usd in price.items()}
    except InvalidOperation:
        return None


def _named(names: Sequence[str], served: list[Deployment]) -> list[Deployment]:
    """Return the models with these names, in their order; a name without a tag also matches the tag ``latest``."""
    found: dict[str, Deployment] = {}
    for name in names:
        for model in served:
            if {model.upstream_ref, model.model_key} & {name, f"{name}:latest"}:
                found.setdefault(model.id, model)
    return list(found.values())
