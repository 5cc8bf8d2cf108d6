"""Every operation that the service serves, in one table (manual: interface, "Endpoints", "Resources").

Everything the suites ask of an operation is here: a new operation is tested by adding its row.
"""

from __future__ import annotations

from typing import Final

from tests.contract import bodies as b
from tests.contract import goods
from tests.contract import members as m
from tests.contract import model_members as mm
from tests.contract.goods import having, of, of_one, sending
from tests.contract.operation import Operation
from tests.contract.shapes import TIME, Shape, words


def _list(id: str, path: str, items: str, shape: Shape, **more: object) -> Operation:
    """A list; one that comes in pages always tells whether it goes on."""
    answers: Shape = {items: [shape]} | ({"next_cursor": m.TEXT_OR_NULL} if more.get("pages") else {})
    return Operation(id=id, call=f"GET {path}", items=items, answers=answers, **more)  # type: ignore[arg-type]


def _op(id: str, call: str, answers: Shape, **more: object) -> Operation:
    return Operation(id=id, call=call, answers=answers, **more)  # type: ignore[arg-type]


_RUN: Final = "/v1/executions/{execution_id}"
_ARM: Final = "/v1/arms/{arm_id}"
_CHECK: Final = "/v1/verifiers/{verifier_id}"
_HANDOFFS: Final = "/v1/source-credential-handoffs"
_SOURCE: Final = "/v1/source-connections/{connection_id}"
_APPLICATIONS: Final = "/v1/tenant-template-applications"
_APPLICATION: Final = f"{_APPLICATIONS}/{{application_id}}"
_PROPOSAL: Final = "/v1/proposals/{proposal_id}"
_KEY: Final = "/v1/api-keys/{api_key_id}"
_AGENT: Final = "/v1/review-composer/agents/{arm_id}/connection"
_WEBHOOK: Final = "/v1/webhooks/{webhook_id}"
_INTENT: Final = {"stop_choice": {"kind": "preset_days", "days": 30}}
_ARM_PATCH: Final = {"display_name": "New", "capability_tags": ["text.generate"], "data_class_grants": ["public"]}
_SINCE: Final = ("2026-01-01", "yesterday")

_RUNS: Final = (
    _op("postExecutions", "POST /v1/executions", m.RUN, make=goods.submit, takes=b.RUN_BODY, needs_key=True,
        closed=("routing",), names=("verifier_id", "routing.required_arm_id")),
    _list("getExecutions", "/v1/executions", "executions", m.RUN, make=having(lambda o: o.echo_run), pages=True,
          filters={"status": ("completed", "done"), "since": _SINCE}),
    _op("getExecutionsByExecutionId", f"GET {_RUN}", m.RUN, make=of_one(lambda o: o.live_run, "execution_id")),
    _list("getExecutionsByExecutionIdEvents", f"{_RUN}/events", "events", m.EVENT,
          make=of_one(lambda o: o.live_run, "execution_id"), filters={"after": ("nobody", "")}),
    _op("getExecutionsByExecutionIdResult", f"GET {_RUN}/result", m.RESULT,
        make=of_one(lambda o: o.live_run, "execution_id")),
    _op("postExecutionsByExecutionIdCancel", f"POST {_RUN}/cancel", m.RUN,
        make=of(lambda o: o.run_under_way, "execution_id")),
    _list("getReceipts", "/v1/receipts", "receipts", m.RECEIPT, make=having(lambda o: o.live_run),
          filters={"status": ("completed", "running"), "since": _SINCE, "arm_id": ("arm_nobody", "")}),
    _op("getReceiptsByExecutionId", "GET /v1/receipts/{execution_id}", m.RECEIPT,
        make=of_one(lambda o: o.live_run, "execution_id")),
)  # fmt: skip

_OPTIONS: Final = (
    _list("getArms", "/v1/arms", "arms", m.ARM, make=having(lambda o: o.saved), pages=True,
          filters={"kind": ("model", "robot"), "status": ("ready", "good")}),
    _op("getArmsByArmId", f"GET {_ARM}", m.ARM, make=of_one(lambda o: o.saved, "arm_id")),
    _op("postArms", "POST /v1/arms", m.ARM_OUTCOME, make=goods.register_arm, takes=b.ARM_BODY,
        names=("model_deployment_id",)),
    _op("patchArmsByArmId", f"PATCH {_ARM}", m.ARM, make=of(lambda o: o.arm, "arm_id", _ARM_PATCH),
        takes=b.ARM_PATCH, takes_nothing=True),
    _op("deleteArmsByArmId", f"DELETE {_ARM}", m.ARM, make=of(lambda o: o.arm, "arm_id")),
    _op("getModelCatalog", "GET /v1/model-catalog",
        {"catalog_policy": words("curated_tested_connection_filtered"), "models": [mm.CATALOG_ENTRY]},
        make=having(lambda o: o.connection), items="models"),
    _op("postModelCatalogQuote", "POST /v1/model-catalog/quote", mm.QUOTE, make=goods.quote, takes=b.QUOTE_BODY,
        names=("model_deployment_id",), changes=False),
    _op("getModelDefinitions", "GET /v1/model-definitions", {"schema_version": str, "models": [mm.DEFINITION]},
        make=having(lambda o: o.connection), items="models"),
    _list("getModelDeployments", "/v1/model-deployments", "deployments", mm.DEPLOYMENT,
          make=having(lambda o: o.connection)),
    _op("getModelDeploymentsByModelDeploymentId", "GET /v1/model-deployments/{model_deployment_id}", mm.DEPLOYMENT,
        make=goods.deployment),
)  # fmt: skip

_CHECKS: Final = (
    _list("getVerifiers", "/v1/verifiers", "verifiers", m.VERIFIER, make=having(lambda o: o.check), pages=True),
    _op("postVerifiers", "POST /v1/verifiers", m.VERIFIER_OUTCOME, make=goods.register_verifier,
        takes=b.VERIFIER_BODY),
    _op("getVerifiersByVerifierId", f"GET {_CHECK}", m.VERIFIER, make=of_one(lambda o: o.check, "verifier_id")),
    _op("patchVerifiersByVerifierId", f"PATCH {_CHECK}", m.VERIFIER, make=goods.change_verifier,
        takes=b.VERIFIER_PATCH, takes_nothing=True),
    _op("deleteVerifiersByVerifierId", f"DELETE {_CHECK}", None, make=of(lambda o: o.verifier, "verifier_id"),
        status=204),
    _op("postVerifiersByVerifierIdTest", f"POST {_CHECK}/test", m.VERIFIER_TEST,
        make=of(lambda o: o.verifier, "verifier_id")),
    _op("getVerifiersByVerifierIdConnection", f"GET {_CHECK}/connection", m.VERIFIER_CONNECTION,
        make=of_one(lambda o: o.check, "verifier_id")),
    _op("postVerifiersByVerifierIdConnectionIntents", f"POST {_CHECK}/connection-intents",
        m.KEY_INTENT | {"intake_origin": str}, make=of(lambda o: o.verifier, "verifier_id", _INTENT),
        takes=b.INTENT_BODY, closed=("stop_choice",)),
    _op("postVerifiersByVerifierIdConnectionTest", f"POST {_CHECK}/connection/test",
        {"generation": int, "handle": str}, make=goods.test_verifier_key, takes=b.KEY_TEST_BODY),
    _op("postVerifiersByVerifierIdConnectionRevoke", f"POST {_CHECK}/connection/revoke", {"generation": int},
        make=goods.revoke_verifier_key, takes=b.KEY_REVOKE_BODY),
)  # fmt: skip

_SOURCES: Final = (
    _op("getModelSourceProfiles", "GET /v1/model-source-profiles", {"schema_version": str, "sources": [mm.PROFILE]},
        items="sources"),
    _op("postSourceCredentialHandoffs", f"POST {_HANDOFFS}", mm.HANDOFF | {"continue_url": str}, status=201,
        make=goods.begin_handoff, takes=b.HANDOFF_BODY),
    _op("getSourceCredentialHandoffsByHandoffIntentId", f"GET {_HANDOFFS}/{{handoff_intent_id}}", mm.HANDOFF,
        make=of_one(lambda o: o.handoff, "handoff_intent_id")),
    _list("getSourceConnections", "/v1/source-connections", "connections", mm.SOURCE_CONNECTION,
          make=having(lambda o: o.connection)),
    _op("postSourceConnections", "POST /v1/source-connections", mm.SOURCE_CONNECTION, make=goods.connect_source,
        takes=b.CONNECTION_BODY, names=("handoff_intent_id",)),
    _op("getSourceConnectionsByConnectionId", f"GET {_SOURCE}", mm.SOURCE_CONNECTION,
        make=of_one(lambda o: o.connection, "connection_id")),
    _op("postSourceConnectionsByConnectionIdTest", f"POST {_SOURCE}/test", mm.SOURCE_CONNECTION,
        make=of(lambda o: o.connection, "connection_id"), calls_out=True),
    _op("postSourceConnectionsByConnectionIdDeploymentsSync", f"POST {_SOURCE}/deployments/sync",
        {"deployments": [mm.DEPLOYMENT]}, make=of(lambda o: o.connection, "connection_id", {}), takes={},
        calls_out=True),
    _op("postSourceConnectionsByConnectionIdRotate", f"POST {_SOURCE}/rotate", mm.SOURCE_CONNECTION,
        make=goods.rotate, takes=b.ROTATE_BODY, names=("handoff_intent_id",)),
    _op("deleteSourceConnectionsByConnectionId", f"DELETE {_SOURCE}",
        {"connection_id": str, "status": str, "revoked_at": TIME}, make=of(lambda o: o.connection, "connection_id")),
    _op("postModelServerSearches", "POST /v1/model-server-searches", {"servers": [mm.MODEL_SERVER]}, changes=False,
        is_owners=True, ours=True),
)  # fmt: skip

_TEMPLATES: Final = (
    _list("getTenantTemplates", "/v1/tenant-templates", "templates", mm.TEMPLATE, make=having(lambda o: o.connection)),
    _op("postTenantTemplatePlans", "POST /v1/tenant-template-plans", mm.PLAN, make=goods.plan, takes=b.PLAN_BODY,
        changes=False),
    _op("postTenantTemplateApplications", f"POST {_APPLICATIONS}", mm.APPLICATION, make=goods.apply,
        takes=b.APPLICATION_BODY, needs_key=True, names=("digest",)),
    _op("getTenantTemplateApplications", f"GET {_APPLICATIONS}", {"application": (None, mm.APPLICATION)},
        make=goods.look_up_application, filters={"template_id": ("starter", "other")}),
    _op("getTenantTemplateApplicationsByApplicationId", f"GET {_APPLICATION}", mm.APPLICATION,
        make=of_one(lambda o: o.ready_application, "application_id")),
    _op("postTenantTemplateApplicationsByApplicationIdResume", f"POST {_APPLICATION}/resume", mm.APPLICATION,
        make=goods.resume, takes=b.RESUME_BODY, needs_key=True),
    _op("getTenantModelSelection", "GET /v1/tenant-model-selection", {"selection": (None, mm.SELECTION)},
        make=goods.read_selection),
    _op("postTenantModelSelection", "POST /v1/tenant-model-selection", mm.SELECTION, make=goods.select,
        takes=b.SELECTION_BODY, needs_key=True, names=("application_id",)),
)  # fmt: skip

_ORGANIZATION: Final = (
    _op("getAccount", "GET /v1/account", m.ACCOUNT),
    _op("postAccountTopUpIntents", "POST /v1/account/top-up-intents", m.TOP_UP, make=sending({"amount_usd": 5}),
        takes=b.TOP_UP_BODY, is_sample=True, ours=True),
    _list("getProposals", "/v1/proposals", "proposals", m.PROPOSAL, make=goods.list_proposals, pages=True,
          filters={"status": ("pending", "open"), "arm_id": ("arm_nobody", "")}),
    _op("getProposalsByProposalId", f"GET {_PROPOSAL}", m.WHOLE_PROPOSAL,
        make=of_one(lambda o: o.proposal, "proposal_id")),
    _op("postProposalsByProposalIdApprove", f"POST {_PROPOSAL}/approve", m.WHOLE_PROPOSAL,
        make=of(lambda o: o.proposal, "proposal_id")),
    _op("postProposalsByProposalIdReject", f"POST {_PROPOSAL}/reject", m.WHOLE_PROPOSAL,
        make=of(lambda o: o.proposal, "proposal_id", {"reason": "Too vague."}), takes=b.REJECTION_BODY),
    _list("getApiKeys", "/v1/api-keys", "api_keys", m.API_KEY),
    _op("postApiKeys", "POST /v1/api-keys", m.MINTED_KEY, make=sending({"display_name": "ci", "role": "reader"}),
        takes=b.KEY_BODY),
    _op("patchApiKeysByApiKeyId", f"PATCH {_KEY}", m.API_KEY,
        make=of(lambda o: o.api_key, "api_key_id", {"display_name": "desk"}), takes=b.NAME_BODY),
    _op("postApiKeysByApiKeyIdRevoke", f"POST {_KEY}/revoke", m.API_KEY, make=of(lambda o: o.api_key, "api_key_id")),
    _op("getUsage", "GET /v1/usage", m.USAGE, make=goods.report, filters={
        "period": ("2026-11", "November"), "from": ("2026-11-01", "soon"), "to": ("2099-11-30", "late")}),
    _op("getEvalSummary", "GET /v1/eval-summary", m.EVAL_SUMMARY, make=goods.report, filters={
        "from": ("2026-11-01", "soon"), "to": ("2099-11-30", "late")}),
    _op("getComplianceExport", "GET /v1/compliance-export", m.COMPLIANCE, make=goods.report,
        filters={"period": ("2026-11", "November")}),
    _op("getProblemLookups", "GET /v1/problem-lookups", m.PROBLEM_LOOKUP, is_owners=True, ours=True, filters={
        "since": ("2026-11-01", "soon"), "until": ("2099-11-30T10:00:00Z", "late"), "instance": ("nobody", "")}),
    _op("postTenants", "POST /v1/tenants", m.NEW_TENANT, make=sending({"display_name": "Fabrikam"}),
        takes=b.NAME_BODY, is_open=True),
    _op("patchTenantsByTenantId", "PATCH /v1/tenants/{tenant_id}", m.TENANT, make=goods.rename_tenant,
        takes=b.NAME_BODY),
    _list("getWebhooks", "/v1/webhooks", "webhooks", m.WEBHOOK, make=having(lambda o: o.webhook)),
    _op("postWebhooks", "POST /v1/webhooks", m.WEBHOOK | {"secret": str}, make=goods.add_webhook,
        takes=b.WEBHOOK_BODY),
    _op("deleteWebhooksByWebhookId", f"DELETE {_WEBHOOK}", m.REMOVED_WEBHOOK,
        make=of(lambda o: o.webhook, "webhook_id"), ours=True),
    _list("getWebhooksByWebhookIdDeliveries", f"{_WEBHOOK}/deliveries", "deliveries", m.DELIVERY,
          make=goods.deliveries, pages=True),
    _op("postWebhooksByWebhookIdRotateSecret", f"POST {_WEBHOOK}/rotate-secret", m.WEBHOOK | {"secret": str},
        make=of(lambda o: o.webhook, "webhook_id")),
    _op("postWebhooksDeliveriesByDeliveryIdReplay", "POST /v1/webhooks/deliveries/{delivery_id}/replay", m.DELIVERY,
        make=of_one(lambda o: o.delivery, "delivery_id")),
)  # fmt: skip

_REVIEWS: Final = (
    _list("getReviewComposerAgents", "/v1/review-composer/agents", "agents", m.AGENT, make=having(lambda o: o.agent)),
    _op("postReviewComposerAgents", "POST /v1/review-composer/agents", m.ARM_OUTCOME, make=goods.register_agent,
        takes=b.AGENT_BODY, needs_key=True),
    _op("getReviewComposerAgentsByArmIdConnection", f"GET {_AGENT}", m.AGENT_CONNECTION,
        make=of_one(lambda o: o.connected_agent, "arm_id")),
    _op("postReviewComposerAgentsByArmIdConnectionIntents", f"POST {_AGENT}/intents", m.KEY_INTENT,
        make=of(lambda o: o.agent, "arm_id", _INTENT), takes=b.INTENT_BODY, closed=("stop_choice",)),
    _op("postReviewComposerAgentsByArmIdConnectionTest", f"POST {_AGENT}/test",
        {"status": words("active"), "handle": str, "arm_id": str}, make=goods.test_agent_key,
        takes=b.KEY_TEST_BODY),
    _op("postReviewComposerAgentsByArmIdConnectionRevoke", f"POST {_AGENT}/revoke",
        {"status": words("revoked"), "arm_id": str}, make=goods.revoke_agent_key, takes=b.KEY_REVOKE_BODY,
        takes_nothing=True),
    _list("getCredentials", "/v1/credentials", "credentials", m.CREDENTIAL),
    _op("postCredentials", "POST /v1/credentials", m.CREDENTIAL, make=sending({"display_name": "Patch agent key"}),
        takes=b.NAME_BODY),
    _list("getGithubConnections", "/v1/github-connections", "connections", m.GITHUB_CONNECTION,
          make=goods.connected_repository, ours=True),
    _op("postGithubConnectionsIntents", "POST /v1/github-connections/intents", m.GITHUB_INTENT,
        make=sending({"repository": "acme/widgets"}), takes=b.REPOSITORY_BODY, closed=("",)),
)  # fmt: skip

_PAGES: Final = (
    _op("getConnectSignIn", "GET /connect/sign-in", "Sign in", is_open=True, is_page=True, ours=True),
    _op("postConnectSignIn", "POST /connect/sign-in", "Signed in", make=goods.sign_in, takes=b.SIGN_IN_BODY,
        is_open=True, is_page=True, ours=True),
    _op("postGithubConnectionsSignOut", "POST /v1/github-connections/sign-out", "Signed out", is_open=True,
        is_page=True, ours=True),
    _op("getConnectByKind", "GET /connect/{kind}", "Key of an output check", make=goods.show_page, is_open=True,
        is_page=True, ours=True),
    _op("postConnectByKind", "POST /connect/{kind}", {"handle": str, "captured_generation": int},
        make=goods.enter_secret, takes=b.SECRET_BODY, is_open=True, is_page=True, ours=True),
)  # fmt: skip

TABLE: Final = (*_RUNS, *_OPTIONS, *_CHECKS, *_SOURCES, *_TEMPLATES, *_ORGANIZATION, *_REVIEWS, *_PAGES)
"""The table."""

REST: Final = tuple(operation for operation in TABLE if not operation.is_page)
"""The REST operations, without what belongs to the user's browser."""

DONE: Final = tuple(operation for operation in TABLE if not operation.is_sample)
"""What every service does."""
