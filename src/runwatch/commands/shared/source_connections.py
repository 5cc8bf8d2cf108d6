"""Keys, tests and models of connections to sources (manual: interface, "Sources, connections and credential
handoffs").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from runwatch.api.errors import ApiProblem
from runwatch.base.errors import RunwatchError
from runwatch.base.secrets.secret import Secret
from runwatch.commands.shared.record_reader import parse_record_of_kind, read_one
from runwatch.commands.shared.secret_entry import enter_secret
from runwatch.commands.shared.session import CommandSession
from runwatch.commands.shared.writes import merge_options, send_write
from runwatch.records.model import SyncedModels
from runwatch.records.source import Handoff, SourceConnection
from runwatch.view.actions.private_page import handoff_progress
from runwatch.view.text.safe_text import line

HANDOFF: Final = "postSourceCredentialHandoffs"
READ_HANDOFF: Final = "getSourceCredentialHandoffsByHandoffIntentId"
CONNECT: Final = "postSourceConnections"
READ: Final = "getSourceConnectionsByConnectionId"
TEST: Final = "postSourceConnectionsByConnectionIdTest"
ROTATE: Final = "postSourceConnectionsByConnectionIdRotate"
SYNC: Final = "postSourceConnectionsByConnectionIdDeploymentsSync"


async def complete_handoff(
    session: CommandSession, source_id: str, auth_scheme: str, endpoint: Mapping[str, Any] | None, key: Secret | None
) -> Handoff:
    """Enter a key for a source, and return the completed handoff.

    Raises:
        RunwatchError: The handoff ended without a key.
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
    """
    source_id = known.source_id or ""
    handoff = await complete_handoff(session, source_id, scheme, known.handoff_endpoint, key)
    try:
        return await connect_with_handoff(
            session, handoff, known.display_name, source_id, scheme, label=f"another key for {known.id}"
        )
    except ApiProblem as error:
        why = next((entry.message for entry in error.problem.errors or () if entry.field == "handoff_intent_id"), None)
        if why is None:
            raise
        return line(why)


async def connect_with_handoff(
    session: CommandSession, handoff: Handoff, name: str | None, source_id: str, auth_scheme: str, *, label: str
) -> SourceConnection:
    """Connect a source with the key of a completed handoff.

    Args:
        label: Description in the list of unconfirmed writes.
    """
    body = {
        "display_name": name,
        "source_id": source_id,
        "auth_scheme": auth_scheme,
        "handoff_intent_id": handoff.id,
        "source_scope": handoff.raw.get("source_scope"),
    }
    return parse_record_of_kind(SourceConnection, await send_write(session, CONNECT, label, body=body))


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
