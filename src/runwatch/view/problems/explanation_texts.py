"""One plain sentence and one next step for every error code and reason of the interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch.records.source import DROPPED
from runwatch.records.states import INCOMPLETE

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
        "Do first what the detail asks for. Where it asks for nothing, read the resource again, then decide.",
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
        "Where no model is saved, connect a source and save one of its models. For a server on this machine: `runwatch"
        " sources connect --openai-compatible http://127.0.0.1:11434 --model llama3.2`. Else ask for fewer data"
        " classes, or have a saved model granted the missing one.",
    ),
    "quota_exceeded": (
        "The organization's quota of runs is used up for now.",
        "Wait until the quota is reset, `runwatch account` says when, or ask for a larger one.",
    ),
    "rate_limited": (
        "Too many requests came from this organization in a short time.",
        "Wait the stated seconds, or a minute if none are stated; runwatch holds its requests back until then. The"
        " console then reads its lists and events on by itself; a refused submit is never sent again by itself.",
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

_SAVE_ANOTHER: Final = "Read the attempts in the receipt: loosen the check, improve the task, or save a further model."

WHEN_CHECKED: Final = '"when checked" (`--on-eval`)'
"""The policy's ``on_eval``, by the label in the form of a run and the option of the command."""

REASON_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "cancelled": (
        "The run was cancelled; a provider call already under way was not reversed.",
        "The run's last event names the API key that did it. Submit again if it was a mistake.",
    ),
    "no_eligible_arms": (
        "No saved model may run this: none is ready and granted all requested data classes.",
        "Save a model, or ask for fewer data classes. `runwatch arms list` shows the status of each, and `runwatch arms"
        " show ID` why one is not ready. A test run (mode `echo`) needs no model.",
    ),
    "arm_not_ready": (
        "The saved model that the run requires is not ready: it is degraded or disabled.",
        "`runwatch arms show ID` says why. Test its connection with `runwatch sources test ID`, or name another one.",
    ),
    "runtime_exceeded": (
        "The run's `max_runtime_s` was over: it took longer and was ended, or it waited in the queue for all of that"
        " time and never ran.",
        "Its events say whether it ran. Submit again with a higher runtime cap; or with a smaller task if it ran, and"
        " fewer runs at once if it waited.",
    ),
    "cost_budget_exhausted": (
        "What the calls cost, or may have cost where that is not known, reached `max_cost_usd`. No further call was"
        " made.",
        "Read the receipt. Submit again with a higher cost cap, or connect the source with prices: a call of unknown"
        " cost counts as the whole cap where its model has no price.",
    ),
    "fallback_exhausted": (
        "The output check rejected the output of every saved model that could be tried, or none of them could run.",
        _SAVE_ANOTHER,
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
        " every other failure. Test the connection when more runs on it fail the same way.",
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
        "The service failed with an internal error, or the output check gave no verdict.",
        "Read the check in the receipt. Submit again, and quote the run's id to support when it happens again.",
    ),
    "rejected_by_check": (
        "The output check rejected the model's output, and the run's policy left nothing else to try.",
        "Read the verdict in the receipt: improve the task, or let the policy fall back to another saved model:"
        f" `fallback` for {WHEN_CHECKED}. `repair_retry` tries nothing without a saved skill.",
    ),
    "check_unavailable": (
        "The output check gave no verdict: its endpoint could not be called, failed, or answered something else. The"
        " run's `on_eval` needs a verdict, so the run failed.",
        "Read in the receipt how the check failed, and call it with `runwatch verifiers test ID`. Submit again when it"
        f" answers; with nothing for {WHEN_CHECKED} a run completes without a verdict too.",
    ),
}
"""Sentence and next step by the ``reason`` of an ended run or slice."""

FAILURE_TEXTS: Final[Mapping[str, str]] = {
    "authentication": "the provider refused the API key, or asks for one that the connection has not",
    "permission": "the provider does not permit the call",
    "model_not_found": "the provider does not know the model",
    "rate_limited": "the provider's rate limit was reached",
    "capacity": "the provider has no capacity for the call",
    "source_5xx": "the provider failed with a server error",
    "provider_insufficient_funds": "the account at the provider has no funds left",
    "timeout": "the provider did not answer in time",
    "source_timeout": "the provider answered that the request timed out",
    "network": "nothing answered at the provider's address, or the connection was closed without an answer",
    DROPPED: "the provider took the call and closed the connection without an answer",
    "dns": "the host name of the provider's address did not resolve",
    "tls": "no secure connection to the provider was made: TLS or its certificate failed",
    "egress_rejected": "the service may not connect to the provider's address",
    "request_refused": "the provider refused the request",
    "input_too_long": "the provider refused the request as too long",
    "response_too_large": "the provider's answer was larger than the service accepts",
    "response_incomplete": "the connection ended in the middle of the provider's answer",
    "invalid_response": "the provider's answer was not usable",
    "credential_unavailable": "the service cannot open the connection's key with the master key at hand, and sent"
    " nothing",
    "candidate_too_large": "the output was too large for the output check",
    "internal": "the service failed in a way that is not foreseen",
}
"""What went wrong with a provider call, by ``failure_kind`` in the receipt of a live run."""

_TEST: Final = "`runwatch sources test {connection}`"
_ROTATE: Final = "`runwatch sources rotate --key-stdin {connection}`"

CALL_ADVICE: Final[Mapping[str, str]] = {
    "authentication": f"Give the connection a valid key, {_ROTATE}, then submit again.",
    "permission": f"Check at the provider what the key may do, or give the connection another one, {_ROTATE}, then"
    " submit again.",
    "model_not_found": "Read which models the provider serves, `runwatch sources sync {connection}`, and use one of"
    " those: this one was renamed or taken off.",
    "rate_limited": "Wait as long as the provider says, or a minute, then submit again. Its answer is in the run's"
    " `provider_errors`.",
    "capacity": f"Wait a minute, then submit again. With `fallback` for {WHEN_CHECKED} a run goes on with another saved"
    " model.",
    "source_5xx": "Submit again in a minute. If it happens again, look into the provider's log or its status page.",
    "provider_insufficient_funds": "Add credit to the account at the provider, or give the connection the key of"
    f" another account, {_ROTATE}, then submit again.",
    "timeout": "Submit again, or use a model of another provider while this one is slow.",
    "source_timeout": "Submit again. If it happens again, look into the log of the provider's server, or of a proxy in"
    " between.",
    "network": f"Start the provider's server, or correct its address and port, and test the connection, {_TEST}.",
    DROPPED: "Look into the log of the provider's server, or of a proxy in between, or check whether the address wants"
    f" https, then test the connection, {_TEST}.",
    "dns": "Check the host name in the connection's address and the name server of this machine, then test the"
    f" connection, {_TEST}.",
    "tls": "Check that the address speaks TLS and that an authority which this machine trusts has signed its"
    f" certificate for its host name, then test the connection, {_TEST}.",
    "egress_rejected": "Use an address that the service may reach, or https.",
    "request_refused": "Read what the provider answered: `runs show` has it as `provider_errors`. Correct what it"
    " names, then submit again.",
    "input_too_long": "Shorten the objective or its inputs, or use a model that reads more, then submit again.",
    "response_too_large": "Ask for a shorter output in the objective.",
    "response_incomplete": "Look into the log of the provider's server, or of a proxy in between, then submit again.",
    "invalid_response": "Check that the connection has the server's protocol, and test it,"
    f" {_TEST}. Look into the log of the provider's server, or of a proxy in between, then submit again.",
    "candidate_too_large": "Ask for a shorter output in the objective.",
    "credential_unavailable": "Start the service with the master key that sealed the connection's key"
    f" (`runwatch help security`), or give the connection its key again, {_ROTATE}, then submit again.",
    "internal": "Look into the log of the service, which stopped or failed during the call. The call may be charged:"
    " read the receipt, then submit again.",
}
"""What to do after a failed provider call, by :data:`FAILURE_TEXTS`; ``{connection}`` is the id of its connection."""

WAITS: Final = frozenset({"rate_limited", "capacity", "source_5xx"})
"""Failures whose advice begins with a sentence about a wait, which the one that a provider asks for replaces."""

BODY_ADVICE: Final[Mapping[str, str]] = {
    "empty": "Check the connection's address, whose path usually ends in /v1, and look into the log of the provider's"
    " server, or of a proxy in between",
    "html": "A web page or a proxy answered. Check the connection's address: its path usually ends in /v1",
    "stream": "Turn streaming off in the provider's server, or in a proxy in between: the service reads whole answers",
    "broken_json": "Look into the log of the provider's server, or of a proxy in between: one of them cut the answer",
} | dict.fromkeys(
    ("null", "other_json", "other"),
    "Check that the connection has the server's protocol and that its address, whose path usually ends in /v1, is the"
    " one of the model server",
)
"""What to do about a provider that answered something else, by ``body_kind``."""

_UNPINNED: Final = (
    "The run could use one saved model only: submit it with another saved model (`--arm-id`), or with none."
)

PINNED_ADVICE: Final[Mapping[str, str]] = {
    "capacity": f"Wait a minute, then submit again. {_UNPINNED}",
} | dict.fromkeys(
    ("rejected_by_check", "fallback_exhausted"),
    f"Read the verdict in the receipt: loosen the check, or improve the task. {_UNPINNED}",
)
"""What to do after a run with a required saved model, by failure or reason, where other advice names a fallback."""

CALL_TEXTS: Final[Mapping[str, str]] = {
    "interrupted": "the service or its worker stopped during the call",
    "cancelled_in_flight": "the run was cancelled during the call",
    "expired_in_flight": "the run's time was over during the call",
}
"""How a provider call ended without a response, by ``outcome`` in the receipt of a live run."""

CHECK_TEXTS: Final[Mapping[str, str]] = {
    "authentication": "the check's endpoint refused the key it was called with",
    "credential_unavailable": "the key for the check's endpoint was stopped, or the service cannot open it with the"
    " master key at hand",
    "timeout": "the check's endpoint did not answer in time",
    "network": "the check's endpoint could not be reached",
    "egress_rejected": "the address of the check's endpoint may not be called",
    "response_too_large": "the answer of the check's endpoint was too large",
    "http_error": "the check's endpoint answered with an HTTP error",
    "invalid_response": "the answer of the check's endpoint did not have the agreed form",
    "internal": "the service itself failed while checking",
}
"""Why a check could not run, by ``failure_class``. Other classes are shown as sent."""

_MEND: Final = (
    "Look into the log of the check's endpoint, mend it, and call it, `runwatch verifiers test {check}`, then submit"
    " again."
)
_GIVE_KEY: Final = "Give the check the key of its endpoint, `runwatch verifiers connect {check}`, then submit again."

CHECK_ADVICE: Final[Mapping[str, str]] = {
    "authentication": _GIVE_KEY,
    "credential_unavailable": "If the service lacks the master key that sealed the check's key, start it with that one."
    f" {_GIVE_KEY}",
    "timeout": "Make the check answer within 10 s, and call it, `runwatch verifiers test {check}`, then submit again.",
    "egress_rejected": "Give the check a public https address, or start the local service with"
    " `--allow-loopback-checks` for one on this machine.",
    "internal": "Look into the log of the service, then submit again.",
} | dict.fromkeys(("network", "response_too_large", "http_error", "invalid_response"), _MEND)
"""What to do after a check that could not run; ``{check}`` is its id."""

TIME_TEXTS: Final[Mapping[bool, tuple[str, str]]] = {
    True: (
        "The run took longer than its `max_runtime_s` and was ended.",
        "Submit again with a higher runtime cap, or with a smaller task.",
    ),
    False: (
        "The run waited in the queue for all of its `max_runtime_s` and never ran.",
        "Submit again with a higher runtime cap, or with fewer runs at once.",
    ),
}
"""Sentence and next step of ``runtime_exceeded`` where it is known whether the run ran."""

EXHAUSTED_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "rejected": ("The output check rejected the output of every saved model that could be tried.", _SAVE_ANOTHER),
    "failed": (
        "No saved model that could be tried gave an output to check.",
        "Read the attempts in the receipt: they say what went wrong. Then submit again, or save a further model.",
    ),
    "both": (
        "The output check rejected an output, and the last saved model that could be tried gave none.",
        _SAVE_ANOTHER,
    ),
}
"""Sentence and next step of ``fallback_exhausted`` where it is known what became of the outputs."""

UNANSWERED_ADVICE: Final = (
    "Call the check, `runwatch verifiers test {check}`, and look into the log of its endpoint: it has to answer within"
    " 10 s. Then submit again, with a higher runtime cap where the model took most of the time."
)
"""What to do after a run whose time was over before its check answered; ``{check}`` is the id of the check."""

_PROBE_NEXT: Final = "Correct what `runwatch verifiers test ID` names."

DETAIL_TEXTS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "end of a call": ("Read the receipt: the call may be charged. Then submit again.", CALL_TEXTS),
    "end of an output": (
        "Read the output with `runwatch runs result ID`. It is charged like any other.",
        {
            "stop": "the output is whole: the model ended it",
            "end_turn": "the output is whole: the model ended it",
            "stop_sequence": "the output ends at a text that was to end it",
            **{reason: f"the output was {words}" for reason, words in INCOMPLETE.items()},
        },
    ),
    "reaction of a policy": (
        "Read the verdicts in the receipt, `runwatch receipts show ID`.",
        {
            "passed_gate": "the check accepted the output, so the gate let it pass",
            "fell_back": "another saved model was called after a rejected output",
            "repair_accepted": "the output of a repaired skill was accepted",
            "repair_rejected": "the output of a repaired skill was rejected too",
            "proposal_created": "the output of a repaired skill was accepted, and the repair became a proposal",
            "skill_accepted": "the output made with a saved skill was accepted; the skill was not changed",
            "skill_rejected": "the output made with a saved skill was rejected, and no repaired skill was tried",
        },
    ),
    "result of a probe": (
        _PROBE_NEXT,
        {
            "scheme_rejected": "the endpoint's address is not https",
            "dns_resolution_failed": "the endpoint's host name did not resolve",
            "private_range_rejected": "the endpoint is in a private network, which the service may not call",
            "probe_timeout": "the endpoint did not answer the reserved probe in time",
            "endpoint_unreachable": "no connection to the endpoint was made, or it broke",
            "authentication_failed": "the endpoint refused the key, or asks for one",
            "response_incompatible": "the endpoint answered something else than a verdict",
        },
    ),
    "state of a saved model": (
        "`runwatch arms show ID` says since when. Save another model, or test its connection.",
        {
            "operator_suspended": "the connection of the saved model was disconnected",
            "not_ready": "the connection of the saved model, or the model, has not passed its last test",
            "provider_deprecated": "the provider is going to take the model off, or has done so",
            "absent_from_feed": "the provider no longer lists the model",
            "drift": "the model may no longer have every data class that the saved model is granted",
        },
    ),
    "error of a delivery": (
        "Correct the webhook's receiver, then send it again with `runwatch webhooks replay ID`.",
        {
            "http_error": "the webhook's receiver answered something else than 2XX",
            "timeout": "the webhook's receiver did not answer in time",
            "network": "no connection to the webhook's receiver was made, or it broke",
            "dns_resolution_failed": "the host name of the webhook's receiver did not resolve",
            "tls_failed": "no secure connection to the webhook's receiver was made: TLS or its certificate failed",
            "scheme_rejected": "the address of the webhook's receiver is not https",
            "private_range_rejected": "the webhook's receiver is in a private network, which the service may not call",
            "response_too_large": "the answer of the webhook's receiver was too large",
            "credential_unavailable": "the webhook's secret could not be read, or was just replaced",
            "queue_full": "too many deliveries to the webhook waited, so this one was never tried",
        },
    ),
}
"""Words of the service that are neither codes nor reasons: by kind, what to do, and the sentence of each word."""
