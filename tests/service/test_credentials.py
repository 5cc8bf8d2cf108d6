"""Credential references: names without material."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.conftest import Local
from tests.support.problems import check

PATH = "/v1/credentials"


async def test_an_organization_without_references_has_an_empty_list(local: Local) -> None:
    assert await local.get(PATH) == {"credentials": []}


async def test_a_reference_is_noted_and_listed_newest_first(local: Local) -> None:
    for name in ("first", "second"):
        answer = await local.http.post(PATH, json={"display_name": name})
        assert set(answer.json()) == {"credential_ref", "display_name", "created_at"}
    listed = (await local.get(PATH))["credentials"]
    assert [each["display_name"] for each in listed] == ["second", "first"]


@pytest.mark.parametrize(
    "body",
    [
        {"display_name": " "}, {"display_name": "x" * 201}, "text",
        {"display_name": "one", "secret": "s"}, {"display_name": "one", "api_key": "s"},
        {"display_name": "one", "accessToken": "s"}, {"display_name": "one", "value": "s"},
    ],
)  # fmt: skip
async def test_a_body_without_a_name_or_with_a_secret_is_refused(local: Local, body: Any) -> None:
    check(await local.http.post(PATH, json=body), "validation_failed")
    assert (await local.get(PATH))["credentials"] == []
