"""Checks, agents and references of the sample organization, registered as an owner would."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Final

from runwatch.base.clock import format_iso
from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.agent import AgentRequest
from runwatch.records.requests.verifier import VerifierRequest
from runwatch.service.access import private_entry
from runwatch.service.address_policy import PUBLIC, PUBLIC_OR_LOOPBACK, SAMPLE_CHECKS_PATH
from runwatch.service.checks import bindings
from runwatch.service.checks import verifiers as checks
from runwatch.service.checks.probe import probe
from runwatch.service.checks.sample_checks import SAMPLE_CHECKS, SAMPLE_KEY
from runwatch.service.checks.stop_date import NEVER, StopDate
from runwatch.service.ids import new_id
from runwatch.service.models import agents, github
from runwatch.service.models.agents import preflight
from runwatch.service.sample.check_calls import AGENT_URL
from runwatch.service.sample.models import disable
from runwatch.service.sample.run_kinds import WIDGETS
from runwatch.service.sample.tools import Organization, Tools, read_token
from runwatch.service.tables import credentials_table, verifiers_table
from runwatch.service.transaction import Transaction

REPOSITORIES: Final = (WIDGETS, "sample-organization/docs")

DECLARED: Final = ("five-bullets", "json-object")

_AGENT_RUNTIME_S: Final = 1800


async def register_check(tools: Tools, who: Organization, check: str, name: str, classes: tuple[str, ...]) -> str:
    """Register a sample check served by the service itself; return its id."""
    url = f"{tools.origin}{SAMPLE_CHECKS_PATH}{check}"
    declared = {"correctness_declaration": {"method": "deterministic"}} if check in DECLARED else {}
    request = VerifierRequest.model_validate(
        {
            "display_name": name,
            "version": "1",
            "kind": "endpoint",
            "endpoint": {"url": url},
            "input_data_classes": list(classes),
            "scoring": {"correctness": "boolean_anchors", "quality": "scalar_0_1"},
            **declared,
        }
    )
    report = await probe(tools.calls, PUBLIC_OR_LOOPBACK, tools.clock, url)
    row = await tools.database.write(partial(checks.register, principal=who.principal, request=request, report=report))
    return str(row["verifier_id"])


async def connect_key(tools: Tools, who: Organization, verifier_id: str) -> None:
    """Connect the sample key of a check that requires one."""
    key = Secret(SAMPLE_KEY)
    row = await tools.database.read(lambda transaction: checks.find(transaction, who.tenant_id, verifier_id))
    url, name = row["endpoint"]["url"], row["display_name"]
    await bind(tools, who, "verifier", verifier_id, name, url, key, _stop_in(tools, days=365))
    report = await probe(tools.calls, PUBLIC_OR_LOOPBACK, tools.clock, url, key)
    await tools.database.write(lambda transaction: checks.record_health(transaction, row, report))


async def register_agent(tools: Tools, who: Organization, name: str, path: str, repository: str) -> str:
    """Register a review agent; return its id. One whose address ends in ``gone`` is unreachable."""
    url = f"{AGENT_URL}/{path}"
    request = AgentRequest.model_validate(
        {
            "repository": repository,
            "display_name": name,
            "endpoint": {"url": url},
            "max_runtime_s": _AGENT_RUNTIME_S,
        }
    )
    found = await preflight(tools.calls, url, PUBLIC)
    row = await tools.database.write(partial(agents.register, principal=who.principal, request=request, report=found))
    return str(row["arm_id"])


async def bind(
    tools: Tools,
    who: Organization,
    kind: str,
    subject_id: str,
    name: str,
    url: str,
    key: Secret,
    stop: StopDate = NEVER,
) -> None:
    """Connect the key of a check or an agent, as its private page and its test do."""
    handle = await tools.vault.put(key)

    def effect(transaction: Transaction) -> None:
        _, address = private_entry.begin(
            transaction,
            who.principal,
            kind,
            subject_id,
            origin=tools.origin,
            display_name=name,
            endpoint_origin=bindings.find_origin(url),
            stop=list(stop),
        )
        staged = bindings.stage(transaction, private_entry.use(transaction, kind, read_token(address)), handle)
        bindings.promote(transaction, subject_id, handle=handle, captured_generation=staged.captured_generation)

    await tools.database.write(effect)


async def unbind(tools: Tools, subject_id: str) -> None:
    await tools.database.write(partial(bindings.revoke, subject_id=subject_id))
    await bindings.destroy_retired(tools.database, tools.vault, subject_id)


async def add_references(tools: Tools, who: Organization) -> None:
    """Connect the repositories and add the credential references."""

    def effect(transaction: Transaction) -> None:
        for repository in REPOSITORIES:
            github.record(transaction, who.tenant_id, repository, who.principal.key_id)
        for name in ("Sample: source account", "Sample: staging endpoint"):
            transaction.add(
                credentials_table,
                credential_ref=new_id("cred_ref", transaction.now),
                tenant_id=who.tenant_id,
                display_name=name,
            )

    await tools.database.write(effect)


async def add_agents(tools: Tools, who: Organization) -> None:
    """Register agents in every state: ready with and without a key, unreachable, key stopped or expired, disabled."""
    widgets, docs = REPOSITORIES
    key = Secret("sample-agent-key")
    for name, path, repository, stop in (
        ("Sample reviewer", "reviewer", widgets, NEVER),
        ("Sample reviewer without a key", "open", docs, None),
        ("Sample reviewer that is gone", "gone", widgets, None),
        ("Sample reviewer with a stopped key", "stopped", docs, NEVER),
        ("Sample reviewer whose key is over", "over", widgets, _stop_in(tools, days=7)),
        ("Sample reviewer that was let go", "old", docs, None),
    ):
        arm_id = who.arms[path] = await register_agent(tools, who, name, path, repository)
        if stop is not None:
            await bind(tools, who, "agent", arm_id, name, f"{AGENT_URL}/{path}", key, stop)
        if path == "stopped":
            await unbind(tools, arm_id)
        if path == "old":
            await disable(tools, who, arm_id)


async def add_checks(tools: Tools, who: Organization) -> None:
    """Register every sample check, one that lost its key, and a retired one."""
    for check, sample in SAMPLE_CHECKS.items():
        classes = ("public", "tenant_internal") if check == "five-bullets" else ("public",)
        who.checks[check] = await register_check(tools, who, check, sample.display_name, classes)
    await connect_key(tools, who, who.checks["protected"])
    name = "Sample: not empty, its key was stopped"
    who.checks["unlocked"] = await register_check(tools, who, "protected", name, ("public",))
    await connect_key(tools, who, who.checks["unlocked"])
    await unbind(tools, who.checks["unlocked"])
    retired = await register_check(tools, who, "non-empty", "Sample: not empty, first version", ("public",))
    await tools.database.write(partial(checks.retire, principal=who.principal, verifier_id=retired))


def _stop_in(tools: Tools, days: int) -> StopDate:
    day = (tools.clock.now() + timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0)
    return StopDate(format_iso(day), "UTC")


def check_ids(transaction: Transaction, tenant_id: str) -> dict[str, str]:
    """Return an organization's current sample checks, by the name of their endpoint."""
    rows = transaction.newest(verifiers_table, {"tenant_id": tenant_id, "retired_at": None})
    named = [(row["endpoint"]["url"].rpartition(SAMPLE_CHECKS_PATH), str(row["verifier_id"])) for row in rows]
    return {parts[2]: verifier_id for parts, verifier_id in named if parts[1]}
