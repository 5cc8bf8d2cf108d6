"""``sources connect``: from an address and a key to a model that runs can use, step by step (wire reference 2.6).

Handoff, private entry, connection, test, models, saved model: each step is told on stderr when it is done, and what was
made stays when a later step fails.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.api.errors import ApiError
from runwatch.api.operations import list_operation
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.secret import Secret
from runwatch.base.shell import quote_word, runwatch_command
from runwatch.base.target import may_be_loopback
from runwatch.commands.arms import print_outcome
from runwatch.commands.call import Call
from runwatch.commands.entry import enter, read_key
from runwatch.commands.exits import DONE, REFUSED, exit_code
from runwatch.commands.models import SAVE, catalog, template_of
from runwatch.commands.resources import as_record, print_record, read_record
from runwatch.commands.session import Session, with_session
from runwatch.commands.tell import tell
from runwatch.commands.writing import may_write, with_given, write
from runwatch.records.model import CatalogEntry, Deployment
from runwatch.records.source import Handoff, SourceConnection, SourceProfile
from runwatch.view.entry import handoff_progress
from runwatch.view.resources.sources import SOURCES

HANDOFF: Final = "postSourceCredentialHandoffs"
READ_HANDOFF: Final = "getSourceCredentialHandoffsByHandoffIntentId"
CONNECT: Final = "postSourceConnections"
TEST: Final = "postSourceConnectionsByConnectionIdTest"
SYNC: Final = "postSourceConnectionsByConnectionIdDeploymentsSync"

KEYLESS: Final = "none"
"""The auth scheme of a server on this machine that asks for no key; ours."""

COMPATIBLE: Final[Mapping[str, tuple[str, str]]] = {
    "openai_compatible": ("openai_compatible", "openai_chat"),
    "anthropic_compatible": ("anthropic_compatible", "anthropic_messages"),
}
"""Source and protocol of servers at any address, by the option that names the address; the source ids are ours."""

NAMED: Final = 5
"""How many models are named when none was."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be connected.

    Attributes:
        source_id: The source; empty until the profiles are read where no address was given.
        auth_scheme: How it is authorised; ``None`` takes the source's usual way.
        endpoint: Address, protocol and prices, for a source without an address of its own.
        name: What the connection is to be called.
    """

    source_id: str
    auth_scheme: str | None
    endpoint: dict[str, Any] | None
    name: str


def connect(call: Call) -> int:
    """``sources connect``: connect a source, test it, read its models, and save the one that was meant."""
    order = order_of(call)
    choice = may_write(call, HANDOFF)
    key = None if order.auth_scheme == KEYLESS else read_key(call, order.name)

    async def work(session: Session) -> int:
        return await _Connecting(session, await _with_scheme(session, order), key).go()

    return with_session(call, work, choice)


def order_of(call: Call) -> Order:
    """What the options ask for.

    Raises:
        UsageError: they name no source, or several, or half a price.
    """
    options = call.options
    addresses = {name: options[name] for name in COMPATIBLE if options[name] is not None}
    if len(addresses) + (options.source is not None) != 1:
        raise UsageError(
            "Name one source: SOURCE, --openai-compatible URL or --anthropic-compatible URL",
            hint="runwatch sources list --available shows the sources.",
        )
    prices = _prices(call)
    if not addresses:
        priced = {"prices": prices} if prices else None
        return Order(options.source, options.auth_scheme, priced, options.name or options.source)
    ((kind, url),) = addresses.items()
    source_id, protocol = COMPATIBLE[kind]
    parts = urlsplit(url)
    host = parts.hostname or ""
    scheme = options.auth_scheme or ("api_key" if options.key_stdin or options.key_command else None)
    if scheme is None and may_be_loopback(host):
        scheme = KEYLESS
        call.output.note("no key is sent to a server on this machine; --key-stdin gives one")
    endpoint: dict[str, Any] = {"base_url": url, "protocol_profile": options.protocol or protocol}
    if prices:
        endpoint["prices"] = prices
    return Order(source_id, scheme or "api_key", endpoint, options.name or parts.netloc.rpartition("@")[2])


def _prices(call: Call) -> dict[str, Any] | None:
    """The price of every model of the source, in US dollars per million tokens, as decimal texts."""
    given, taken = call.options.price_input, call.options.price_output
    if (given is None) != (taken is None):
        raise UsageError("--price-input and --price-output go together")
    if given is None:
        return None
    for text in (given, taken):
        whole, _, part = text.partition(".")
        if not (whole.isascii() and whole.isdigit() and (part or "0").isascii() and (part or "0").isdigit()):
            raise UsageError(f"'{text}' is no price", hint="A price is a decimal number of US dollars, such as 0.25.")
    return {"*": {"input_usd_per_million": given, "output_usd_per_million": taken}}


async def _with_scheme(session: Session, order: Order) -> Order:
    """The order with the auth scheme that the source takes: a key where it takes one."""
    if order.auth_scheme is not None:
        return order
    profiles: list[SourceProfile] = []
    async for page in session.client.pages(list_operation(SourceProfile)):
        profiles += page.records
    profile = next((one for one in profiles if one.id == order.source_id), None)
    if profile is None:
        from runwatch.commands.parser import nearest

        guess = nearest(order.source_id, [one.id for one in profiles])
        raise RunwatchError(
            f"The service knows no source '{order.source_id}'",
            detail=f"the nearest is '{guess}'" if guess else None,
            hint="runwatch sources list --available shows the sources.",
        )
    schemes = [str(one.raw.get("id")) for one in profile.auth_schemes or ()]
    scheme = "api_key" if "api_key" in schemes or not schemes else schemes[0]
    return Order(order.source_id, scheme, order.endpoint, order.name)


async def hand_over(
    session: Session, source_id: str, auth_scheme: str, endpoint: Mapping[str, Any] | None, key: Secret | None
) -> Handoff:
    """Have a key entered for a source, and give the completed handoff.

    Raises:
        RunwatchError: the handoff ended without a key.
        ApiError: a step failed.
    """
    body = with_given({"source_id": source_id, "auth_scheme": auth_scheme}, {"endpoint": endpoint})
    begun = as_record(Handoff, await write(session, HANDOFF, f"key for {source_id}", body=body))
    if begun.raw.get("state") == "completed":
        return _handoff(begun.raw)
    latest: list[Handoff] = []

    async def is_done() -> bool:
        answer = await session.client.request(READ_HANDOFF, path={"handoff_intent_id": begun.id})
        latest[:] = [_handoff(answer.value)]
        progress = handoff_progress({}, latest[0].raw)
        if progress.stage == "ended":
            raise RunwatchError("No key was entered", detail=progress.words, hint="Ask again.")
        return progress.stage == "entered"

    await enter(session, dict(begun.raw), key, is_done)
    if not latest and not await is_done():
        raise RunwatchError("The service did not take the key", detail=f"the handoff is {latest[0].state}")
    return latest[0]


def _handoff(value: object) -> Handoff:
    record = as_record(Handoff, value)
    assert isinstance(record, Handoff)
    return record


async def test_connection(session: Session, connection_id: str) -> SourceConnection:
    """Test a connection, and give it as it is then, whatever the test found.

    Raises:
        ApiError: the test could not be made, or the source could not be reached.
    """
    path = {"connection_id": connection_id}
    record = as_record(SourceConnection, await write(session, TEST, "", path=path, is_kept=False))
    assert isinstance(record, SourceConnection)
    return record


async def sync_models(session: Session, connection_id: str) -> list[Deployment]:
    """Read which models a connection serves.

    Raises:
        ApiError: the connection is not usable, or the source does not tell.
    """
    path = {"connection_id": connection_id}
    value = await write(session, SYNC, f"models of {connection_id}", path=path, body={})
    listed = value.get("deployments") if isinstance(value, dict) else None
    return [Deployment(item) for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


class _Connecting:
    """The steps behind the key, each told when it is done."""

    def __init__(self, session: Session, order: Order, key: Secret | None) -> None:
        self._session = session
        self._order = order
        self._key = key
        self._connection: SourceConnection | None = None
        self._arms: list[Any] = []

    async def go(self) -> int:
        """Do them all; print what there is by then, also when one fails."""
        try:
            code = await self._steps()
        except ApiError as error:
            if self._connection is None:
                raise
            code = tell(error, self._session.call.output)
            await self._read_again(self._connection.id)
        except RunwatchError as error:
            if self._connection is None:
                raise
            code = exit_code(error)
            self._session.call.output.warn(str(error))
        self._print()
        return code

    async def _read_again(self, connection_id: str) -> None:
        """Learn what the step that failed made of the connection; what was known stays where that cannot be read."""
        with contextlib.suppress(ApiError):
            found = await read_record(self._session, SOURCES, connection_id)
            assert isinstance(found, SourceConnection)
            self._connection = found

    async def _steps(self) -> int:
        session, order = self._session, self._order
        note = session.call.output.note
        assert order.auth_scheme is not None
        handoff = await hand_over(session, order.source_id, order.auth_scheme, order.endpoint, self._key)
        note("1 of 5  authorised")
        body = {
            "display_name": order.name,
            "source_id": order.source_id,
            "auth_scheme": order.auth_scheme,
            "handoff_intent_id": handoff.id,
            "source_scope": handoff.raw.get("source_scope"),
        }
        made = as_record(SourceConnection, await write(session, CONNECT, f"connect {order.name}", body=body))
        assert isinstance(made, SourceConnection)
        self._connection = made
        note(f"2 of 5  connected as {made.id}")
        self._connection = await test_connection(session, made.id)
        if not self._connection.is_usable:
            note(f"3 of 5  the test failed: {self._connection.test_error or 'no reason given'}")
            note(f"        another key: {runwatch_command('sources rotate', made.id)}")
            note(f"        test again:  {runwatch_command('sources test', made.id)}")
            return REFUSED
        note("3 of 5  the test passed")
        served = [one for one in await sync_models(session, made.id) if one.status == "listed"]
        note(f"4 of 5  it serves {len(served)} model{'s' * (len(served) != 1)}")
        return await self._save(served)

    async def _save(self, served: list[Deployment]) -> int:
        options, note = self._session.call.options, self._session.call.output.note
        wanted = [one for one in served if not options.model or {one.upstream_ref, one.model_key} & set(options.model)]
        if options.model and not wanted:
            raise RunwatchError(
                f"It serves no model {', '.join(options.model)}", hint="runwatch models list shows all."
            )
        if not options.model and len(wanted) != 1:
            note("5 of 5  no model saved, because --model did not say which")
            for one in wanted[:NAMED]:
                name = quote_word(one.upstream_ref or one.model_key or "it")
                note(f"        {runwatch_command('models save', one.id)}   saves {name}")
            if len(wanted) > NAMED:
                note(f"        and {len(wanted) - NAMED} more; runwatch models list shows all")
            return DONE
        entries = {entry.id: entry for entry in await catalog(self._session)}
        for one in wanted:
            await self._save_one(one, entries.get(one.id))
        return DONE

    async def _save_one(self, one: Deployment, entry: CatalogEntry | None) -> None:
        if entry is None:
            raise RunwatchError("The catalog does not list the model", detail=one.id)
        body = with_given(template_of(entry), {"data_class_grants": self._session.call.options.data_class})
        arm = await write(self._session, SAVE, f"save {one.id}", body=body)
        self._arms.append(arm)
        saved = arm.get("arm_id") if isinstance(arm, dict) else None
        self._session.call.output.note(f"5 of 5  saved {one.upstream_ref or one.id} as {saved}")

    def _print(self) -> None:
        assert self._connection is not None
        output = self._session.call.output
        if not output.is_json:
            print_record(self._session, SOURCES, self._connection)
            for arm in self._arms:
                output.text("\n")
                print_outcome(self._session, arm)
            return
        value = {"connection": dict(self._connection.raw), "arms": self._arms}
        output.json(value, indent=2 if output.form == "json" else None)
