"""Operations of the service that this client calls (manual: interface, "Endpoints"; manual: interface, "Resources").

Ids are those of the specification or else of the official client. The routes of protected keys have no ids there; the
ids here follow the same pattern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from runwatch.records.account import Account, TopUpIntent
from runwatch.records.agent import ReviewAgent
from runwatch.records.api_key import ApiKey
from runwatch.records.arm import Arm, ArmOutcome
from runwatch.records.compliance import ComplianceExport
from runwatch.records.credential import Credential
from runwatch.records.error_codes import CODES
from runwatch.records.evaluation import EvalSummary
from runwatch.records.event import RunEvent
from runwatch.records.github import GithubConnection, GithubIntent
from runwatch.records.model import CatalogEntry, Definition, Deployment
from runwatch.records.model_server import ModelServerSearch
from runwatch.records.proposal import Proposal
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run, RunResult
from runwatch.records.service_problem import ProblemLookup
from runwatch.records.source import Disconnected, Handoff, SourceConnection, SourceProfile
from runwatch.records.template import Application, Plan, Selection, Template
from runwatch.records.usage import Usage
from runwatch.records.verifier import KeyConnection, KeyIntent, Verifier, VerifierOutcome, VerifierTest
from runwatch.records.webhook import Delivery, Webhook


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the service.

    Attributes:
        id: Its name in the specification.
        method: The HTTP method, in capitals.
        path: The path with its ``/v1`` prefix and parameters in braces.
        title: What it does, for users: "Cancel a run".
        mutates: Whether it changes something, so that a read-only client refuses it. Stateless plans and quotes do not
            mutate although they are posted (manual: decisions, "Read-only mode").
        record: The record of the response, or of its items for a list. ``None`` where none is declared.
        lists: Whether it returns a list of records.
        refusals: The error codes that prove that the operation had no effect. ``None`` where any 4XX but 408 does.
        secret_members: Secret members of the response, nested ones with dots: minted keys and addresses of private
            pages. The caller may show them once; no log and no journal ever holds one.
        secret_address: Whether path and query are also secret, so that the journal gets neither.
    """

    id: str
    method: str
    path: str
    title: str
    mutates: bool = False
    record: type[Record] | None = None
    lists: bool = False
    refusals: frozenset[str] | None = None
    secret_members: tuple[str, ...] = ()
    secret_address: bool = False


RUN_REFUSALS: Final = frozenset(code for code, facts in CODES.items() if facts.refuses_run)
"""The eight codes that prove that a submit accepted no run (manual: interface, "Problems and error codes")."""

PRIVATE_ENTRY: Final = Operation(
    "postPrivateEntry", "POST", "/", "Enter a secret on its private page", mutates=True, secret_address=True
)
"""The only request outside the REST operations: to the page that an intent names (manual: security, "Private pages").
"""


def _list(id: str, path: str, title: str, record: type[Record]) -> Operation:
    return Operation(id, "GET", path, title, record=record, lists=True)


def _read(id: str, path: str, title: str, record: type[Record], *secret_members: str) -> Operation:
    return Operation(id, "GET", path, title, record=record, secret_members=secret_members)


def _plan(id: str, path: str, title: str, record: type[Record] | None) -> Operation:
    """Declare a POST that changes nothing."""
    return Operation(id, "POST", path, title, record=record)


def _write(
    id: str, call: str, title: str, record: type[Record] | None, *secret_members: str, lists: bool = False
) -> Operation:
    method, _, path = call.partition(" ")
    return Operation(id, method, path, title, mutates=True, record=record, lists=lists, secret_members=secret_members)


_RUN: Final = "/v1/executions/{execution_id}"
_ARM: Final = "/v1/arms/{arm_id}"
_VERIFIER: Final = "/v1/verifiers/{verifier_id}"
_HANDOFFS: Final = "/v1/source-credential-handoffs"
_CONNECTION: Final = "/v1/source-connections/{connection_id}"
_APPLICATION: Final = "/v1/tenant-template-applications/{application_id}"
_PROPOSAL: Final = "/v1/proposals/{proposal_id}"
_KEY: Final = "/v1/api-keys/{api_key_id}"
_AGENT: Final = "/v1/review-composer/agents/{arm_id}/connection"
_WEBHOOK: Final = "/v1/webhooks/{webhook_id}"

_RUNS: Final = (
    Operation(
        "postExecutions", "POST", "/v1/executions", "Submit a run", mutates=True, record=Run, refusals=RUN_REFUSALS
    ),
    _list("getExecutions", "/v1/executions", "List runs", Run),
    _read("getExecutionsByExecutionId", _RUN, "Read a run", Run),
    _list("getExecutionsByExecutionIdEvents", f"{_RUN}/events", "Read the events of a run", RunEvent),
    _read("getExecutionsByExecutionIdResult", f"{_RUN}/result", "Read the result of a run", RunResult),
    _write("postExecutionsByExecutionIdCancel", f"POST {_RUN}/cancel", "Cancel a run", Run),
    _list("getReceipts", "/v1/receipts", "List receipts", Receipt),
    _read("getReceiptsByExecutionId", "/v1/receipts/{execution_id}", "Read a receipt", Receipt),
)

_OPTIONS: Final = (
    _list("getArms", "/v1/arms", "List saved models", Arm),
    _read("getArmsByArmId", _ARM, "Read a saved model", Arm),
    _write("postArms", "POST /v1/arms", "Save a model, agent or skill", ArmOutcome),
    _write("patchArmsByArmId", f"PATCH {_ARM}", "Change a saved model", Arm),
    _write("deleteArmsByArmId", f"DELETE {_ARM}", "Disable a saved model", Arm),
    _list("getModelCatalog", "/v1/model-catalog", "List the models that can be saved", CatalogEntry),
    _plan("postModelCatalogQuote", "/v1/model-catalog/quote", "Quote a model", None),
    _list("getModelDefinitions", "/v1/model-definitions", "List model definitions", Definition),
    _list("getModelDeployments", "/v1/model-deployments", "List model deployments", Deployment),
    _read(
        "getModelDeploymentsByModelDeploymentId",
        "/v1/model-deployments/{model_deployment_id}",
        "Read a model deployment",
        Deployment,
    ),
)

_CHECKS: Final = (
    _list("getVerifiers", "/v1/verifiers", "List output checks", Verifier),
    _write("postVerifiers", "POST /v1/verifiers", "Register an output check", VerifierOutcome),
    _read("getVerifiersByVerifierId", _VERIFIER, "Read an output check", Verifier),
    _write("patchVerifiersByVerifierId", f"PATCH {_VERIFIER}", "Change an output check", Verifier),
    _write("deleteVerifiersByVerifierId", f"DELETE {_VERIFIER}", "Retire an output check", None),
    _write("postVerifiersByVerifierIdTest", f"POST {_VERIFIER}/test", "Test an output check", VerifierTest),
    _read(
        "getVerifiersByVerifierIdConnection",
        f"{_VERIFIER}/connection",
        "Read the connection of an output check",
        KeyConnection,
    ),
    _write(
        "postVerifiersByVerifierIdConnectionIntents",
        f"POST {_VERIFIER}/connection-intents",
        "Begin to enter the key of an output check",
        KeyIntent,
        "continue_url",
    ),
    _write(
        "postVerifiersByVerifierIdConnectionTest",
        f"POST {_VERIFIER}/connection/test",
        "Test the entered key of an output check and use it",
        None,
    ),
    _write(
        "postVerifiersByVerifierIdConnectionRevoke",
        f"POST {_VERIFIER}/connection/revoke",
        "Stop using the key of an output check",
        None,
    ),
)

_SOURCES: Final = (
    _list("getModelSourceProfiles", "/v1/model-source-profiles", "List sources", SourceProfile),
    _write(
        "postSourceCredentialHandoffs", f"POST {_HANDOFFS}", "Begin to enter a source's key", Handoff, "continue_url"
    ),
    _read(
        "getSourceCredentialHandoffsByHandoffIntentId",
        f"{_HANDOFFS}/{{handoff_intent_id}}",
        "Read how far the entry of a source's key is",
        Handoff,
    ),
    _list("getSourceConnections", "/v1/source-connections", "List connections to sources", SourceConnection),
    _write("postSourceConnections", "POST /v1/source-connections", "Connect a source", SourceConnection),
    _read("getSourceConnectionsByConnectionId", _CONNECTION, "Read a connection", SourceConnection),
    _write(
        "postSourceConnectionsByConnectionIdTest", f"POST {_CONNECTION}/test", "Test a connection", SourceConnection
    ),
    _write(
        "postSourceConnectionsByConnectionIdDeploymentsSync",
        f"POST {_CONNECTION}/deployments/sync",
        "Read which models a connection serves",
        Deployment,
        lists=True,
    ),
    _write(
        "postSourceConnectionsByConnectionIdRotate",
        f"POST {_CONNECTION}/rotate",
        "Give a connection another key",
        SourceConnection,
    ),
    _write("deleteSourceConnectionsByConnectionId", f"DELETE {_CONNECTION}", "Disconnect a source", Disconnected),
    _plan(
        "postModelServerSearches",
        "/v1/model-server-searches",
        "Look for model servers on the service's machine",
        ModelServerSearch,
    ),
)

_TEMPLATES: Final = (
    _list("getTenantTemplates", "/v1/tenant-templates", "List templates", Template),
    _plan("postTenantTemplatePlans", "/v1/tenant-template-plans", "Plan a template", Plan),
    _write(
        "postTenantTemplateApplications",
        "POST /v1/tenant-template-applications",
        "Apply a template",
        Application,
        "consent.continue_url",
    ),
    _read(
        "getTenantTemplateApplications",
        "/v1/tenant-template-applications",
        "Look up the application of a template",
        Application,
        "application.consent.continue_url",
    ),
    _read(
        "getTenantTemplateApplicationsByApplicationId",
        _APPLICATION,
        "Read the application of a template",
        Application,
        "consent.continue_url",
    ),
    _write(
        "postTenantTemplateApplicationsByApplicationIdResume",
        f"POST {_APPLICATION}/resume",
        "Go on with the application of a template",
        Application,
        "consent.continue_url",
    ),
    _read("getTenantModelSelection", "/v1/tenant-model-selection", "Read the selected model", Selection),
    _write("postTenantModelSelection", "POST /v1/tenant-model-selection", "Select a proved model", Selection),
)

_ORGANIZATION: Final = (
    _read("getAccount", "/v1/account", "Read the account", Account),
    _list("getProposals", "/v1/proposals", "List proposals", Proposal),
    _read("getProposalsByProposalId", _PROPOSAL, "Read a proposal", Proposal),
    _write("postProposalsByProposalIdApprove", f"POST {_PROPOSAL}/approve", "Approve a proposal", Proposal),
    _write("postProposalsByProposalIdReject", f"POST {_PROPOSAL}/reject", "Reject a proposal", Proposal),
    _list("getApiKeys", "/v1/api-keys", "List API keys", ApiKey),
    _write("postApiKeys", "POST /v1/api-keys", "Make an API key", ApiKey, "key"),
    _write("patchApiKeysByApiKeyId", f"PATCH {_KEY}", "Label an API key", ApiKey),
    _write("postApiKeysByApiKeyIdRevoke", f"POST {_KEY}/revoke", "Revoke an API key", ApiKey),
    _write(
        "postAccountTopUpIntents", "POST /v1/account/top-up-intents", "Begin to add sample credit", TopUpIntent,
        "continue_url",
    ),
    _read("getUsage", "/v1/usage", "Read what was used", Usage),
    _read("getEvalSummary", "/v1/eval-summary", "Read how output checks have judged", EvalSummary),
    _read("getComplianceExport", "/v1/compliance-export", "Export receipts and decisions", ComplianceExport),
    _read("getProblemLookups", "/v1/problem-lookups", "Look up answered problems", ProblemLookup),
    _write("postTenants", "POST /v1/tenants", "Make an organization", None, "api_key.key"),
    _write("patchTenantsByTenantId", "PATCH /v1/tenants/{tenant_id}", "Rename the organization", None),
    _list("getWebhooks", "/v1/webhooks", "List webhooks", Webhook),
    _write("postWebhooks", "POST /v1/webhooks", "Add a webhook", Webhook, "secret"),
    _write("deleteWebhooksByWebhookId", f"DELETE {_WEBHOOK}", "Remove a webhook", None),
    _list("getWebhooksByWebhookIdDeliveries", f"{_WEBHOOK}/deliveries", "List deliveries", Delivery),
    _write(
        "postWebhooksByWebhookIdRotateSecret", f"POST {_WEBHOOK}/rotate-secret", "Give a webhook another secret",
        Webhook, "secret",
    ),
    _write(
        "postWebhooksDeliveriesByDeliveryIdReplay",
        "POST /v1/webhooks/deliveries/{delivery_id}/replay",
        "Deliver again",
        Delivery,
    ),
)  # fmt: skip

_REVIEWS: Final = (
    _list("getReviewComposerAgents", "/v1/review-composer/agents", "List review agents", ReviewAgent),
    _write("postReviewComposerAgents", "POST /v1/review-composer/agents", "Register a review agent", ArmOutcome),
    _read("getReviewComposerAgentsByArmIdConnection", _AGENT, "Read the connection of a review agent", KeyConnection),
    _write(
        "postReviewComposerAgentsByArmIdConnectionIntents",
        f"POST {_AGENT}/intents",
        "Begin to enter the key of a review agent",
        KeyIntent,
        "continue_url",
    ),
    _write(
        "postReviewComposerAgentsByArmIdConnectionTest",
        f"POST {_AGENT}/test",
        "Test the entered key of a review agent and use it",
        None,
    ),
    _write(
        "postReviewComposerAgentsByArmIdConnectionRevoke",
        f"POST {_AGENT}/revoke",
        "Stop using the key of a review agent",
        None,
    ),
    _list("getCredentials", "/v1/credentials", "List credential references", Credential),
    _write("postCredentials", "POST /v1/credentials", "Name a credential", Credential),
    _list("getGithubConnections", "/v1/github-connections", "List GitHub connections", GithubConnection),
    _write(
        "postGithubConnectionsIntents",
        "POST /v1/github-connections/intents",
        "Begin to connect a repository",
        GithubIntent,
        "continue_url",
    ),
)

_ALL: Final = (*_RUNS, *_OPTIONS, *_CHECKS, *_SOURCES, *_TEMPLATES, *_ORGANIZATION, *_REVIEWS)

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({operation.id: operation for operation in _ALL})
"""Every operation by its id."""


def read_operation(kind: type[Record]) -> Operation | None:
    """Return the operation that reads one record of a kind by its id, or ``None`` if the kind can only be listed."""
    for operation in OPERATIONS.values():
        names = operation.path.count("{")
        if operation.method == "GET" and operation.record is kind and not operation.lists and names == 1:
            return operation
    return None


def find_path_parameter(operation: Operation) -> str:
    """Return the name of the only parameter in an operation's path."""
    return operation.path.partition("{")[2].partition("}")[0]


def is_listable(kind: type[Record]) -> bool:
    """Return whether the service lists this kind by itself, not only as part of another record."""
    return kind.WIRE is not None and bool(kind.WIRE.items) and "{" not in kind.WIRE.path


def list_operation(kind: type[Record]) -> Operation:
    """Return the operation that lists a kind: the declared one, else one made from the record's own declaration.

    Raises:
        LookupError: The service has no such list.
    """
    for operation in OPERATIONS.values():
        if operation.lists and operation.record is kind and "{" not in operation.path:
            return operation
    if kind.WIRE is None or not is_listable(kind):
        raise LookupError(f"no operation lists {kind.KIND}")
    return Operation(f"list {kind.KIND}", "GET", kind.WIRE.path, f"List {kind.WIRE.items}", record=kind, lists=True)
