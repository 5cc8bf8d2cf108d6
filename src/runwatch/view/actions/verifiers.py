"""Actions that register, test, change and retire output checks (manual: interface, "Verifiers")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from runwatch.records.verifier import Probe, Verifier
from runwatch.view.actions.fields import ADDRESS, AUTH_REF, DATA_CLASSES, DEFAULT_DATA_CLASS, NAME, quote_name
from runwatch.view.actions.protected_keys import (
    NO_KEY,
    KeyedEndpoint,
    enter_key_action,
    is_key_in_use,
    promote_key_action,
    revoke_key_action,
)
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.action_parts import FieldOption, FormField

SCORING: Final = {"correctness": "boolean_anchors", "quality": "scalar_0_1"}
"""The only scoring of output checks (manual: interface, "Verifiers")."""

FACTS: Final = ("reachability", "authentication", "response_compatibility")

CONNECTION: Final = KeyedEndpoint(
    noun="output check",
    verbs="verifiers",
    kind=Verifier,
    read="getVerifiersByVerifierIdConnection",
    begin="postVerifiersByVerifierIdConnectionIntents",
    promote="postVerifiersByVerifierIdConnectionTest",
    revoke="postVerifiersByVerifierIdConnectionRevoke",
)


def _is_there(verifier: Verifier) -> bool:
    return verifier.status != "retired"


def _url(verifier: Verifier) -> str:
    return (verifier.endpoint.url if verifier.endpoint is not None else None) or ""


def _auth_ref(verifier: Verifier) -> str:
    return (verifier.endpoint.auth_ref if verifier.endpoint is not None else None) or ""


def _declared(verifier: Verifier) -> str:
    declaration = verifier.correctness_declaration
    return "yes" if declaration is not None and declaration.method == "deterministic" else "no"


def _declaration(body: dict[str, Any]) -> dict[str, Any]:
    """Convert yes to the declaration that the check is deterministic, and no to no declaration."""
    if body.get("correctness_declaration") is True:
        return {**body, "correctness_declaration": {"method": "deterministic"}}
    if body.get("correctness_declaration") is False:
        return {name: value for name, value in body.items() if name != "correctness_declaration"}
    return body


def _changed_declaration(body: dict[str, Any]) -> dict[str, Any]:
    """Convert yes to the declaration that the check is deterministic, and no to its withdrawal."""
    if body.get("correctness_declaration") is False:
        return {**body, "correctness_declaration": None}
    return _declaration(body)


def probe_facts(probe: Probe) -> list[tuple[str, str]]:
    """Return the result of a probe: whether the check can be used, and the three facts with corrections."""
    rows = [("result", "the check can be used" if probe.is_usable else "the check cannot be used yet")]
    feedback = probe.raw.get("feedback")
    for name in FACTS:
        fact = feedback.get(name) if isinstance(feedback, Mapping) else None
        if isinstance(fact, Mapping):
            status, correction = fact.get("status"), fact.get("correction")
            advice = f": {correction}" if isinstance(correction, str) and correction else ""
            rows.append((name, f"{status}{advice}"))
    if len(rows) == 1 and probe.reason_code:
        rows.append(("reason", probe.reason_code))
    return rows


def _result_rows(member: str) -> Any:
    def rows(response: Mapping[str, Any]) -> list[tuple[str, str]]:
        probe = response.get(member)
        return probe_facts(Probe(dict(probe))) if isinstance(probe, Mapping) else []

    return rows


_VERSION: Final = FormField(
    path="version", label="version", hint="up to 100 characters", start=lambda _: "1", is_required=True,
    option=FieldOption(name="--version-name", metavar="VERSION", help="the version of the check"),
)  # fmt: skip

_DATA_CLASSES: Final = replace(DATA_CLASSES, path="input_data_classes", start=lambda _: DEFAULT_DATA_CLASS)
_DECLARE: Final = FieldOption(name="--deterministic", help="declare that it always judges the same output the same way")
_DETERMINISTIC: Final = FormField(
    path="correctness_declaration", label="deterministic", kind="switch", choices=("no", "yes"),
    start=lambda _: "no", hint="yes declares that the same output always gets the same verdict",
    option=_DECLARE,
)  # fmt: skip

REGISTER: Final = ResourceAction[None](
    "register", "Register an output check", "verifiers register",
    summary="register an output check",
    notes="The endpoint's key is never given here: 'runwatch verifiers connect' enters it on a private page.",
    mutation=Mutation(
        operation="postVerifiers",
        sentence=lambda _: "Registers an endpoint that scores output, and calls it once with a reserved probe. A check"
        " whose probe fails is registered all the same and can be put right.",
        confirm_label="Register it",
        cancel_label="Do not register it",
        members=lambda _: {"kind": "endpoint", "scoring": SCORING},
        fields=(NAME, _VERSION, ADDRESS, AUTH_REF, _DATA_CLASSES, _DETERMINISTIC),
        transform=_declaration,
        request="verifier.VerifierRequest",
        invalidates=(Verifier,),
        summarize=_result_rows("preflight"),
    ),
)  # fmt: skip

TEST: Final = ResourceAction[Verifier](
    "test", "Test it", "verifiers test", enabled_when=_is_there,
    off_because="It is retired.",
    mutation=Mutation(
        operation="postVerifiersByVerifierIdTest",
        sentence=lambda it: f"Calls {_url(it) or 'the endpoint'} once with a reserved probe, {_key_text(it)}. No run is"
        " touched.",
        cancel_label="Do not call it",
        invalidates=(Verifier,),
        summarize=_result_rows("probe"),
    ),
)  # fmt: skip

EDIT: Final = ResourceAction[Verifier](
    "edit", "Change it", "verifiers update", summary="change an output check", enabled_when=_is_there,
    off_because="It is retired.",
    mutation=Mutation(
        operation="patchVerifiersByVerifierId",
        sentence=lambda it: f"Changes {quote_name(it)} and gives it another revision. Fields that you leave"
        " unchanged are not sent.",
        command_fields=(_DATA_CLASSES,),
        fields=(
            replace(NAME, start=lambda it: it.display_name or ""),
            replace(_VERSION, start=lambda it: it.version or ""),
            replace(ADDRESS, start=_url, hint=f"{ADDRESS.hint}; another one needs another key"),
            replace(AUTH_REF, start=_auth_ref),
            replace(
                _DETERMINISTIC, start=_declared,
                option=replace(_DECLARE, negative=("--not-deterministic", "withdraw that declaration")),
            ),
        ),
        changes_only=True,
        transform=_changed_declaration,
        request="verifier.VerifierPatch",
    ),
)  # fmt: skip

RETIRE: Final = ResourceAction[Verifier](
    "retire", "Retire it", "verifiers retire", is_destructive=True,
    summary="retire output checks",
    enabled_when=_is_there, off_because="It is retired already.",
    mutation=Mutation(
        operation="deleteVerifiersByVerifierId",
        sentence=lambda it: f"Retires {quote_name(it)} for good: no run can name it any more, and its key,"
        " if it has one, is destroyed.",
        cancel_label="Keep it",
        invalidates=(Verifier,),
        done="retired",
    ),
)  # fmt: skip


def _may_have_key(verifier: Verifier) -> bool:
    return _is_there(verifier) and is_key_in_use(verifier.connection) is not False


def _key_text(verifier: Verifier) -> str:
    """Say with which key a test calls."""
    status = None if verifier.connection is None else verifier.connection.status
    known = {
        "active": "with the key that is in use",
        "unbound": "without a key",
        "revoked": "without a key: it was revoked",
        "expired": "without a key: its stop date has passed",
    }
    return known.get(status or "", "with its key if one is in use")


CONNECT: Final = enter_key_action(CONNECTION, _is_there, "It is retired.")
PROMOTE: Final = promote_key_action(CONNECTION, _is_there, "It is retired.")
REVOKE: Final = revoke_key_action(CONNECTION, _may_have_key, NO_KEY)

ACTIONS: Final = (TEST, EDIT, CONNECT, PROMOTE, RETIRE, REVOKE)

MAKES: Final = (REGISTER,)
