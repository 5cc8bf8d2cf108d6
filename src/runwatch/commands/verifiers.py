"""``verifiers register|test``: output checks without their keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.base.shell import runwatch_command
from runwatch.commands.call import Call
from runwatch.commands.exits import DONE, REFUSED
from runwatch.commands.resource_writes import run_write
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session
from runwatch.commands.writing import write, writing
from runwatch.records.record import Record
from runwatch.records.verifier import Probe, VerifierTest
from runwatch.view.resources.verifiers import VERIFIER_OUTCOME, VERIFIER_TEST

TEST: Final = "postVerifiersByVerifierIdTest"


def register(call: Call) -> int:
    """``verifiers register``: register an endpoint; a failing probe is told and still leaves a check."""
    return run_write(call, shown=VERIFIER_OUTCOME, finish=_tell_unusable)


def _tell_unusable(session: Session, check: Record, _: Mapping[str, Any]) -> None:
    probe = check.raw.get("preflight")
    if isinstance(probe, dict) and not Probe(probe).is_usable:
        command = runwatch_command("verifiers test", check.id)
        session.call.output.note(f"it is registered and cannot be used yet: {command}")


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
