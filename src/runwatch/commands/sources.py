"""``sources list|test|sync|rotate``: connections to model sources (manual: interface, "Sources, connections and
credential handoffs").
"""

from __future__ import annotations

from runwatch.base.errors import UsageError
from runwatch.commands.cli.exit_codes import REFUSED, SUCCESS
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.resources import read_named_list
from runwatch.commands.shared.list_reader import read_all
from runwatch.commands.shared.record_printer import RecordPrinter, print_record
from runwatch.commands.shared.record_reader import read_one
from runwatch.commands.shared.secret_entry import read_secret
from runwatch.commands.shared.session import CommandSession, run_in_session
from runwatch.commands.shared.source_connections import (
    READ,
    ROTATE,
    SYNC,
    TEST,
    announce_test,
    give_tested_key,
    replace_key,
    sync_models,
    test_connection,
)
from runwatch.commands.shared.writes import require_write_access, writes
from runwatch.records.source import KEYLESS, SourceConnection, find_connected
from runwatch.view.actions.sources import describe_missing_models
from runwatch.view.problems.source_failures import explain_failure
from runwatch.view.resources.models import DEPLOYMENTS
from runwatch.view.resources.sources import PROFILES, SOURCES


def list_sources(call: Invocation) -> int:
    """``sources list``: print the connections, or with ``--available`` the sources that can be connected."""
    return read_named_list(call, PROFILES if call.options.available else SOURCES)


@writes(TEST)
async def test(session: CommandSession) -> int:
    """``sources test``: call the source with its key; exit 1 if the connection cannot be used."""
    return await _test(session, session.call.options.id)


async def _test(session: CommandSession, connection_id: str) -> int:
    return _report_test(session, await test_connection(session, connection_id))


def _report_test(session: CommandSession, connection: SourceConnection) -> int:
    print_record(session, SOURCES, connection)
    for failed in connection.failed_models or ():
        session.call.output.warn(f"the model {failed.model} cannot be used: {failed.why}")
    if connection.is_usable:
        return SUCCESS
    why, advice = explain_failure(connection)
    session.call.output.warn(f"the connection cannot be used: {why}")
    session.call.output.note(advice)
    return REFUSED


@writes(SYNC)
async def sync(session: CommandSession) -> int:
    """``sources sync``: read which models the connection serves, or add or remove some by name."""
    options = session.call.options
    if options.model and options.remove:
        raise UsageError("--model and --remove cannot be used together")
    synced = await sync_models(session, options.id, options.model or (), remove=options.remove or ())
    RecordPrinter(session.call, session.settings, DEPLOYMENTS).records(
        [dict(model.raw) for model in synced.deployments or ()]
    )
    for words in describe_missing_models(synced):
        session.call.output.note(words)
    return SUCCESS


def rotate(call: Invocation) -> int:
    """``sources rotate``: enter another key, give it to the connection, and test it.

    The local service tests it first, and keeps the old key if the test fails. A service of another kind, and a
    connection that cannot be used now, get the key before the test.
    """
    connection_id = call.options.id
    choice = require_write_access(call, ROTATE)
    key = read_secret(call, f"connection {connection_id}")

    async def work(session: CommandSession) -> int:
        found = await read_one(session, READ, connection_id, SourceConnection)
        scheme = found.auth_scheme or "api_key"
        scheme = "api_key" if scheme == KEYLESS and key is not None else scheme
        announce_test(session, found)
        if await _is_tested_first(session, found):
            given = await give_tested_key(session, found, scheme, key)
            if isinstance(given, str):
                print_record(session, SOURCES, found)
                call.output.warn(given)
                return REFUSED
            call.output.note("the new key passed the test, and the connection has it")
            return _report_test(session, given)
        await replace_key(session, connection_id, found.source_id or "", scheme, found.handoff_endpoint, key)
        call.output.note("the connection has the new key; it is tested now")
        return await _test(session, connection_id)

    return run_in_session(call, work, choice)


async def _is_tested_first(session: CommandSession, connection: SourceConnection) -> bool:
    """Whether the service would test another key of a connection before it replaces the old one.

    The service finds the connection by its source, address and name, so no other one may have the same.
    """
    if session.client.target.socket is None or not connection.is_usable:
        return False
    endpoint = connection.handoff_endpoint or {}
    known = await read_all(session, SourceConnection)
    same = find_connected(known, connection.source_id or "", endpoint.get("base_url"), endpoint.get("protocol_profile"))
    return [found.id for found in same if found.display_name == connection.display_name] == [connection.id]
