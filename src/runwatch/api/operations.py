"""Operations of the service that this client calls (manual: interface, "Endpoints"; manual: interface, "Resources").

Ids are those of the specification or else of the official client. The routes of protected keys have no ids there; the
ids here follow the same pattern.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

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


class Operation(NamedTuple):
    """One operation of the service.

    Attributes:
        id: Its name in the specification.
        path: The path with its ``/v1`` prefix and parameters in braces.
        title: What it does, for users: "Cancel a run".
        mutates: Whether it changes something, so that a read-only client refuses it. Stateless plans and quotes do not
            mutate although they are posted (manual: decisions, "Read-only mode").
        record: The record of the response, or of its items for a list. ``None`` where none is declared.
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

SUBMIT: Final = "postExecutions"
CANCEL: Final = "postExecutionsByExecutionIdCancel"

PRIVATE_ENTRY: Final = Operation(
    "postPrivateEntry", "POST", "/", "Enter a secret on its private page", mutates=True, secret_address=True
)
"""The only request outside the REST operations: to the page that an intent names (manual: security, "Private pages").
"""


def _operation(
    call: str,
    title: str,
    record: type[Record] | None,
    *secret_members: str,
    lists: bool = False,
    mutates: bool | None = None,
    refusals: frozenset[str] | None = None,
) -> Operation:
    """Declare an operation, whose id follows from its method and path. Only a GET changes nothing by default."""
    method, _, path = call.partition(" ")
    words = path.removeprefix("/v1/").replace("{", "by-").replace("}", "")
    return Operation(
        method.lower() + "".join(word.capitalize() for word in re.split("[/_-]", words)),
        method,
        path,
        title,
        method != "GET" if mutates is None else mutates,
        record,
        lists,
        refusals,
        secret_members,
    )


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
    _operation("POST /v1/executions", "Submit a run", Run, refusals=RUN_REFUSALS),
    _operation("GET /v1/executions", "List runs", Run, lists=True),
    _operation(f"GET {_RUN}", "Read a run", Run),
    _operation(f"GET {_RUN}/events", "Read the events of a run", RunEvent, lists=True),
    _operation(f"GET {_RUN}/result", "Read the result of a run", RunResult),
    _operation(f"POST {_RUN}/cancel", "Cancel a run", Run),
    _operation("GET /v1/receipts", "List receipts", Receipt, lists=True),
    _operation("GET /v1/receipts/{execution_id}", "Read a receipt", Receipt),
)

_OPTIONS: Final = (
    _operation("GET /v1/arms", "List saved models", Arm, lists=True),
    _operation(f"GET {_ARM}", "Read a saved model", Arm),
    _operation("POST /v1/arms", "Save a model, agent or skill", ArmOutcome),
    _operation(f"PATCH {_ARM}", "Change a saved model", Arm),
    _operation(f"DELETE {_ARM}", "Disable a saved model", Arm),
    _operation("GET /v1/model-catalog", "List the models that can be saved", CatalogEntry, lists=True),
    _operation("POST /v1/model-catalog/quote", "Quote a model", None, mutates=False),
    _operation("GET /v1/model-definitions", "List model definitions", Definition, lists=True),
    _operation("GET /v1/model-deployments", "List model deployments", Deployment, lists=True),
    _operation("GET /v1/model-deployments/{model_deployment_id}", "Read a model deployment", Deployment),
)

_CHECKS: Final = (
    _operation("GET /v1/verifiers", "List output checks", Verifier, lists=True),
    _operation("POST /v1/verifiers", "Register an output check", VerifierOutcome),
    _operation(f"GET {_VERIFIER}", "Read an output check", Verifier),
    _operation(f"PATCH {_VERIFIER}", "Change an output check", Verifier),
    _operation(f"DELETE {_VERIFIER}", "Retire an output check", None),
    _operation(f"POST {_VERIFIER}/test", "Test an output check", VerifierTest),
    _operation(f"GET {_VERIFIER}/connection", "Read the connection of an output check", KeyConnection),
    _operation(
        f"POST {_VERIFIER}/connection-intents",
        "Request the page for the key of an output check",
        KeyIntent,
        "continue_url",
    ),
    _operation(f"POST {_VERIFIER}/connection/test", "Test the entered key of an output check and use it", None),
    _operation(f"POST {_VERIFIER}/connection/revoke", "Stop using the key of an output check", None),
)

_SOURCES: Final = (
    _operation("GET /v1/model-source-profiles", "List sources", SourceProfile, lists=True),
    _operation(f"POST {_HANDOFFS}", "Authorise a source", Handoff, "continue_url"),
    _operation(f"GET {_HANDOFFS}/{{handoff_intent_id}}", "Read the progress of a source's key entry", Handoff),
    _operation("GET /v1/source-connections", "List connections to sources", SourceConnection, lists=True),
    _operation("POST /v1/source-connections", "Connect a source", SourceConnection),
    _operation(f"GET {_CONNECTION}", "Read a connection", SourceConnection),
    _operation(f"POST {_CONNECTION}/test", "Test a connection", SourceConnection),
    _operation(
        f"POST {_CONNECTION}/deployments/sync", "Read the models that a connection serves", Deployment, lists=True
    ),
    _operation(f"POST {_CONNECTION}/rotate", "Rotate a connection's key", SourceConnection),
    _operation(f"DELETE {_CONNECTION}", "Disconnect a source", Disconnected),
    _operation(
        "POST /v1/model-server-searches",
        "Look for model servers on the service's machine",
        ModelServerSearch,
        mutates=False,
    ),
)

_TEMPLATES: Final = (
    _operation("GET /v1/tenant-templates", "List templates", Template, lists=True),
    _operation("POST /v1/tenant-template-plans", "Plan a template", Plan, mutates=False),
    _operation("POST /v1/tenant-template-applications", "Apply a template", Application, "consent.continue_url"),
    _operation(
        "GET /v1/tenant-template-applications",
        "Look up the application of a template",
        Application,
        "application.consent.continue_url",
    ),
    _operation(f"GET {_APPLICATION}", "Read the application of a template", Application, "consent.continue_url"),
    _operation(
        f"POST {_APPLICATION}/resume", "Resume an application of a template", Application, "consent.continue_url"
    ),
    _operation("GET /v1/tenant-model-selection", "Read the selected model", Selection),
    _operation("POST /v1/tenant-model-selection", "Select a proved model", Selection),
)

_ORGANIZATION: Final = (
    _operation("GET /v1/account", "Read the account", Account),
    _operation("GET /v1/proposals", "List proposals", Proposal, lists=True),
    _operation(f"GET {_PROPOSAL}", "Read a proposal", Proposal),
    _operation(f"POST {_PROPOSAL}/approve", "Approve a proposal", Proposal),
    _operation(f"POST {_PROPOSAL}/reject", "Reject a proposal", Proposal),
    _operation("GET /v1/api-keys", "List API keys", ApiKey, lists=True),
    _operation("POST /v1/api-keys", "Create an API key", ApiKey, "key"),
    _operation(f"PATCH {_KEY}", "Label an API key", ApiKey),
    _operation(f"POST {_KEY}/revoke", "Revoke an API key", ApiKey),
    _operation("POST /v1/account/top-up-intents", "Request the page for sample credit", TopUpIntent, "continue_url"),
    _operation("GET /v1/usage", "Read what was used", Usage),
    _operation("GET /v1/eval-summary", "Read pass rates of output checks", EvalSummary),
    _operation("GET /v1/compliance-export", "Export receipts and decisions", ComplianceExport),
    _operation("GET /v1/problem-lookups", "Look up problems of the local service", ProblemLookup),
    _operation("POST /v1/tenants", "Make an organization", None, "api_key.key"),
    _operation("PATCH /v1/tenants/{tenant_id}", "Rename the organization", None),
    _operation("GET /v1/webhooks", "List webhooks", Webhook, lists=True),
    _operation("POST /v1/webhooks", "Add a webhook", Webhook, "secret"),
    _operation(f"DELETE {_WEBHOOK}", "Remove a webhook", None),
    _operation(f"GET {_WEBHOOK}/deliveries", "List deliveries", Delivery, lists=True),
    _operation(f"POST {_WEBHOOK}/rotate-secret", "Rotate a webhook's secret", Webhook, "secret"),
    _operation("POST /v1/webhooks/deliveries/{delivery_id}/replay", "Deliver again", Delivery),
)

_REVIEWS: Final = (
    _operation("GET /v1/review-composer/agents", "List review agents", ReviewAgent, lists=True),
    _operation("POST /v1/review-composer/agents", "Register a review agent", ArmOutcome),
    _operation(f"GET {_AGENT}", "Read the connection of a review agent", KeyConnection),
    _operation(f"POST {_AGENT}/intents", "Request the page for the key of a review agent", KeyIntent, "continue_url"),
    _operation(f"POST {_AGENT}/test", "Test the entered key of a review agent and use it", None),
    _operation(f"POST {_AGENT}/revoke", "Stop using the key of a review agent", None),
    _operation("GET /v1/credentials", "List credential references", Credential, lists=True),
    _operation("POST /v1/credentials", "Name a credential", Credential),
    _operation("GET /v1/github-connections", "List GitHub connections", GithubConnection, lists=True),
    _operation(
        "POST /v1/github-connections/intents",
        "Request the page that connects a repository",
        GithubIntent,
        "continue_url",
    ),
)

_ALL: Final = (*_RUNS, *_OPTIONS, *_CHECKS, *_SOURCES, *_TEMPLATES, *_ORGANIZATION, *_REVIEWS)

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({operation.id: operation for operation in _ALL})


def read_operation(kind: type[Record]) -> Operation | None:
    """Return the operation that reads one record of a kind by its id, or ``None`` if the kind can only be listed."""
    for operation in OPERATIONS.values():
        names = operation.path.count("{")
        if operation.method == "GET" and operation.record is kind and not operation.lists and names == 1:
            return operation
    return None


def fill_path(operation: Operation, record_id: str) -> dict[str, str]:
    """Return the path parameters of an operation on one record; empty if its path has none."""
    name = operation.path.partition("{")[2].partition("}")[0]
    return {name: record_id} if name else {}


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
