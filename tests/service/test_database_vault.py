"""Secrets in the database itself."""

from __future__ import annotations

from datetime import timedelta

from runwatch.base.secrets.secret import Secret
from runwatch.service.access.database_vault import UNNAMED_FOR, DatabaseVault
from runwatch.service.database import ServiceDatabase
from runwatch.service.tables import sealed_secrets_table
from tests.service.conftest import Either
from tests.support.clock import FakeClock
from tests.support.master_keys import master_keys


async def test_secrets_are_sealed_renewed_and_swept(either: Either) -> None:
    clock, keys = FakeClock(), master_keys()
    database = ServiceDatabase.open(either(), clock)
    vault = DatabaseVault(database, keys)
    named, dropped, removed = [await vault.put(Secret(f"secret {number}")) for number in range(3)]
    await vault.remove(removed)
    assert await vault.get(removed) is None
    await vault.sweep({named})
    assert (await vault.get(dropped) or Secret("")).reveal() == "secret 1"
    await clock.sleep((UNNAMED_FOR + timedelta(seconds=1)).total_seconds())
    await vault.sweep({named})
    assert await vault.get(dropped) is None

    newer = keys.with_new_key()
    assert await DatabaseVault(database, newer).take_over() == ()
    assert (await DatabaseVault(database, newer).get(named) or Secret("")).reveal() == "secret 0"
    assert await vault.get(named) is None
    assert await vault.take_over() == (named,)
    (row,) = await database.read(lambda transaction: transaction.list_all(sealed_secrets_table, {}))
    assert b"secret 0" not in row["sealed"]
    database.close()
