"""Sources, models and skills of the sample organization, set up as an owner would."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.arm import ModelArmRequest, SkillArmRequest
from runwatch.records.source import KEYLESS
from runwatch.service.models import arms, catalog, connections, handoffs, model_sync, sources
from runwatch.service.models.providers.sample_provider import BULLETS_WANTED, REFUSED_KEY
from runwatch.service.models.providers.sample_sources import SAMPLE_SOURCES
from runwatch.service.models.providers.types import ProviderError
from runwatch.service.sample.tools import Organization, Tools, read_token
from runwatch.service.tables import arms_table, connections_table, deployments_table
from runwatch.service.transaction import Row, Transaction

SOURCE_KEY: Final = Secret("sample-source-key")
"""A key for sample sources, which accept every key but one; it opens nothing."""

MODELS: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "river-mini": ("sample_gateway", "river/river-mini", ("public",)),
    "ember-small": ("sample_north", "ember-small", ("public", "sandbox")),
    "ember-large": ("sample_north", "ember-large", ("public", "tenant_internal")),
    "ember-classic": ("sample_north", "ember-classic", ("public",)),
    "river-pro": ("sample_gateway", "river/river-pro", ("public",)),
    "cedar-standard": ("sample_cloud", "cedar-standard", ("public", "tenant_internal")),
    "cedar-deep": ("sample_cloud", "cedar-deep", ("public",)),
    "ember-next": ("sample_north", "ember-next", ("public",)),
}
"""Saved models by their names in the run kinds: source, name at the source, and data class grants. The first one ranks
first when only cost counts.
"""

_SKILLS: Final = (
    ("Sample: short answers", ("public",), "Answer in one short paragraph."),
    ("Sample: bullet points", ("tenant_internal",), f"Answer with {BULLETS_WANTED}, and with nothing else."),
)
_REGION: Final = "form"


async def connect(tools: Tools, who: Organization, source_id: str, name: str, key: Secret | None = None) -> Row:
    """Connect a source, with a key if given, without testing it."""
    handoff = await _handoff(tools, who, source_id, key)
    return await tools.database.write(
        lambda transaction: connections.add(transaction, who.tenant_id, handoff["handoff_intent_id"], name)
    )


async def test_and_sync(tools: Tools, connection: Row) -> None:
    found = await connections.ask(tools.vault, tools.providers, connection)

    def store(transaction: Transaction) -> None:
        model_sync.sync(transaction, connections.record_pass(transaction, connection, found), found)

    await tools.database.write(store)


async def serve(tools: Tools, who: Organization, source_id: str) -> None:
    """Connect a sample source without a key, and sync its models."""
    name = next(source.display_name for source in SAMPLE_SOURCES if source.source_id == source_id)
    connection = await connect(tools, who, source_id, name)
    await test_and_sync(tools, connection)
    who.connections[source_id] = connection["connection_id"]


async def spoil(tools: Tools, who: Organization, source_id: str, connection_id: str) -> None:
    """Replace a connection's key by one that the source refuses, and test it."""
    handoff = await _handoff(tools, who, source_id, REFUSED_KEY)
    rotated, handle = await tools.database.write(
        lambda transaction: connections.rotate(transaction, who.tenant_id, connection_id, handoff["handoff_intent_id"])
    )
    await tools.vault.remove_all([handle])
    try:
        await connections.ask(tools.vault, tools.providers, rotated)
    except ProviderError as error:
        await tools.database.write(partial(connections.record_failure, tested=rotated, error=error))


async def disconnect(tools: Tools, who: Organization, connection_id: str) -> None:
    key_id = who.principal.key_id
    _, handle = await tools.database.write(
        lambda transaction: connections.revoke(transaction, who.tenant_id, connection_id, acted_by=key_id)
    )
    await tools.vault.remove_all([handle])


async def save(tools: Tools, who: Organization, name: str, connection_id: str | None = None) -> str:
    """Save a model of :data:`MODELS`, through its own source unless a connection is given; return the arm's id."""
    source_id, upstream_ref, grants = MODELS[name]
    through = connection_id or who.connections[source_id]

    def effect(transaction: Transaction) -> str:
        connection = transaction.get(connections_table, {"connection_id": through})
        served = transaction.get(deployments_table, {"connection_id": through, "upstream_ref": upstream_ref})
        body = catalog.arm_template(connection, served) | {"data_class_grants": list(grants)}
        request = ModelArmRequest.model_validate(body)
        return str(arms.register(transaction, who.tenant_id, request, acted_by=who.principal.key_id)["arm_id"])

    return await tools.database.write(effect)


async def save_without_route(tools: Tools, who: Organization) -> str:
    """Save a model that no connection serves; return the arm's id."""
    request = ModelArmRequest.model_validate(
        {
            "kind": "model",
            "display_name": "Sample Lost (no source serves it)",
            "provider": "sample_elsewhere",
            "model_id": "lost-1",
            "capability_tags": ["text.generate"],
            "data_class_grants": ["public"],
        }
    )
    register = partial(arms.register, tenant_id=who.tenant_id, request=request, acted_by=who.principal.key_id)
    return str((await tools.database.write(register))["arm_id"])


async def save_skills(tools: Tools, who: Organization) -> None:
    """Save the skills: one whose text needs a repair, and one that is correct."""
    for name, grants, text in _SKILLS:
        content = f"Write for busy readers.\n[[region:{_REGION}]]\n{text}\n[[/region:{_REGION}]]\nUse plain words."
        request = SkillArmRequest.model_validate(
            {
                "kind": "skill",
                "display_name": name,
                "capability_tags": ["text.generate"],
                "data_class_grants": list(grants),
                "artifact": {"content": content, "version": "1", "editable_regions": [_REGION]},
            }
        )
        await tools.database.write(
            partial(arms.register, tenant_id=who.tenant_id, request=request, acted_by=who.principal.key_id)
        )


async def disable(tools: Tools, who: Organization, arm_id: str) -> None:
    key_id = who.principal.key_id
    await tools.database.write(
        lambda transaction: arms.disable(transaction, who.tenant_id, arm_id, arms.DISABLED_BY_OWNER, acted_by=key_id)
    )


async def _handoff(tools: Tools, who: Organization, source_id: str, key: Secret | None) -> Row:
    scheme = KEYLESS if key is None else "api_key"
    profile = sources.find(sources.profiles(SAMPLE_SOURCES), source_id, scheme)
    endpoint: dict[str, Any] = sources.endpoint_of(profile, scheme, None)
    handle = None if key is None else await tools.vault.put(key)

    def effect(transaction: Transaction) -> Row:
        row, address = handoffs.begin(transaction, who.principal, profile, scheme, endpoint, origin=tools.origin)
        if handle is None or address is None:
            return row
        return handoffs.complete(transaction, read_token(address), handle)

    return await tools.database.write(effect)


def arm_ids(transaction: Transaction, tenant_id: str) -> dict[str, str]:
    """Return the organization's ready arms of :data:`MODELS`, by name."""
    rows = transaction.oldest(arms_table, {"tenant_id": tenant_id, "kind": "model", "status": "ready"})
    names = {(source_id, upstream_ref): name for name, (source_id, upstream_ref, _) in MODELS.items()}
    found = {(row["provider"], row["model_id"]): str(row["arm_id"]) for row in rows}
    return {names[pair]: arm_id for pair, arm_id in found.items() if pair in names}
