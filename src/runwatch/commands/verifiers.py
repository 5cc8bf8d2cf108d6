"""``verifiers register|update|retire|test``: output checks without their keys."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.errors import UsageError
from runwatch.base.shell import runwatch_command
from runwatch.commands.call import Call
from runwatch.commands.exits import DONE, REFUSED
from runwatch.commands.outcomes import for_each
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session
from runwatch.commands.writing import body_from, given_key, need, with_given, write, writing
from runwatch.records.verifier import Probe, Verifier, VerifierTest
from runwatch.view.resources.verifiers import VERIFIER_OUTCOME, VERIFIER_TEST, VERIFIERS

REGISTER: Final = "postVerifiers"
UPDATE: Final = "patchVerifiersByVerifierId"
RETIRE: Final = "deleteVerifiersByVerifierId"
TEST: Final = "postVerifiersByVerifierIdTest"

SCORING: Final = {"correctness": "boolean_anchors", "quality": "scalar_0_1"}
"""The only way in which checks score (wire reference 2.4)."""


def register(call: Call) -> int:
    """``verifiers register``: register an endpoint; a failing probe is told and still leaves a check."""
    body, key = {"kind": "endpoint", "scoring": SCORING} | _body(call), given_key(call)
    need(
        body,
        {
            "display_name": "--name",
            "version": "--version-name",
            "endpoint": "--url",
            "input_data_classes": "--data-class",
        },
    )

    async def work(session: Session) -> int:
        value = await write(session, REGISTER, f"register {body['display_name']}", body=body, key=key)
        outcome = as_record(Verifier, value)
        print_record(session, VERIFIER_OUTCOME, outcome)
        probe = outcome.raw.get("preflight")
        if isinstance(probe, dict) and not Probe(probe).is_usable:
            command = runwatch_command("verifiers test", _id(outcome.raw))
            call.output.note(f"it is registered and cannot be used yet: {command}")
        return DONE

    return writing(call, REGISTER, work)


def update(call: Call) -> int:
    """``verifiers update``: change name, version, endpoint or declaration; the revision grows."""
    body, verifier_id = _body(call), call.options.id
    if call.options.not_deterministic:
        body["correctness_declaration"] = None
    if not body:
        raise UsageError("Nothing is to be changed", hint="runwatch verifiers update --help lists what can be.")

    async def work(session: Session) -> int:
        path = {"verifier_id": verifier_id}
        value = await write(session, UPDATE, f"change {verifier_id}", path=path, body=body)
        print_record(session, VERIFIERS, as_record(Verifier, value))
        return DONE

    return writing(call, UPDATE, work)


def retire(call: Call) -> int:
    """``verifiers retire``: one outcome a check."""

    async def one(session: Session, verifier_id: str) -> str | None:
        await write(session, RETIRE, f"retire {verifier_id}", path={"verifier_id": verifier_id})
        return None

    return for_each(call, RETIRE, one, asks="Retire", singular="verifier", member="verifier_id", done="retired")


def test(call: Call) -> int:
    """``verifiers test``: probe the endpoint; exit 1 when the check cannot be used."""
    verifier_id = call.options.id

    async def work(session: Session) -> int:
        value = await write(session, TEST, "", path={"verifier_id": verifier_id}, is_kept=False)
        report = as_record(VerifierTest, value)
        print_record(session, VERIFIER_TEST, report)
        probe = report.raw.get("probe")
        return DONE if isinstance(probe, dict) and Probe(probe).is_usable else REFUSED

    return writing(call, TEST, work)


def _id(raw: Any) -> str:
    return str(raw.get("verifier_id"))


def _body(call: Call) -> dict[str, Any]:
    options = call.options
    if options.deterministic and options.not_deterministic:
        raise UsageError("--deterministic and --not-deterministic exclude each other")
    body = with_given(
        body_from(call),
        {
            "display_name": options.name,
            "version": options.version_name,
            "input_data_classes": options.data_class,
            "correctness_declaration": {"method": "deterministic"} if options.deterministic else None,
        },
    )
    if options.url is not None:
        body["endpoint"] = {"url": options.url, "auth_ref": options.auth_ref or ""}
    return body
