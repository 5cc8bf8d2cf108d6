"""Actions that connect model sources, test them, and replace their keys (manual: interface, "Sources, connections and
credential handoffs").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.records.arm import Arm
from runwatch.records.model import CatalogEntry, Deployment, SyncedModels
from runwatch.records.source import (
    ANY_ADDRESS,
    KEYLESS,
    OPENAI_COMPATIBLE,
    PROTOCOLS,
    SourceConnection,
    SourceProfile,
)
from runwatch.view.actions.fields import quote_name
from runwatch.view.actions.private_page import handoff_progress
from runwatch.view.problems.source_failures import explain_failure
from runwatch.view.query.parser import build_field_filter
from runwatch.view.spec.action import Mutation, PrivatePageSpec, ResourceAction
from runwatch.view.spec.action_parts import DialogWords, FormField, PageResult, Suggestions
from runwatch.view.text.format import counted
from runwatch.view.text.safe_text import line

_DISABLED: Final = {"arms": "saved models", "model_deployments": "models"}
"""Words for what a disconnection disables."""

FIRST_STEP: Final = "step 1 of 4"
"""A connection is prepared, made and tested, and then its models are read."""

_NAMED: Final = 8


def _is_on(connection: SourceConnection) -> bool:
    return connection.revoked_at is None


def first_scheme(profile: SourceProfile | None) -> str:
    """Return the auth scheme to suggest for a source: a key if it accepts one."""
    schemes = [str(scheme.raw.get("id")) for scheme in (profile.auth_schemes or () if profile is not None else ())]
    return "api_key" if "api_key" in schemes or not schemes else schemes[0]


def _of_handoff(entered: PageResult) -> Mapping[str, Any]:
    """Return the body of a connection from a completed handoff. The scope is returned unchanged."""
    state = entered.state
    body = {name: state.get(name) for name in ("source_id", "auth_scheme", "source_scope")}
    return {**body, "handoff_intent_id": state.get("handoff_intent_id")}


def _connecting_to(entered: PageResult) -> str:
    """Say which connection results; the service keeps one that has the same source, address and name."""
    known, is_keyless = entered.state.get("connected_as"), entered.state.get("auth_scheme") == KEYLESS
    untested = "No model is called, and none of its models runs before the connection is tested. Test it next."
    if isinstance(known, Mapping):
        name, key = known.get("connection_id"), "" if is_keyless else "the key that was entered, "
        kept = (
            f"This server is connected already as {name}. Under its name that connection is kept and gets {key}the"
            " models and the prices of this form; only another name makes a second one."
        )
        tested = f"If key or models are new, they are tested first; if the test fails, {name} stays as it was."
        return f"{kept} {tested if known.get('usable') is True else untested}"
    key = ", which takes no key" if is_keyless else " with the key that was entered"
    return f"Connects {entered.state.get('source_id')}{key}. {untested}"


def _usual_name(entered: PageResult) -> str:
    """Return the name of the connection to the same server, else host and port, else the source."""
    known, endpoint = entered.state.get("connected_as"), entered.state.get("endpoint")
    if isinstance(known, Mapping):
        return str(known.get("display_name") or "")
    source_id = str(entered.state.get("source_id") or "")
    url = endpoint.get("base_url") if source_id in ANY_ADDRESS and isinstance(endpoint, Mapping) else None
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or source_id if isinstance(url, str) else source_id
    except ValueError:
        return source_id


def _takes_key(connection: SourceConnection) -> bool:
    """Whether a key can be given; a server that a user connected without one may get its first key."""
    return _is_on(connection) and (connection.auth_scheme != KEYLESS or connection.source_id in ANY_ADDRESS)


def _rotation_text(connection: SourceConnection) -> str:
    is_keyless = connection.auth_scheme == KEYLESS
    key = "a key" if is_keyless else "another key"
    until_then = "It is called without a key" if is_keyless else "The key in use stays in use"
    return (
        f"Asks for a private page on which {key} for {quote_name(connection)} is entered. {until_then} until then. No"
        " key is ever typed here."
    )


def _same_endpoint(connection: SourceConnection) -> Mapping[str, Any]:
    """Return the body of a handoff for another key; a server that a user connected can get its first one."""
    is_new = connection.auth_scheme == KEYLESS and connection.source_id in ANY_ADDRESS
    scheme = "api_key" if is_new else connection.auth_scheme
    body: dict[str, Any] = {"source_id": connection.source_id, "auth_scheme": scheme}
    endpoint = connection.handoff_endpoint
    return body if endpoint is None else {**body, "endpoint": endpoint}


def _test_text(connection: SourceConnection) -> str:
    key = ", which takes no key" if connection.auth_scheme == KEYLESS else " with its key"
    count = _named_models(connection)
    runs = f"Each model that was named for it is run once, with the smallest message: {count} in all."
    return f"Calls the source of {quote_name(connection)}{key}. {runs if count else 'No model is run.'}"


def _sync_text(connection: SourceConnection) -> str:
    count = _named_models(connection)
    added = f", adds the {count} that were named for it" if count else ""
    return f"Asks the source of {quote_name(connection)} for its models{added}, and keeps the list. No model is run."


def _named_models(connection: SourceConnection) -> int:
    models = (connection.endpoint or {}).get("models")
    return len(models) if isinstance(models, list) else 0


def connection_status(connection: SourceConnection) -> str | None:
    """Return the status of a connection in one word (manual: interface, "Sources, connections and credential
    handoffs").
    """
    if connection.is_usable:
        return "ready"
    if connection.revoked_at is not None or connection.status == "revoked":
        return "revoked"
    if connection.test_state in {"failed", "untested"}:
        return connection.test_state
    if connection.test_state == "passed":
        # Tested with an earlier key, or switched off since.
        return "untested" if connection.status == "active" else connection.status
    return connection.status


def _status(response: Mapping[str, Any]) -> str | None:
    return connection_status(SourceConnection(dict(response)))


def _usable(response: Mapping[str, Any]) -> list[tuple[str, str]]:
    connection = SourceConnection(dict(response))
    if connection.is_usable:
        failed = [("failed", f"{model.model}: {model.why}") for model in connection.failed_models or ()]
        if not failed:
            return [("test", "passed; read next which models it serves")]
        what = "its models can be read and run, except those that failed"
        return [("test", f"passed; {what}"), *failed, ("next", "read which models it serves")]
    if not (connection.test_error or connection.test_failure or connection.test_state):
        return []
    why, advice = explain_failure(connection)
    return [("test", f"the connection cannot be used: {why}"), ("next", advice)]


def _connected(response: Mapping[str, Any]) -> list[tuple[str, str]]:
    is_usable = SourceConnection(dict(response)).is_usable
    return _usable(response) if is_usable else [("next", "test it, then read which models it serves")]


def describe_missing_models(synced: SyncedModels) -> list[str]:
    """Describe which models of a source are not in the outcome of a sync, and why, and which are not in its list."""
    said = []
    if synced.list_failure:
        said.append(f"the list of models could not be read: {line(synced.list_failure)}")
    if synced.left_out:
        left_out = f"{counted(len(synced.left_out), 'model')} left out"
        said.append(f"{left_out} as not for text, by name or kind: {_names(synced.left_out)}")
    if synced.unlisted:
        said.append(f"the source does not list {_names(synced.unlisted)}, but answered a call of that name")
    return said


def _served(response: Mapping[str, Any]) -> list[tuple[str, str]]:
    synced = SyncedModels(dict(response))
    found = [each.upstream_ref or each.id for each in synced.deployments or () if each.status == "listed"]
    names = f": {_names(found)}" if found else ""
    missing = [("note", words) for words in describe_missing_models(synced)]
    return [("serves", f"{counted(len(found), 'model')}{names}"), *missing]


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(map(line, names[:_NAMED]))}{more}"


def _effects(response: Mapping[str, Any]) -> list[tuple[str, str]]:
    effects = response.get("effects")
    if not isinstance(effects, Mapping):
        return []
    return [
        (f"{_DISABLED.get(str(name), str(name))} disabled", _names([str(id) for id in ids]) or "none")
        for name, ids in effects.items()
        if isinstance(ids, list)
    ]


def models_of(*connections: SourceConnection) -> tuple[str, str]:
    """Return the screen of models, and its filter for those of some connections."""
    return "models", build_field_filter("connection_id", *(connection.id for connection in connections))


def _step(action: ResourceAction[SourceConnection], step: str, **more: Any) -> ResourceAction[SourceConnection]:
    assert action.mutation is not None
    return replace(action, step=step, mutation=replace(action.mutation, **more))


SYNC: Final = ResourceAction[SourceConnection](
    "sync",
    "Read its models",
    "sources sync",
    enabled_when=lambda it: it.is_usable,
    off_because="It is not usable before a test has passed.",
    mutation=Mutation(
        operation="postSourceConnectionsByConnectionIdDeploymentsSync",
        sentence=_sync_text,
        confirm_label="Read them",
        members=lambda _: {},
        invalidates=(SourceConnection, Deployment, CatalogEntry),
        summarize=_served,
    ),
)
SYNC_NEW: Final = _step(SYNC, "step 4 of 4", leads_to=models_of)
"""The first reading of a new connection's models, which can then be saved."""

SAVE_MODELS: Final = ResourceAction[SourceConnection](
    "its_models",
    "Save one of its models",
    "",
    enabled_when=lambda it: it.is_usable,
    off_because="It is not usable before a test has passed.",
    leads_to=models_of,
)

TEST: Final = ResourceAction[SourceConnection](
    "test",
    "Test it",
    "sources test",
    enabled_when=_is_on,
    off_because="It is disconnected.",
    mutation=Mutation(
        operation="postSourceConnectionsByConnectionIdTest",
        sentence=_test_text,
        cancel_label="Do not call it",
        summarize=_usable,
        status=_status,
    ),
)
TEST_NEW: Final = _step(TEST, "step 3 of 4", then=lambda tested: SYNC_NEW if tested.is_usable else None)
"""The test of a new connection, whose models are not known yet."""


def find_without_models(
    connections: Iterable[SourceConnection], entries: Iterable[CatalogEntry]
) -> list[SourceConnection]:
    """Return the connections that are not disconnected and of which the catalog lists no model."""
    listed = {entry.connection.connection_id for entry in entries if entry.connection is not None}
    return [each for each in connections if _is_on(each) and each.id not in listed]


def first_step(connection: SourceConnection) -> ResourceAction[SourceConnection]:
    """Return what such a connection needs next: its models read, or before that a test."""
    return SYNC_NEW if connection.is_usable else TEST_NEW


CONNECT_WITH_KEY: Final = ResourceAction[PageResult](
    "connect_with",
    "Connect it",
    "",
    step="step 2 of 4",
    mutation=Mutation(
        operation="postSourceConnections",
        sentence=_connecting_to,
        cancel_label="Do not connect it",
        members=_of_handoff,
        fields=(
            FormField(
                path="display_name", label="name", hint="display name, up to 200 characters", is_required=True,
                start=_usual_name,
            ),
        ),
        request="source.ConnectionRequest",
        invalidates=(SourceConnection,),
        summarize=_connected,
        status=_status,
        then=lambda response: None if response.is_usable else TEST_NEW,
    ),
)  # fmt: skip

ROTATE_TO_KEY: Final = ResourceAction[PageResult](
    "rotate_with", "Give it the entered key", "",
    mutation=Mutation(
        operation="postSourceConnectionsByConnectionIdRotate",
        sentence=lambda it: f"Gives connection {it.subject.id} the key that was entered, in place of what it has and"
        " before any test. None of its models can run until a test has passed with the new key.",
        confirm_label="Use the new key",
        members=lambda it: {"handoff_intent_id": it.state.get("handoff_intent_id")},
        request="source.RotateRequest",
        invalidates=(SourceConnection,),
        summarize=lambda _: (("next", "test it with its new key"),),
        status=_status,
        then=lambda _: TEST,
    ),
)  # fmt: skip


def _tested_key_words(body: Mapping[str, Any]) -> DialogWords:
    name = line(body.get("display_name"))
    return DialogWords(
        f"Give {name} another key",
        f"Tests connection {name} with the key that was entered. Only if the test passes, that key takes the place of"
        " the old one. If it fails, the old one stays in use: ask for another page then.",
        "Test the new key",
    )


ROTATE_TO_TESTED_KEY: Final = ResourceAction[PageResult](
    "rotate_with", "Give it the entered key", "",
    mutation=Mutation(
        operation="postSourceConnections",
        sentence=lambda it: _tested_key_words(it.subject.raw).sentence,
        words_for=_tested_key_words,
        cancel_label="Keep the old key",
        members=lambda it: {**_of_handoff(it), "display_name": it.subject.display_name},
        request="source.ConnectionRequest",
        invalidates=(SourceConnection,),
        summarize=lambda response: [("key", "the new one is in use"), *_usable(response)],
        status=_status,
        done="replaced",
    ),
)  # fmt: skip


def _rotation_for(entered: PageResult) -> ResourceAction[PageResult] | None:
    """Return the rotation that tests the key first, where the service can.

    The local service tests a change of a working connection before it makes it, and finds the connection by its
    address and name. Only that service says ``connected_as``: the first connection to the address.
    """
    first, connection = entered.state.get("connected_as"), entered.subject
    if not isinstance(first, Mapping) or not isinstance(connection, SourceConnection) or not connection.is_usable:
        return None
    is_found = connection.id == first.get("connection_id") or connection.display_name != first.get("display_name")
    return ROTATE_TO_TESTED_KEY if is_found else None


def _handoff_page(
    what: str,
    then: ResourceAction[PageResult],
    then_for: Callable[[PageResult], ResourceAction[PageResult] | None] = lambda _: None,
    step: str = "",
) -> PrivatePageSpec[Any]:
    return PrivatePageSpec(
        what=what,
        read="getSourceCredentialHandoffsByHandoffIntentId",
        read_id=lambda _, response: str(response.get("handoff_intent_id", "")),
        progress=handoff_progress,
        then=then,
        then_for=then_for,
        step=step,
    )


def _keyless_words(body: Mapping[str, Any]) -> DialogWords | None:
    if body.get("auth_scheme") != KEYLESS:
        return None
    return DialogWords(
        "Authorise a source without a key",
        "Prepares a connection that is called without a key. Nothing is connected and no server is called yet.",
        "Prepare it",
    )


def _protocols(source_id: str) -> tuple[str, ...]:
    return tuple(name for name, source in PROTOCOLS.items() if source == source_id)


def _connecting(
    start: Any, scheme: Any, *, address: str = "", protocol: str = "", begins_in: str = ""
) -> Mutation[Any]:
    return Mutation(
        operation="postSourceCredentialHandoffs",
        sentence=lambda _: "Asks for a private page on which the source's key is entered; a source without a key needs"
        " no page. Nothing is connected yet, and no key is ever typed here.",
        cancel_label="Cancel",
        words_for=_keyless_words,
        begins_in=begins_in,
        fields=(
            FormField(path="source_id", label="source", hint="openai_compatible takes any address",
                start=start, offer=Suggestions(kind=SourceProfile), is_required=True),
            FormField(path="auth_scheme", label="authorised by", hint="none for a server that takes no key",
                start=scheme, choices=("api_key", "none"), is_required=True),
            FormField(path="endpoint.base_url", label="address", hint="for a source without an address of its own",
                start=lambda _: address),
            FormField(path="endpoint.protocol_profile", label="protocol", choices=tuple(PROTOCOLS),
                hint="the form of requests to that address", start=lambda _: protocol,
                follows="source_id", words_for=_protocols),
            FormField(path="endpoint.models", id="models", label="models", kind="list",
                hint="for a server that lists none: names, separated by commas"),
            FormField(path="endpoint.prices.*.input_usd_per_million", id="price-input", label="input USD",
                hint="per million tokens, for every model there, such as 0.25"),
            FormField(path="endpoint.prices.*.output_usd_per_million", id="price-output", label="output USD",
                hint="per million tokens; both prices or none"),
        ),
        request="source.HandoffRequest",
        private_page=_handoff_page("enter the key of the source", CONNECT_WITH_KEY, step=FIRST_STEP),
    )  # fmt: skip


CONNECT: Final = ResourceAction[None](
    "connect", "Connect a source", "sources connect", step=FIRST_STEP,
    mutation=_connecting(lambda _: "", lambda _: "api_key"),
)  # fmt: skip


def connect_server(address: str, *, needs_key: bool) -> ResourceAction[None]:
    """Return the action that connects a server with OpenAI's protocol; without an address the user types it."""
    scheme = "api_key" if needs_key else KEYLESS
    mutation = _connecting(
        lambda _: OPENAI_COMPATIBLE,
        lambda _: scheme,
        address=address,
        protocol="openai_chat",
        begins_in="" if address else "endpoint-base_url",
    )
    return ResourceAction("connect", "Connect a model server", "sources connect", step=FIRST_STEP, mutation=mutation)


CONNECT_PROFILE: Final = ResourceAction[SourceProfile](
    "connect", "Connect it", "sources connect", step=FIRST_STEP,
    mutation=_connecting(lambda it: it.id, first_scheme),
)  # fmt: skip

NAME_MODELS: Final = ResourceAction[SourceConnection](
    "models", "Add or remove models by name", "sources sync", enabled_when=_is_on,
    off_because="It is disconnected.",
    mutation=Mutation(
        operation="postSourceConnectionsByConnectionIdDeploymentsSync",
        sentence=lambda it: f"Each model to add is called once over {quote_name(it)}, with the smallest"
        " message; if one fails, nothing changes. A model to remove is taken off without a call.",
        confirm_label="Change them",
        fields=(
            FormField(path="models", label="add", kind="list",
                hint="names at the source, separated by commas; it need not list them"),
            FormField(path="remove", label="or remove", kind="list",
                hint="names of its models; they stay off until added here"),
        ),
        request="source.SyncRequest",
        invalidates=(SourceConnection, Deployment, CatalogEntry),
        summarize=_served,
    ),
)  # fmt: skip

ROTATE: Final = ResourceAction[SourceConnection](
    "rotate", "Give it another key", "sources rotate", enabled_when=_takes_key,
    off_because="It is disconnected, or its source takes no key.",
    label_for=lambda it: "Give it a key" if it.auth_scheme == KEYLESS else None,
    mutation=Mutation(
        operation="postSourceCredentialHandoffs",
        sentence=_rotation_text,
        members=_same_endpoint,
        request="source.HandoffRequest",
        private_page=_handoff_page("enter another key of the source", ROTATE_TO_KEY, _rotation_for),
    ),
)  # fmt: skip


def _disconnection_text(connection: SourceConnection) -> str:
    key = "" if connection.auth_scheme == KEYLESS else " and destroys its key"
    effect = "Its models and the saved models that use them are disabled with it."
    return f"Disconnects {quote_name(connection)} for good{key}. {effect}"


DISCONNECT: Final = ResourceAction[SourceConnection](
    "disconnect", "Disconnect it", "sources disconnect", is_destructive=True,
    summary="disconnect sources, and disable the models saved from them",
    enabled_when=_is_on, off_because="It is disconnected already.",
    mutation=Mutation(
        operation="deleteSourceConnectionsByConnectionId",
        sentence=_disconnection_text,
        cancel_label="Keep it connected",
        invalidates=(SourceConnection, Deployment, CatalogEntry, Arm),
        summarize=_effects,
        done="disconnected",
    ),
)  # fmt: skip

ACTIONS: Final = (TEST, SYNC, SAVE_MODELS, NAME_MODELS, ROTATE, DISCONNECT)

MAKES: Final = (CONNECT,)
PROFILE_ACTIONS: Final = (CONNECT_PROFILE,)
