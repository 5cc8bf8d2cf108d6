"""``sources connect``: from an address and a key to a usable model, step by step (manual: interface, "Sources,
connections and credential handoffs").

Steps: handoff, private entry, connection, test, models, saved model. Each is reported on stderr when done. For a source
that is already connected, its connection is kept and updated from the options. A new connection whose test fails, or
whose first model is refused, is removed again; if another step fails, what was created stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from runwatch.api.errors import ApiError, ApiProblem
from runwatch.base.closest_word import closest_words, did_you_mean
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.network.service_target import may_be_loopback
from runwatch.base.secrets.secret import Secret
from runwatch.base.shell_words import quote_word
from runwatch.commands.cli.error_report import report_error
from runwatch.commands.cli.exit_codes import NOT_PERMITTED, REFUSED, SUCCESS, exit_code
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.models import KNOWN, SAVE, ask_data_classes, print_outcome, with_data_classes
from runwatch.commands.shared.list_reader import NOT_OFFERED, read_all
from runwatch.commands.shared.record_printer import print_record
from runwatch.commands.shared.record_reader import parse_record_of_kind, read_one
from runwatch.commands.shared.secret_entry import enter_secret, read_secret
from runwatch.commands.shared.session import CommandSession, run_in_session
from runwatch.commands.shared.writes import merge_options, require_write_access, send_write
from runwatch.records.arm import Arm
from runwatch.records.model import CatalogEntry, Deployment, SyncedModels
from runwatch.records.named_models import NAMED_MODELS
from runwatch.records.record import Record
from runwatch.records.source import KEYLESS, Handoff, SourceConnection, SourceProfile, find_connected
from runwatch.view.actions.fields import DEFAULT_DATA_CLASS
from runwatch.view.actions.private_page import handoff_progress
from runwatch.view.actions.sources import describe_missing_models, first_scheme
from runwatch.view.problems.source_failures import explain_failure
from runwatch.view.resources.sources import SOURCES
from runwatch.view.text.safe_text import line

HANDOFF: Final = "postSourceCredentialHandoffs"
READ_HANDOFF: Final = "getSourceCredentialHandoffsByHandoffIntentId"
CONNECT: Final = "postSourceConnections"
READ: Final = "getSourceConnectionsByConnectionId"
TEST: Final = "postSourceConnectionsByConnectionIdTest"
ROTATE: Final = "postSourceConnectionsByConnectionIdRotate"
DISCONNECT: Final = "deleteSourceConnectionsByConnectionId"
EDIT: Final = "patchArmsByArmId"
SYNC: Final = "postSourceConnectionsByConnectionIdDeploymentsSync"

COMPATIBLE: Final[Mapping[str, tuple[str, str]]] = {
    "openai_compatible": ("openai_compatible", "openai_chat"),
    "anthropic_compatible": ("anthropic_compatible", "anthropic_messages"),
}
"""Source and protocol of servers at custom addresses, by the option for the address. The source ids are not in the
specification.
"""

SOURCE_REPORTED: Final = "source_reported"
"""Pricing basis of a model whose price the source lists itself."""

ANY_MODEL: Final = "*"
"""The name of every model in a table of prices."""

_REFUSALS: Final = (REFUSED, NOT_PERMITTED)
"""Exit codes of a write that changed nothing."""

R = TypeVar("R", bound=Record)

NAMED: Final = 5
"""Maximum number of models to list if the user named none."""


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """What to connect.

    Attributes:
        auth_scheme: Auth scheme; ``None`` for the source's default.
        endpoint: Address, protocol and prices, for a source without an address of its own.
        name: Name for a new connection.
    """

    source_id: str
    auth_scheme: str | None
    endpoint: dict[str, Any] | None
    name: str

    @property
    def base_url(self) -> str | None:
        """The address, for a source without one of its own."""
        return None if self.endpoint is None else self.endpoint.get("base_url")


def connect(call: Invocation) -> int:
    """``sources connect``: connect a source, test it, read its models, and save the intended one."""
    request = parse_source_options(call)
    choice = require_write_access(call, HANDOFF)
    key = None if request.auth_scheme == KEYLESS else read_secret(call, request.name)
    data_classes = ask_data_classes(call)
    check_data_classes(request, data_classes)

    async def work(session: CommandSession) -> int:
        return await _Connecting(session, await _with_scheme(session, request), key, data_classes).go()

    return run_in_session(call, work, choice)


def parse_source_options(call: Invocation) -> SourceRequest:
    """Read the source from the options.

    Raises:
        UsageError: They name no source or several, only one price, or too many models.
    """
    options = call.options
    if len(set(options.model or ())) > NAMED_MODELS:
        raise UsageError(
            f"--model may be given at most {NAMED_MODELS} times", hint="Connect again for the other models."
        )
    addresses = {name: options[name] for name in COMPATIBLE if options[name] is not None}
    if len(addresses) + (options.source is not None) != 1:
        raise UsageError(
            "Name one source: SOURCE, --openai-compatible URL or --anthropic-compatible URL",
            hint="'runwatch sources list --available' shows the sources.",
        )
    prices = _prices(call)
    if not addresses:
        priced = {"prices": prices} if prices else None
        return SourceRequest(options.source, options.auth_scheme, priced, options.name or options.source)
    ((kind, url),) = addresses.items()
    source_id, protocol = COMPATIBLE[kind]
    parts = urlsplit(url)
    host = parts.hostname or ""
    scheme = options.auth_scheme or ("api_key" if options.key_stdin or options.key_command else None)
    if scheme is None and may_be_loopback(host):
        scheme = KEYLESS
    endpoint: dict[str, Any] = {"base_url": url, "protocol_profile": options.protocol or protocol}
    if prices:
        endpoint["prices"] = prices
    if options.model:
        endpoint["models"] = list(dict.fromkeys(options.model))
    return SourceRequest(source_id, scheme or "api_key", endpoint, options.name or parts.netloc.rpartition("@")[2])


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


def _prices(call: Invocation) -> dict[str, Any] | None:
    """Return the price for every model of the source, in US dollars per million tokens, as decimal text."""
    given, taken = call.options.price_input, call.options.price_output
    if (given is None) != (taken is None):
        raise UsageError("--price-input and --price-output go together", hint="Give both, or none.")
    if given is None:
        return None
    for text in (given, taken):
        whole, _, part = text.partition(".")
        if not (whole.isascii() and whole.isdigit() and (part or "0").isascii() and (part or "0").isdigit()):
            raise UsageError(
                f"'{text}' is not a price", hint="A price is a decimal number of US dollars, such as 0.25."
            )
    return {ANY_MODEL: {"input_usd_per_million": given, "output_usd_per_million": taken}}


async def _with_scheme(session: CommandSession, request: SourceRequest) -> SourceRequest:
    """Return the request with the source's auth scheme: a key if the source accepts one."""
    if request.auth_scheme is not None:
        return request
    profiles = await read_all(session, SourceProfile)
    profile = next((one for one in profiles if one.id == request.source_id), None)
    if profile is None:
        raise RunwatchError(
            f"The service knows no source '{request.source_id}'",
            detail=did_you_mean(request.source_id, [one.id for one in profiles]),
            hint="'runwatch sources list --available' shows the sources.",
        )
    return replace(request, auth_scheme=first_scheme(profile))


async def complete_handoff(
    session: CommandSession, source_id: str, auth_scheme: str, endpoint: Mapping[str, Any] | None, key: Secret | None
) -> Handoff:
    """Enter a key for a source, and return the completed handoff.

    Raises:
        RunwatchError: The handoff ended without a key.
        ApiError: A step failed.
    """
    body = merge_options({"source_id": source_id, "auth_scheme": auth_scheme}, {"endpoint": endpoint})
    begun = parse_record_of_kind(Handoff, await send_write(session, HANDOFF, f"key for {source_id}", body=body))
    if begun.raw.get("state") == "completed":
        return begun
    latest: list[Handoff] = []

    async def is_done() -> bool:
        latest[:] = [await read_one(session, READ_HANDOFF, begun.id, Handoff)]
        progress = handoff_progress({}, latest[0].raw)
        if progress.stage == "ended":
            raise RunwatchError("No key was entered", detail=progress.words, hint="Try again.")
        return progress.stage == "entered"

    await enter_secret(session, dict(begun.raw), key, is_done)
    if not latest and not await is_done():
        raise RunwatchError("The service did not accept the key", detail=f"the handoff is {latest[0].state}")
    return latest[0]


async def replace_key(
    session: CommandSession,
    connection_id: str,
    source_id: str,
    auth_scheme: str,
    endpoint: Mapping[str, Any] | None,
    key: Secret | None,
) -> None:
    """Enter a key for a source, and give it to a connection in place of the one it has.

    Raises:
        RunwatchError: The handoff ended without a key.
        ApiError: A step failed.
    """
    handoff = await complete_handoff(session, source_id, auth_scheme, endpoint, key)
    body = {"handoff_intent_id": handoff.id}
    await send_write(session, ROTATE, f"another key for {connection_id}", record_id=connection_id, body=body)


async def give_tested_key(
    session: CommandSession, known: SourceConnection, scheme: str, key: Secret | None
) -> SourceConnection | str:
    """Give a working connection of the local service another key, which the service tests first.

    Returns:
        The connection with the key; or why the test failed, which leaves the connection as it was.

    Raises:
        RunwatchError: The handoff ended without a key.
        ApiError: A step failed.
    """
    source_id = known.source_id or ""
    handoff = await complete_handoff(session, source_id, scheme, known.handoff_endpoint, key)
    body = {
        "display_name": known.display_name,
        "source_id": source_id,
        "auth_scheme": scheme,
        "handoff_intent_id": handoff.id,
        "source_scope": handoff.raw.get("source_scope"),
    }
    try:
        value = await send_write(session, CONNECT, f"another key for {known.id}", body=body)
    except ApiProblem as error:
        why = next((one.message for one in error.problem.errors or () if one.field == "handoff_intent_id"), None)
        if why is None:
            raise
        return line(why)
    return parse_record_of_kind(SourceConnection, value)


async def test_connection(session: CommandSession, connection_id: str) -> SourceConnection:
    """Test a connection, and return its state after the test, even if the test failed.

    Raises:
        ApiError: The test could not be run, or the source could not be reached.
    """
    value = await send_write(session, TEST, "", record_id=connection_id, is_kept=False)
    return parse_record_of_kind(SourceConnection, value)


def announce_test(session: CommandSession, connection: SourceConnection) -> None:
    """Say how many models the test of a whole connection calls, if it calls several."""
    count = len((connection.endpoint or {}).get("models") or ())
    if count > 1:
        session.call.output.note(f"the test calls each of its {count} named models once")


async def sync_models(
    session: CommandSession,
    connection_id: str,
    names: Sequence[str] = (),
    prices: Mapping[str, Any] | None = None,
    *,
    remove: Sequence[str] = (),
) -> SyncedModels:
    """Read the models that a connection serves.

    Args:
        names: Models to call once each; the source need not list them.
        remove: Models added so before, to take off instead; the source is not called.
        prices: Prices to add to the connection.

    Raises:
        ApiError: The connection is not usable, or the source does not list its models.
    """
    body = merge_options({}, {"models": list(names) or None, "remove": list(remove) or None, "prices": prices})
    value = await send_write(session, SYNC, f"models of {connection_id}", record_id=connection_id, body=body)
    return SyncedModels(value if isinstance(value, dict) else {})


class _Connecting:
    """The steps after the key, each reported when done."""

    def __init__(
        self, session: CommandSession, request: SourceRequest, key: Secret | None, data_classes: list[str] | None
    ) -> None:
        self._session = session
        self._request = request
        self._key = key
        self._data_classes = data_classes
        self._connection: SourceConnection | None = None
        self._is_new = False
        self._is_saving = False
        self._is_tested = False
        self._is_stale = False
        self._arms: list[Any] = []

    async def go(self) -> int:
        """Run all steps, and print the result even if one fails."""
        try:
            code = await self._steps()
        except RunwatchError as error:
            if self._connection is None:
                raise
            code = report_error(error, self._session.call.output)
            if self._is_new and self._is_saving and not self._arms and code in _REFUSALS:
                await self._remove(self._connection)
            else:
                self._is_stale = True
        if self._connection is not None and self._is_stale:
            await self._read_again(self._connection.id)
        self._print()
        return code

    async def _read_again(self, connection_id: str) -> None:
        """Read the connection again after a step that may have changed it; if that fails, keep what was known."""
        with contextlib.suppress(ApiError):
            self._connection = await read_one(self._session, READ, connection_id, SourceConnection)

    async def _steps(self) -> int:
        known = await self._find_connected()
        code = await (self._connect() if known is None else self._use(known))
        if code != SUCCESS:
            return code
        assert self._connection is not None
        prices = None if known is None else self._new_prices(known)
        try:
            # Named models that were never tested are called first; if one fails, the prices are not changed either.
            untested = self._untested(self._connection)
            synced = await sync_models(self._session, self._connection.id, untested, prices)
        except ApiProblem as error:
            why = next((entry.message for entry in error.problem.errors or () if entry.field == "models"), None)
            if why is None:
                raise
            self._note(f"4 of 5  {line(why)}")
            self._note(
                f"        {self._connection.id} and its models stay as they were; connect again with another --model"
            )
            return REFUSED
        self._is_stale = True
        served = [one for one in synced.deployments or () if one.status == "listed"]
        self._note(f"4 of 5  {self._describe_served(served, has_list=synced.list_failure is None)}")
        for words in describe_missing_models(synced):
            self._note(f"        {words}")
        if prices is not None:
            await self._read_again(self._connection.id)
        own = (self._connection.endpoint or {}).get("prices") or {}
        listed = [one for one in served if one.pricing_basis != SOURCE_REPORTED]
        unpriced = [one for one in listed if not {ANY_MODEL, one.upstream_ref} & set(own)]
        if prices is not None:
            if unpriced:
                raise RunwatchError(
                    "The service did not accept the prices",
                    detail=f"{unpriced[0].upstream_ref or unpriced[0].id} has no price",
                    hint=f"{self._session.call.command('sources disconnect', self._connection.id)}, and connect again",
                )
            self._note("        it has the new prices")
        elif unpriced:
            counted = "counted as 0 USD (estimated)" if self._connection.auth_scheme == KEYLESS else "unknown"
            self._note(
                f"        no price is known, so the cost of its runs is {counted}; connect again with --price-input USD"
                " and --price-output USD"
            )
        return await self._save(served)

    def _describe_served(self, served: list[Deployment], *, has_list: bool) -> str:
        """Describe how many models answered by their names in this call and how many others the connection serves.

        Args:
            has_list: Whether the source's list was read, so that "no others" is known.
        """
        assert self._connection is not None
        called = self._untested(self._connection)
        if self._is_tested:
            failed = {one.model for one in self._connection.failed_models or ()}
            called += [name for name in (self._connection.endpoint or {}).get("models") or () if name not in failed]
        by_name = len(_named(called, served))
        others = len(served) - by_name
        kept = f"it has {others or 'no'} {'other' if by_name else 'model'}{'s' * (others != 1)}"
        answered = f"{by_name} model{'s' * (by_name != 1)} answered by name"
        if by_name and not others and not has_list:
            return answered
        return f"{answered}, and {kept}" if by_name else kept

    def _note(self, text: str) -> None:
        self._session.call.output.note(text)

    async def _find_connected(self) -> SourceConnection | None:
        """Return an open connection to the same source and address, regardless of its name and key.

        Only another explicit name makes it a different one. Of several, the newest usable one is chosen.
        """
        request, options = self._request, self._session.call.options
        known = await _listed(self._session, SourceConnection)
        found = find_connected(known, request.source_id, request.base_url, options.protocol)
        named = [one for one in found if options.name in {None, one.display_name}]
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
        self._note("1 of 5  authorised")
        body = {
            "display_name": request.name,
            "source_id": request.source_id,
            "auth_scheme": request.auth_scheme,
            "handoff_intent_id": handoff.id,
            "source_scope": handoff.raw.get("source_scope"),
        }
        made = parse_record_of_kind(
            SourceConnection, await send_write(session, CONNECT, f"connect {request.name}", body=body)
        )
        self._connection, self._is_new = made, True
        self._note(f"2 of 5  connected as {made.id}")
        code = await self._test_new(made)
        if code != SUCCESS:
            await self._remove(made)
        return code

    async def _test_new(self, connection: SourceConnection) -> int:
        """Test a connection that was never tested; an unreachable source counts as a failed test."""
        try:
            return await self._test(connection, is_new=True)
        except ApiProblem as error:
            if error.code != "upstream_unavailable":
                raise
            await self._read_again(connection.id)
            self._report_failure(is_kept=False)
            return exit_code(error)

    async def _remove(self, connection: SourceConnection) -> None:
        await send_write(self._session, DISCONNECT, f"disconnect {connection.id}", record_id=connection.id)
        self._connection = None
        self._note("The connection and its key were removed. Correct this and connect again.")

    async def _use(self, known: SourceConnection) -> int:
        """Use an existing connection: give it the key of this invocation, if any, and test it.

        A connection that was never tested was left by an interrupted command. It is treated as new, so a failed test
        removes it.
        """
        session, request = self._session, self._request
        self._connection = known
        self._note(f"2 of 5  already connected as {known.id}")
        is_unfinished = known.raw.get("test_state") == "untested" and known.raw.get("last_tested_at") is None
        scheme = request.auth_scheme if self._key is not None else session.call.options.auth_scheme
        is_other = self._key is not None or scheme not in {None, known.auth_scheme}
        # A service of another kind makes a second connection of a second request; its own way to change a key is to
        # rotate it, which leaves the connection untested until the test below.
        if is_other and known.is_usable and session.client.target.socket is not None:
            return await self._give_tested_key(known, scheme or KEYLESS)
        if is_other:
            assert scheme is not None
            await replace_key(session, known.id, request.source_id, scheme, known.handoff_endpoint, self._key)
            self._note(
                "        it has the key of this call" if scheme != KEYLESS else "        it is called without a key"
            )
        elif known.is_usable and (names := self._untested(known)):
            self._note(f"3 of 5  tested before; now only {' and '.join(map(line, names))} will be called")
            return SUCCESS
        elif known.is_usable and (session.call.options.model or self._new_prices(known) is not None):
            self._note("3 of 5  tested before; no model is called")
            return SUCCESS
        announce_test(session, known)
        code = await (self._test_new if is_unfinished else self._test)(known)
        if is_unfinished and code != SUCCESS:
            await self._remove(known)
        return code

    async def _give_tested_key(self, known: SourceConnection, scheme: str) -> int:
        """Give a working connection the key of this invocation, unless the service's test with it fails."""
        announce_test(self._session, known)
        given = await give_tested_key(self._session, known, scheme, self._key)
        if isinstance(given, str):
            self._note(f"3 of 5  {given}")
            return REFUSED
        self._connection, self._is_tested = given, True
        self._note("        it has the key of this call" if scheme != KEYLESS else "        it is called without a key")
        self._report_pass()
        return SUCCESS

    async def _test(self, connection: SourceConnection, *, is_new: bool = False) -> int:
        self._connection = await test_connection(self._session, connection.id)
        self._is_tested = True
        if self._connection.is_usable:
            self._report_pass()
            return SUCCESS
        self._report_failure(is_kept=not is_new)
        return REFUSED

    def _report_pass(self) -> None:
        assert self._connection is not None
        failed = self._connection.failed_models or ()
        address = (self._connection.endpoint or {}).get("base_url")
        where = f", at {address}" if address else ""
        but = f", but not for {len(failed)} of its models" if failed else ""
        self._note(f"3 of 5  the test passed{but}{where}")
        for one in failed:
            self._note(f"        {one.model}: {line(one.why)}")

    def _report_failure(self, *, is_kept: bool) -> None:
        connection = self._connection
        assert connection is not None
        why, advice = explain_failure(connection, is_kept=is_kept)
        address = (connection.endpoint or {}).get("base_url")
        self._note(f"3 of 5  the test failed: {why}" + (f", at {address}" if address else ""))
        self._note(f"        {advice}")

    def _new_prices(self, known: SourceConnection) -> dict[str, Any] | None:
        """Return the requested prices if they differ from those of the connection."""
        prices: dict[str, Any] | None = (self._request.endpoint or {}).get("prices")
        had = (known.endpoint or {}).get("prices")
        had = had if isinstance(had, Mapping) else {}
        is_same = prices is not None and all(_amounts(had.get(name)) == _amounts(one) for name, one in prices.items())
        return None if is_same else prices

    def _untested(self, connection: SourceConnection) -> list[str]:
        """Return the models of this call that still have to be called: new ones, and ones that failed an older test."""
        if self._request.base_url is None:
            return []
        failed = [one.model for one in connection.failed_models or ()]
        named = (connection.endpoint or {}).get("models") or ()
        known = [*named, *failed] if self._is_tested else [name for name in named if name not in failed]
        asked = dict.fromkeys(self._session.call.options.model or ())
        return [name for name in asked if not {name, f"{name}:latest"} & set(known)]

    async def _save(self, served: list[Deployment]) -> int:
        options, note = self._session.call.options, self._note
        wanted = _named(options.model, served) if options.model else served
        failed = {one.model for one in self._connection.failed_models or ()} if self._connection else set()
        missed = [name for name in dict.fromkeys(options.model or ()) if name in failed] if self._is_tested else []
        wanted = [one for one in wanted if one.upstream_ref not in missed]
        if options.model and not wanted and not missed:
            names = [one.upstream_ref or one.id for one in served]
            near = closest_words(options.model[0], names, NAMED) or names[:NAMED]
            raise RunwatchError(
                f"It serves no model {', '.join(options.model)}",
                detail=f"it serves {', '.join(near)}" if near else None,
                hint="'runwatch models list' shows all.",
            )
        is_chosen = bool(options.model) or len(wanted) == 1
        self._is_saving = is_chosen
        saved = [arm for arm in await _listed(self._session, Arm) if arm.status != "disabled"]
        arms = {str(arm.model_deployment_id): arm for arm in reversed(saved)}
        if not is_chosen:
            unsaved = [one for one in wanted if one.id not in arms]
            count = len(wanted) - len(unsaved)
            if wanted and not unsaved:
                note(f"5 of 5  all {count} models are saved already")
                return SUCCESS
            already = f"; {count} {'is' if count == 1 else 'are'} saved already" if count else ""
            note(f"5 of 5  no model saved, because --model did not say which{already}")
            wanted = unsaved
            for one in wanted[:NAMED]:
                name = quote_word(one.upstream_ref or one.model_key or "it")
                note(f"        {self._session.call.command('models save', one.id)}   saves {name}")
            if len(wanted) > NAMED:
                note(f"        and {len(wanted) - NAMED} more; 'runwatch models list' shows all")
            return SUCCESS
        entries = {entry.id: entry for entry in await read_all(self._session, CatalogEntry)}
        for one in wanted:
            arm = arms.get(one.id)
            if arm is not None:
                note(f"5 of 5  {one.upstream_ref or one.id} is already saved as {arm.id}")
                self._arms.append(await self._granted(arm))
                continue
            await self._save_one(one, entries.get(one.id))
        if len(self._arms) == 1 and isinstance(self._arms[0], dict):
            self._report_run(Arm(self._arms[0]))
        for name in missed:
            note(f"5 of 5  {line(name)} is not saved, because its test failed")
        return REFUSED if missed else SUCCESS

    def _report_run(self, arm: Arm) -> None:
        """Name the command that runs exactly this model, because others may be saved under the same name."""
        granted = next(iter(arm.data_class_grants or ()), "public")
        options = {"mode": "live", "arm_id": arm.id, "data_class": granted, "max_cost_usd": "0.10"}
        command = self._session.call.command(
            "runs submit", **options, max_runtime_s="300", objective="Name three rivers", watch=True
        )
        self._note(f"        to run it: {command}")

    async def _granted(self, arm: Arm) -> Any:
        granted = [str(name) for name in arm.data_class_grants or ()]
        added = [name for name in dict.fromkeys(self._data_classes or ()) if name not in granted]
        if not added:
            return dict(arm.raw)
        body = {"data_class_grants": [*granted, *added]}
        changed = await send_write(self._session, EDIT, f"change {arm.id}", record_id=arm.id, body=body)
        self._note(f"        runs may give it {', '.join(added)} data too")
        return changed

    async def _save_one(self, one: Deployment, entry: CatalogEntry | None) -> None:
        if entry is None:
            raise RunwatchError("The catalog does not list the model", detail=one.id)
        body = with_data_classes(self._session.call, entry, self._data_classes, is_known=bool(self._arms))
        arm = await send_write(self._session, SAVE, f"save {one.id}", body=body)
        self._arms.append(arm)
        saved = arm.get("arm_id") if isinstance(arm, dict) else None
        self._note(f"5 of 5  saved {one.upstream_ref or one.id} as {saved}")

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
        if error.status not in NOT_OFFERED:
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
        for one in served:
            if {one.upstream_ref, one.model_key} & {name, f"{name}:latest"}:
                found.setdefault(one.id, one)
    return list(found.values())
