"""``sources list|test|sync|rotate``: connections to model sources (wire reference 2.6)."""

from __future__ import annotations

from runwatch.commands.call import Call
from runwatch.commands.connect_source import ROTATE, SYNC, TEST, hand_over, sync_models, test_connection
from runwatch.commands.entry import read_key
from runwatch.commands.exits import DONE, REFUSED
from runwatch.commands.printing import Printer
from runwatch.commands.resources import list_of, print_record, read_record
from runwatch.commands.session import Session, with_session
from runwatch.commands.writing import may_write, write, writing
from runwatch.records.source import SourceConnection
from runwatch.view.resources.models import DEPLOYMENTS
from runwatch.view.resources.sources import PROFILES, SOURCES
from runwatch.view.source_failures import KEYLESS, explain_failure


def list_sources(call: Call) -> int:
    """``sources list``: the connections, or with ``--available`` what can be connected."""
    return list_of(call, PROFILES if call.options.available else SOURCES)


def test(call: Call) -> int:
    """``sources test``: call the source with its key; exit 1 when the connection cannot be used."""
    return writing(call, TEST, lambda session: _test(session, call.options.id))


async def _test(session: Session, connection_id: str) -> int:
    connection = await test_connection(session, connection_id)
    print_record(session, SOURCES, connection)
    if connection.is_usable:
        return DONE
    why, advice = explain_failure(connection)
    session.call.output.warn(f"the connection cannot be used: {why}")
    session.call.output.note(advice)
    return REFUSED


def sync(call: Call) -> int:
    """``sources sync``: read which models the connection serves."""
    connection_id, names = call.options.id, call.options.model or ()

    async def work(session: Session) -> int:
        served = await sync_models(session, connection_id, names)
        Printer(call, session.settings, DEPLOYMENTS).records([dict(one.raw) for one in served])
        return DONE

    return writing(call, SYNC, work)


def rotate(call: Call) -> int:
    """``sources rotate``: enter another key, give it to the connection, and test it."""
    connection_id = call.options.id
    choice = may_write(call, ROTATE)
    key = read_key(call, f"connection {connection_id}")

    async def work(session: Session) -> int:
        found = await read_record(session, SOURCES, connection_id)
        assert isinstance(found, SourceConnection)
        scheme = found.auth_scheme or "api_key"
        scheme = "api_key" if scheme == KEYLESS and key is not None else scheme
        handoff = await hand_over(session, found.source_id or "", scheme, found.endpoint, key)
        path, body = {"connection_id": connection_id}, {"handoff_intent_id": handoff.id}
        await write(session, ROTATE, f"another key for {connection_id}", path=path, body=body)
        call.output.note("the connection has the new key; it is tested now")
        return await _test(session, connection_id)

    return with_session(call, work, choice)
