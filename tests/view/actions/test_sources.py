"""The step of the console that connects a source after its key was entered."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.records.model import SyncedModels
from runwatch.records.source import SourceConnection
from runwatch.view.actions.sources import CONNECT_WITH_KEY, DISCONNECT, ROTATE, describe_missing_models
from runwatch.view.spec.action_parts import PageResult
from tests.support import resources

SERVER = {"source_id": "openai_compatible", "auth_scheme": "none", "endpoint": {"base_url": "http://127.0.0.1:1234/v1"}}
KNOWN = {"connected_as": {"connection_id": "conn_1", "display_name": "Box"}}


@pytest.mark.parametrize(
    ("state", "name", "said"),
    [
        (SERVER, "127.0.0.1:1234", "Connects openai_compatible, which takes no key."),
        ({**SERVER, **KNOWN}, "Box", "This server is connected already as conn_1. "),
        ({**SERVER, "source_id": "openrouter"}, "openrouter", "Connects openrouter, "),
    ],
)
def test_a_connected_server_is_reported_and_named_as_it_is(state: dict[str, Any], name: str, said: str) -> None:
    mutation, entered = CONNECT_WITH_KEY.mutation, PageResult("", None, {}, state)
    assert mutation is not None
    assert mutation.fields[0].start(entered) == name
    assert mutation.sentence(entered).startswith(said)


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        ("none", ("It is called without a key until then.", "for good. Its models")),
        ("api_key", ("and destroys its key",)),
    ],
)
def test_a_connection_without_a_key_is_told_nothing_of_the_key_it_has(scheme: str, words: tuple[str, ...]) -> None:
    connection = SourceConnection({"connection_id": "conn_1", "display_name": "Box", "auth_scheme": scheme})
    told = " ".join(action.mutation.sentence(connection) for action in (ROTATE, DISCONNECT) if action.mutation)
    assert all(each in told for each in words)


@pytest.mark.parametrize(
    ("source_id", "endpoint"),
    [
        ("openai_compatible", {"base_url": "http://[::1]:9/v1", "protocol_profile": "openai_chat"}),
        ("openrouter", {"protocol_profile": "openai_chat"}),
    ],
)
def test_a_rotation_sends_neither_models_nor_prices(source_id: str, endpoint: dict[str, Any]) -> None:
    shown = {"base_url": "http://[::1]:9/v1", "protocol_profile": "openai_chat", "models": ["m"] * 25, "prices": {}}
    connection = SourceConnection({"source_id": source_id, "auth_scheme": "api_key", "endpoint": shown})
    assert ROTATE.mutation is not None
    assert ROTATE.mutation.members is not None
    assert ROTATE.mutation.members(connection)["endpoint"] == endpoint


def test_what_a_disconnection_disables_is_named() -> None:
    assert DISCONNECT.mutation is not None
    told = DISCONNECT.mutation.summarize({"effects": {"arms": [], "model_deployments": ["mdep_1", "mdep_2"]}})
    assert list(told) == [("saved models disabled", "none"), ("models disabled", "mdep_1, mdep_2")]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"left_out": [], "list_failure": None}, []),
        ({"left_out": ["a-image"]}, ["1 model left out as not for text, by name or kind: a-image"]),
        ({"unlisted": ["gpt-9"]}, ["the source does not list gpt-9, but answered a call of that name"]),
        ({"list_failure": "no list (HTTP 404)"}, ["the list of models could not be read: no list (HTTP 404)"]),
    ],
)
def test_models_that_a_sync_lacks_are_reported_with_the_reason(answer: dict[str, Any], told: list[str]) -> None:
    assert describe_missing_models(SyncedModels(answer)) == told


@pytest.mark.parametrize(
    ("state", "working", "operation"),
    [
        (KNOWN, {}, "postSourceConnections"),
        ({"connected_as": {"connection_id": "conn_2", "display_name": "Other"}}, {}, "postSourceConnections"),
        ({"connected_as": {"connection_id": "conn_2", "display_name": "Box"}}, {}, None),
        (KNOWN, {"test_state": "failed"}, None),
        ({}, {}, None),
    ],
)
def test_a_rotation_tests_the_key_first_where_the_service_can(
    state: dict[str, Any], working: dict[str, Any], operation: str | None
) -> None:
    known = {
        "connection_id": "conn_1", "display_name": "Box", "status": "active", "test_state": "passed",
        "binding_revision": 2, "tested_binding_revision": 2, **working,
    }  # fmt: skip
    assert ROTATE.mutation is not None
    assert ROTATE.mutation.private_page is not None
    handoff = {**SERVER, "handoff_intent_id": "hand_1", **state}
    entered = PageResult("conn_1", SourceConnection(known), {}, handoff)
    action = ROTATE.mutation.private_page.then_for(entered)
    assert (None if action is None else action.mutation and action.mutation.operation) == operation
    if action is not None and action.mutation is not None and action.mutation.members is not None:
        assert action.mutation.members(entered)["display_name"] == "Box"
        assert "the old one stays in use" in action.mutation.sentence(entered)


@pytest.mark.parametrize(
    ("over", "label", "can"),
    [
        ({}, "Give it another key", True),
        ({"auth_scheme": "none", "source_id": "openai_compatible"}, "Give it a key", True),
        ({"auth_scheme": "none", "source_id": "house_models"}, "Give it a key", False),
    ],
)
def test_another_key_is_offered_only_where_there_is_one(over: dict[str, str], label: str, can: bool) -> None:
    connection = resources.connection("conn_1", **over)
    assert (ROTATE.label_of(connection), ROTATE.enabled_when(connection)) == (label, can)


def test_a_sentence_quotes_a_name_that_may_have_a_comma() -> None:
    connection = SourceConnection({"connection_id": "conn_1", "display_name": "Box, own account", "auth_scheme": "key"})
    assert DISCONNECT.mutation is not None
    told = DISCONNECT.mutation.sentence(connection)
    assert told.startswith('Disconnects "Box, own account" for good and destroys its key.')
