"""Cursors belong to one list and one organization, and say nothing about the rows."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from runwatch.service.access.authentication import add_tenant
from runwatch.service.http.lists.cursors import Cursors
from tests.service.conftest import Local


def decoded(cursor: str) -> bytes:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))


async def first_cursor(local: Local) -> str:
    for _ in range(2):
        await local.submit()
    return str((await local.get("/v1/executions", limit=1))["next_cursor"])


async def test_a_cursor_does_not_tell_how_many_rows_there_are(held: Local) -> None:
    content = decoded(await first_cursor(held))
    assert (2).to_bytes(8) not in content
    assert (2).to_bytes(8, "little") not in content


async def test_a_cursor_of_another_list_is_refused(held: Local) -> None:
    cursor = await first_cursor(held)
    for path in ("/v1/proposals", "/v1/verifiers", "/v1/arms"):
        answer = await held.http.get(path, params={"cursor": cursor})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "cursor")


async def test_a_cursor_of_another_organization_is_refused(held: Local) -> None:
    cursor = await first_cursor(held)
    other = await held.context.database.write(lambda transaction: add_tenant(transaction, "Other"))
    key, _ = await held.add_key(other)
    headers = {"Authorization": f"Bearer {key}"}
    answer = await held.http.get("/v1/executions", params={"cursor": cursor}, headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "cursor")


async def test_a_cursor_is_good_after_a_restart(held: Local) -> None:
    cursor = await first_cursor(held)
    again = await held.context.database.write(Cursors.load)
    tenant = (await held.get("/v1/account"))["tenant_id"]
    assert again.open((tenant, "executions"), cursor) == 2


@pytest.mark.parametrize("cursor", ["", "x", "YmVmb3JlOjI", "A" * 32, "é", "=" * 9])
def test_what_is_not_a_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(ValueError, match="not a cursor"):
        Cursors(AESSIV.generate_key(256)).open(("ten", "executions"), cursor)
