"""One plain sentence and one next step for every error code and reason of the interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CODE_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "unauthenticated": (
        "The service does not accept the API key: it is missing, mistyped, expired or revoked.",
        "Check where the key comes from with `runwatch doctor`, then store a valid one with `runwatch config key set"
        " PROFILE`.",
    ),
    "permission_denied": (
        "The API key is valid, but it may not do this; or the idempotency key belongs to another API key of the"
        " organization.",
        "Read the detail, and ask an owner of the organization for the permission, or use the key that started it.",
    ),
    "validation_failed": (
        "The request breaks a rule of the interface; each field that does is listed with what is wrong.",
        "Correct the listed fields and send the request again.",
    ),
    "not_found": (
        "There is nothing with this id or path for this organization.",
        "Check the id, and check with `runwatch account` that the profile belongs to the right organization.",
    ),
    "idempotency_conflict": (
        "The idempotency key was already used with another request body.",
        "Look in `runwatch runs list` for the run that the key started. To start another one, send the new body with"
        " a new key.",
    ),
    "invalid_state": (
        "The resource is in a state that does not allow this, such as a run that has ended and cannot be cancelled.",
        "Refresh the resource, then decide again.",
    ),
    "insufficient_credit": (
        "There is not enough credit for the request.",
        "Top up the balance in Billing; `runwatch account` shows it. A lower cost cap can help only while the balance"
        " is above zero.",
    ),
    "credit_wallet_frozen": (
        "The organization's wallet is frozen, so that nothing that costs money is accepted.",
        "Ask an owner of the organization to settle it in Billing, or contact support with the instance id.",
    ),
    "echo_mode_mismatch": (
        "The request asks for something that a test run cannot use, such as an output check.",
        "Leave it out, or submit a live run, which calls a model and costs money.",
    ),
    "data_class_not_available": (
        "No saved model of the organization is granted one of the requested data classes.",
        "Where no model is saved, `runwatch sources connect` saves one. Else ask for fewer data classes, or have a"
        " saved model granted the missing one.",
    ),
    "quota_exceeded": (
        "The organization's quota of runs is used up for now.",
        "Wait until the quota is reset, `runwatch account` says when, or ask for a larger one.",
    ),
    "rate_limited": (
        "Too many requests came from this organization in a short time.",
        "Wait the stated seconds; runwatch holds its requests back until then. It never retries this by itself.",
    ),
    "upstream_unavailable": (
        "A model provider behind the service did not answer what it was asked for.",
        "Read the detail, and try again later. If a run's outcome is unknown, retry with the same key and body.",
    ),
    "method_not_allowed": (
        "The path exists, but the service does not offer this method on it.",
        "This is a bug in the client or in a proxy: report it with the instance id.",
    ),
    "request_too_large": (
        "The request body is larger than the service accepts.",
        "Send less, for example by pointing to the inputs with a URL instead of sending them along.",
    ),
    "request_timeout": (
        "The request came too slowly, and the service stopped waiting for it.",
        "Check the connection, then retry with the same key and body.",
    ),
    "unsupported_media_type": (
        "The request body was not sent as JSON.",
        "This is a bug in the client or in a proxy: report it with the instance id.",
    ),
    "internal": (
        "The service failed with an internal error.",
        "Retry with the same key and body. If it happens again, quote the instance id to support.",
    ),
    "service_unavailable": (
        "The service cannot reach its database at the moment. A write may or may not have been kept.",
        "Retry with the same key and body in a moment.",
    ),
}
"""Sentence and next step by error code."""

CLIENT_CODE_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "": (
        "The response has no error code; the HTTP status, title and detail are all there is.",
        "Check the base URL and the network with `runwatch doctor`, and try again.",
    ),
    "not_a_problem": (
        "The error did not come from the API: a proxy or another program answered, or the response was cut off.",
        "Check the base URL and the proxy settings with `runwatch doctor`, and try again.",
    ),
    "redirect_refused": (
        "The service answered with a redirect. Redirects are never followed, because the API key goes only to the"
        " address of its profile.",
        "Set the profile's base URL to the service itself.",
    ),
}
"""Sentence and next step for problems that this client reports itself."""

REASON_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "cancelled": (
        "The run was cancelled; a provider call already under way was not reversed.",
        "The run's last event names the API key that did it. Submit again if it was a mistake.",
    ),
    "no_eligible_arms": (
        "No saved model may run this: none is ready and granted all requested data classes.",
        "Save a model, or ask for fewer data classes. `runwatch arms list` shows the status of each, and `runwatch arms"
        " show ID` why one is not ready. A test run (`--mode echo`) needs no model.",
    ),
    "arm_not_ready": (
        "The saved model that the run requires is not ready: it is degraded or disabled.",
        "`runwatch arms show ID` says why. Test its connection with `runwatch sources test ID`, or name another one.",
    ),
    "runtime_exceeded": (
        "The run took longer than its `max_runtime_s` and was ended.",
        "Submit again with a higher runtime cap, or with a smaller task.",
    ),
    "cost_budget_exhausted": (
        "What the calls cost, or may have cost where that is not known, reached `max_cost_usd`. No further call was"
        " made.",
        "Read the receipt. Submit again with a higher cost cap, or connect the source with prices: a call of unknown"
        " cost counts as the whole cap where its model has no price.",
    ),
    "fallback_exhausted": (
        "The output check rejected the output of every saved model that could be tried, or none of them could run.",
        "Read the attempts in the receipt: loosen the check, improve the task, or save a further model.",
    ),
    "execution_terminal": (
        "The run had already ended before this part could continue.",
        "The run's final event gives the reason.",
    ),
    "dispatch_timeout": (
        "The provider did not answer in time.",
        "Submit again, or use a model of another provider while this one is slow.",
    ),
    "dispatch_network_error": (
        "The provider gave no answer: it is stopped or cannot be reached, or it closed the connection before it"
        " answered.",
        "Check that the provider's server is running and test its connection, then submit again.",
    ),
    "dispatch_internal_error": (
        "The provider refused the call, it answered with an error or with nothing usable, or the service failed or"
        " stopped during the call.",
        "Read what the provider answered: `runs show` has it as `provider_errors`, and the attempts in the receipt name"
        " every other failure. After a 429, wait a minute, then submit again. Test the connection when more runs on it"
        " fail the same way.",
    ),
    "candidate_too_large": (
        "The model's output was too large to be handed to the output check.",
        "Ask for a shorter output in the objective.",
    ),
    "response_too_large": (
        "An answer was larger than the service accepts.",
        "Ask for a shorter output in the objective, or make the check answer with less.",
    ),
    "response_incomplete": (
        "The connection to the provider ended in the middle of its answer. The model may have done the work, so the"
        " call may be charged.",
        "Look into the log of the provider's server, or of a proxy in between, then submit again.",
    ),
    "internal": (
        "The service failed with an internal error.",
        "Submit again, and quote the run's id to support when it happens again.",
    ),
    "rejected_by_check": (
        "The output check rejected the model's output, and the run's policy says that this stops the run.",
        "Read the verdict in the receipt: improve the task, or let the policy fall back to another saved model.",
    ),
}
"""Sentence and next step by the ``reason`` of an ended run or slice."""

FAILURE_WORDS: Final[Mapping[str, str]] = {
    "authentication": "the provider refused the API key, or asks for one that the connection has not",
    "permission": "the provider does not permit the call",
    "model_not_found": "the provider does not know the model",
    "rate_limited": "the provider's rate limit was reached",
    "capacity": "the provider has no capacity for the call",
    "source_5xx": "the provider failed with a server error",
    "provider_insufficient_funds": "the account at the provider has no funds left",
    "timeout": "the provider did not answer in time",
    "network": "the provider gave no answer: it is stopped or unreachable, or closed the connection",
    "egress_rejected": "the service may not connect to the provider's address",
    "request_refused": "the provider refused the request",
    "response_too_large": "the provider's answer was larger than the service accepts",
    "response_incomplete": "the connection ended in the middle of the provider's answer",
    "invalid_response": "the provider's answer was not usable",
    "candidate_too_large": "the output was too large for the output check",
    "internal": "the service failed in a way that is not foreseen",
}
"""What went wrong with a provider call, by ``failure_kind`` in the receipt of a live run."""

CALL_WORDS: Final[Mapping[str, str]] = {
    "interrupted": "the service stopped during the call",
    "cancelled_in_flight": "the run was cancelled during the call",
    "expired_in_flight": "the run's time was over during the call",
}
"""How a provider call ended without a response, by ``outcome`` in the receipt of a live run."""
