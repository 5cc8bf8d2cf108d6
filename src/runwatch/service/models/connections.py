"""Connections to sources: an organization's account with a source, its tests, models, rotation and revocation.

See (manual: interface, "Sources, connections and credential handoffs"). A connection is used only while
:func:`is_usable` is true. Every change updates the options that use the connection in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from runwatch.base.clock import format_iso
from runwatch.base.network.service_target import server_identity
from runwatch.base.secrets.secret import Secret
from runwatch.records.failed_calls import describe_body
from runwatch.records.source import ANY_ADDRESS, NO_LIST, SourceConnection, describe_test_failure, find_connected
from runwatch.service.access.finder import finder
from runwatch.service.access.vault import Vault
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.ids import new_id
from runwatch.service.models import arms, handoffs
from runwatch.service.models.availability import FAILED, REMOVED, is_usable
from runwatch.service.models.catalog import LANES, is_pool
from runwatch.service.models.providers.providers import Providers
from runwatch.service.models.providers.types import ANSWER_MEMBERS, ProviderAddress, ProviderError, ServedModels
from runwatch.service.tables import arms_table, connections_table, deployments_table, handoffs_table
from runwatch.service.transaction import Row, Transaction, pick

TEST_ERRORS: Final = (
    "authentication",
    "permission",
    "model_not_found",
    "rate_limited",
    "capacity",
    "source_5xx",
    "provider_insufficient_funds",
)
"""Values of ``test_error``: the source was reached and refused."""

CALLED: Final = "called"
"""Member of the ``endpoint`` column with the time of each model's last answered test call."""

_ANSWER: Final = "test_answer"
"""Member of the ``endpoint`` column with the source's response to a failed test."""

_ANSWER_MEMBERS: Final = ("http_status", "suggestions", "message", "models", "was_sent", *ANSWER_MEMBERS)

_PUBLISHERS: Final = {"anthropic_direct": "anthropic"}
"""Publishers of sources whose lists of models name none."""

_SHOWN: Final = (
    "connection_id source_id display_name auth_scheme auth_binding_ref source_scope status binding_revision "
    "tested_binding_revision test_state last_tested_at rotated_at revoked_at created_at updated_at"
)


def build_address(connection: Row, secret: Secret | None) -> ProviderAddress:
    endpoint = connection["endpoint"]
    return ProviderAddress(
        endpoint["base_url"],
        endpoint["protocol_profile"],
        connection["auth_scheme"],
        secret,
        connection["tenant_id"],
        _PUBLISHERS.get(connection["source_id"]),
    )


async def test(vault: Vault, providers: Providers, connection: Row) -> ServedModels:
    """Test a connection with its own secret: call the models named by its user, or list the models.

    Raises ProviderError if the source gives no usable response.
    """
    named = connection["endpoint"].get("models", [])
    return await ask(vault, providers, connection, to_test=named)


async def ask(vault: Vault, providers: Providers, connection: Row, *, to_test: Sequence[str] = ()) -> ServedModels:
    """Ask a connection's source what it serves, with the connection's own secret.

    Args:
        to_test: Models to call once each with a minimal request; those named before are served without a call.

    Raises:
        ProviderError: No usable response; ``credential_unavailable`` when the secret cannot be opened.
    """
    handle = connection["secret_handle"]
    secret = None if handle is None else await vault.get(handle)
    if handle is not None and secret is None:
        raise ProviderError("credential_unavailable", was_sent=False)
    address = build_address(connection, secret)
    known = connection["endpoint"].get("models", [])
    if to_test:
        return await providers.test_models(address, to_test, [name for name in known if name not in to_test])
    return await providers.find_models(address, known)


find: Final = finder(connections_table, "connection_id", "source connection")
"""Return the source connection with an id of an organization, or refuse with ``not_found``."""


def find_open(transaction: Transaction, tenant_id: str, connection_id: str) -> Row:
    """Return a connection that is not disconnected.

    Refuses with ``not_found``; ``invalid_state`` for a disconnected one.
    """
    row = find(transaction, tenant_id, connection_id)
    if row["revoked_at"] is not None:
        raise RefusalError("invalid_state", "The connection is disconnected; connect the source anew.")
    return row


def connect(
    transaction: Transaction, tenant_id: str, handoff_id: str, display_name: str, given: Mapping[str, Any]
) -> tuple[Row, str | None]:
    """Connect a source as :func:`add` does, unless the organization has this connection already.

    An open connection to the same source and address with the same name is kept, and takes over the key, the models and
    the prices of the handoff. If that needs a test (:func:`plan_change`), it is not usable before it.

    Returns the connection, and the handle of a secret that it no longer uses, for removal after the commit. Refuses as
    :func:`add` does; ``validation_failed`` also for a handoff of another source, scheme or scope.

    Args:
        given: ``source_id``, ``auth_scheme`` and ``source_scope``, which have to be those of the handoff.
    """
    handoff = handoffs.consume(transaction, tenant_id, handoff_id)
    errors = [(name, "Must be that of the handoff.") for name, value in given.items() if value != handoff[name]]
    if errors:
        raise make_validation_error(*errors)
    same = find_same(transaction, tenant_id, handoff, display_name)
    if same is None:
        return _insert(transaction, tenant_id, display_name, handoff), None
    return _take_over(transaction, find(transaction, tenant_id, same.id), handoff)


def add(transaction: Transaction, tenant_id: str, handoff_id: str, display_name: str) -> Row:
    """Connect a source with the credential of a completed handoff. The connection is disabled until a test passes.

    Refuses with ``validation_failed`` for an unknown handoff; ``invalid_state`` for one that is not completed, is used
    or expired.
    """
    return _insert(transaction, tenant_id, display_name, handoffs.consume(transaction, tenant_id, handoff_id))


def _insert(transaction: Transaction, tenant_id: str, display_name: str, handoff: Row) -> Row:
    connection_id = new_id("conn", transaction.now)
    transaction.add(
        connections_table,
        connection_id=connection_id,
        tenant_id=tenant_id,
        display_name=display_name,
        auth_binding_ref=new_id("bind", transaction.now),
        **pick(handoff, "source_id auth_scheme secret_handle source_scope endpoint"),
        status="disabled",
        binding_revision=1,
        test_state="untested",
    )
    return find(transaction, tenant_id, connection_id)


def find_same(
    transaction: Transaction, tenant_id: str, handoff: Row, display_name: str | None = None
) -> SourceConnection | None:
    """Return the open connection to the source and address of a handoff; with a name, only one of that name."""
    rows = transaction.newest(connections_table, {"tenant_id": tenant_id, "source_id": handoff["source_id"]})
    known = [SourceConnection(connection_json(row)) for row in rows]
    asked = handoff["endpoint"]
    found = find_connected(known, handoff["source_id"], asked["base_url"], asked["protocol_profile"])
    return next((connection for connection in found if display_name in {None, connection.display_name}), None)


class ConnectionChange(NamedTuple):
    """A change of a working connection by a handoff, to be tested before it is made.

    Attributes:
        to_test: The models to call; without any, the list of models is the test.
    """

    before: Row
    after: dict[str, Any]
    to_test: list[str]


def plan_change(
    transaction: Transaction, tenant_id: str, handoff_id: str, display_name: str, given: Mapping[str, Any]
) -> ConnectionChange | None:
    """Return how :func:`connect` would change a working connection; ``None`` if it would not, or needs no test."""
    handoff = transaction.one(handoffs_table, {"handoff_intent_id": handoff_id, "tenant_id": tenant_id})
    if handoff is None or handoff["state"] != "completed" or handoffs.is_overdue(transaction, handoff):
        return None
    same = find_same(transaction, tenant_id, handoff, display_name)
    row = None if same is None else find(transaction, tenant_id, same.id)
    if row is None or not is_usable(row) or any(value != handoff[name] for name, value in given.items()):
        return None
    endpoint = _merge_endpoints(row["endpoint"], handoff["endpoint"])
    if not _has_other_key(row, handoff):
        new = [name for name in endpoint["models"] if name not in row["endpoint"].get("models", [])]
        return ConnectionChange(row, {**row, "endpoint": endpoint}, new) if new else None
    after = {**row, **pick(handoff, "auth_scheme secret_handle"), "endpoint": endpoint}
    return ConnectionChange(row, after, endpoint["models"])


def _merge_endpoints(endpoint: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the endpoint of a connection with the models and the prices of a handoff's."""
    prices = {name: {**endpoint[name], **asked["own_prices"]} for name in ("own_prices", "prices")}
    models = list(dict.fromkeys([*endpoint.get("models", []), *asked["models"]]))
    removed = [name for name in endpoint.get(REMOVED, []) if name not in asked["models"]]
    return {**endpoint, **prices, "models": models, REMOVED: removed}


def _has_other_key(row: Row, handoff: Row) -> bool:
    return handoff["secret_handle"] is not None or handoff["auth_scheme"] != row["auth_scheme"]


def _take_over(transaction: Transaction, row: Row, handoff: Row) -> tuple[Row, str | None]:
    """Give a connection the key of a handoff if it has one, and its models and prices; new models need a test."""
    endpoint = _merge_endpoints(row["endpoint"], handoff["endpoint"])
    if _has_other_key(row, handoff):
        return _give_key(transaction, row, handoff, endpoint=endpoint)
    is_tested = endpoint["models"] == row["endpoint"].get("models", [])
    untested = {} if is_tested else {"test_state": "untested", "test_error": None}
    _change(transaction, row, endpoint=endpoint, **untested)
    return _settled(transaction, row), None


def record_pass(transaction: Transaction, tested: Row, found: ServedModels) -> Row:
    """Record a passed test with the base URL that works and the models listed there.

    Models that failed where others answered are recorded with their failure; one that was never served is not kept.
    Refuses with ``invalid_state`` when the connection has changed since it was read for the test.
    """
    row = unchanged(transaction, tested)
    now = format_iso(transaction.now)
    ever_served = transaction.list_all(deployments_table, {"connection_id": row["connection_id"]})
    kept = [served["upstream_ref"] for served in ever_served if served["upstream_ref"] in found.failed]
    endpoint = {
        **{name: value for name, value in row["endpoint"].items() if name != _ANSWER},
        "base_url": found.base_url,
        "models": [*found.named, *kept],
        FAILED: {name: describe_failure(row, error) for name, error in found.failed.items()},
        CALLED: {**row["endpoint"].get(CALLED, {}), **dict.fromkeys(found.called, now)},
    }
    _change(
        transaction,
        row,
        endpoint=endpoint,
        status="active",
        tested_binding_revision=row["binding_revision"],
        test_state="passed",
        test_error=None,
        last_tested_at=now,
    )
    where = {"connection_id": row["connection_id"], "upstream_ref": found.called}
    transaction.change(deployments_table, where, last_tested_at=now)
    return _settled(transaction, row)


def describe_failure(connection: Row, error: ProviderError) -> str:
    """Describe in one sentence, with the source's own words, why a call of a connection failed."""
    words = describe_test_failure(
        error.kind,
        error.http_status,
        error.message,
        was_sent=error.was_sent,
        auth_scheme=connection["auth_scheme"],
        came=describe_body(error.body_kind, error.content_type),
    )
    if error.retry_after_s is not None:
        words = f"{words}. It asks to wait {error.retry_after_s} s"
    near = f". It serves {', '.join(error.suggestions)}" if error.suggestions else ""
    return f"{words}{near}"


def describe_list_failure(connection: Row, error: ProviderError) -> str:
    """Describe in one sentence why the list of a connection's models could not be read."""
    if error.kind == "model_not_found":
        return f"{NO_LIST} (HTTP {error.http_status})"
    return describe_failure(connection, error)


def record_failure(transaction: Transaction, tested: Row, error: ProviderError) -> Row:
    """Record a failed test and the source's response.

    Refuses with ``invalid_state`` when the connection has changed since it was read for the test.
    """
    row = unchanged(transaction, tested)
    _change(
        transaction,
        row,
        endpoint={
            **row["endpoint"],
            _ANSWER: {name: getattr(error, name) for name in _ANSWER_MEMBERS},
        },
        test_state="failed",
        test_error=error.kind,
        last_tested_at=format_iso(transaction.now),
    )
    return _settled(transaction, row)


def rotate(transaction: Transaction, tenant_id: str, connection_id: str, handoff_id: str) -> tuple[Row, str | None]:
    """Replace a connection's secret by that of a completed handoff; the connection then needs a new test.

    A server that a user connected can change between a key and no key; every other source keeps its scheme.

    Returns the connection, and the handle of the old secret, for removal after the commit. Refuses with ``not_found``;
    ``invalid_state`` for a disconnected connection or an unusable handoff; ``validation_failed`` for a handoff of
    another source, scheme or address.
    """
    row = find_open(transaction, tenant_id, connection_id)
    handoff = handoffs.consume(transaction, tenant_id, handoff_id)
    same_source = handoff["source_id"] == row["source_id"]
    same_scheme = handoff["auth_scheme"] == row["auth_scheme"] or row["source_id"] in ANY_ADDRESS
    asked, kept = handoff["endpoint"]["base_url"], row["endpoint"]["base_url"]
    if not (same_source and same_scheme) or server_identity(kept) != server_identity(asked):
        raise make_validation_error(("handoff_intent_id", "Must be a handoff of the same source, scheme and address."))
    return _give_key(transaction, row, handoff)


def _give_key(transaction: Transaction, row: Row, handoff: Row, **more: object) -> tuple[Row, str | None]:
    """Give a connection the key of a handoff; return the connection and the handle of its old secret."""
    binding_ref = new_id("bind", transaction.now)
    arms.follow_binding(transaction, row, binding_ref)
    _change(
        transaction,
        row,
        auth_scheme=handoff["auth_scheme"],
        auth_binding_ref=binding_ref,
        secret_handle=handoff["secret_handle"],
        binding_revision=row["binding_revision"] + 1,
        test_state="untested",
        test_error=None,
        rotated_at=format_iso(transaction.now),
        **more,
    )
    return _settled(transaction, row), row["secret_handle"]


def revoke(
    transaction: Transaction, tenant_id: str, connection_id: str, *, acted_by: str | None
) -> tuple[dict[str, Any], str | None]:
    """Disconnect a source and permanently disable its models and the options that use them.

    Calls already sent may finish, and nothing is revoked at the provider. Repeating it does nothing. A connection that
    no saved model can have used is removed with its models, because nothing refers to it.

    Returns the acknowledgement (its ``effects`` are not in the specification), and the handle of the secret, for
    removal after the commit. Refuses with ``not_found``.
    """
    row = find(transaction, tenant_id, connection_id)
    effects: dict[str, list[str]] = {"arms": [], "model_deployments": []}
    if row["revoked_at"] is None:
        served = transaction.newest(deployments_table, {"connection_id": connection_id})
        for arm in arms.list_bound(transaction, served):
            arms.disable(transaction, tenant_id, arm["arm_id"], arms.DISCONNECTED, acted_by=acted_by)
            effects["arms"].append(arm["arm_id"])
        for deployment in served:
            if deployment["status"] != "disabled":
                where = {"model_deployment_id": deployment["model_deployment_id"]}
                transaction.change(deployments_table, where, status="disabled", updated_at=format_iso(transaction.now))
                effects["model_deployments"].append(deployment["model_deployment_id"])
        _change(transaction, row, status="disabled", revoked_at=format_iso(transaction.now), secret_handle=None)
    gone = find(transaction, tenant_id, connection_id)
    if not _was_usable_by_arm(transaction, gone):
        for table in (deployments_table, connections_table):
            transaction.remove(table, {"connection_id": connection_id})
    shown = {"connection_id": connection_id, "status": gone["status"], "revoked_at": gone["revoked_at"]}
    return {**shown, "effects": effects}, row["secret_handle"]


def _was_usable_by_arm(transaction: Transaction, row: Row) -> bool:
    """Whether a saved model, a disabled one included, is or was bound to a connection, or may choose one itself."""
    served = transaction.list_all(deployments_table, {"connection_id": row["connection_id"]})
    ids = tuple(deployment["model_deployment_id"] for deployment in served)
    models = transaction.list_all(arms_table, {"tenant_id": row["tenant_id"], "kind": "model"})
    return any(arm["model_deployment_id"] in {None, *ids} for arm in models) and (
        row["tested_binding_revision"] is not None
    )


def connection_json(row: Row) -> dict[str, Any]:
    """Build the JSON of a connection.

    Not in the specification: ``endpoint``, ``usable``, ``failed_models`` (the models that fail where others answer, and
    why), ``removed_models`` (those that a user took off), ``test_failure`` (the kind of call failure, also where
    ``test_error`` has no value for it), and from the source's response to a failed test ``test_http_status``,
    ``test_message``, ``test_models`` (the models whose calls failed), ``test_suggestions`` (names of models it serves
    instead), ``test_was_sent`` (whether it received the request), and where there are any ``test_retry_after_s`` (how
    long it asked to wait), ``test_body_kind`` and ``test_content_type`` (what came in place of an answer).
    """
    endpoint = row["endpoint"]
    answer = endpoint.get(_ANSWER, {})
    lane, owner = LANES[is_pool(row)]
    return {
        **pick(row, _SHOWN),
        "test_error": row["test_error"] if row["test_error"] in TEST_ERRORS else None,
        "test_failure": row["test_error"],
        "test_http_status": answer.get("http_status"),
        "test_message": answer.get("message"),
        "test_models": answer.get("models", []),
        "test_suggestions": answer.get("suggestions", []),
        "test_was_sent": answer.get("was_sent"),
        **{f"test_{name}": answer[name] for name in ANSWER_MEMBERS if answer.get(name) is not None},
        "access_lane": lane,
        "credential_owner": owner,
        "commercial_owner": owner,
        "customer_ref": row["tenant_id"],
        "endpoint": {
            **pick(endpoint, "base_url protocol_profile location"),
            "models": endpoint.get("models", []),
            "prices": endpoint.get("own_prices", {}),
        },
        "failed_models": [{"model": name, "why": why} for name, why in endpoint.get(FAILED, {}).items()],
        "removed_models": endpoint.get(REMOVED, []),
        "usable": is_usable(row),
    }


def unchanged(transaction: Transaction, before: Row) -> Row:
    """Return the current connection if it is unchanged since its source was called.

    Refuses with ``invalid_state`` when it was disconnected or its credential replaced.
    """
    row = find_open(transaction, before["tenant_id"], before["connection_id"])
    if row["binding_revision"] != before["binding_revision"]:
        raise RefusalError("invalid_state", "The connection's credential changed meanwhile; ask again.")
    return row


def _settled(transaction: Transaction, row: Row) -> Row:
    changed = find(transaction, row["tenant_id"], row["connection_id"])
    arms.update_binding(transaction, changed)
    return changed


def _change(transaction: Transaction, row: Row, **values: object) -> None:
    where = {"connection_id": row["connection_id"]}
    transaction.change(connections_table, where, **values, updated_at=format_iso(transaction.now))
