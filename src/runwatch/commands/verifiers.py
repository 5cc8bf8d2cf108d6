"""``verifiers register|test``: output checks without their keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.base.shell_words import runwatch_command
from runwatch.commands.cli.exit_codes import REFUSED, SUCCESS
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.resource_writes import run_write
from runwatch.commands.shared.record_printer import print_record
from runwatch.commands.shared.record_reader import parse_record_of_kind
from runwatch.commands.shared.session import CommandSession
from runwatch.commands.shared.writes import send_write, writes
from runwatch.records.record import Record
from runwatch.records.verifier import Probe, VerifierTest
from runwatch.view.resources.verifiers import VERIFIER_OUTCOME, VERIFIER_TEST

TEST: Final = "postVerifiersByVerifierIdTest"


def register(call: Invocation) -> int:
    """``verifiers register``: register an endpoint. A failed probe is reported, but the check is still registered."""
    return run_write(call, shown=VERIFIER_OUTCOME, finish=_warn_unusable)


def _warn_unusable(session: CommandSession, check: Record, _: Mapping[str, Any]) -> None:
    probe = check.raw.get("preflight")
    if isinstance(probe, dict) and not Probe(probe).is_usable:
        command = runwatch_command("verifiers test", check.id)
        session.call.output.note(f"registered, but not usable yet: {command}")


@writes(TEST)
async def test(session: CommandSession) -> int:
    """``verifiers test``: probe the endpoint; exit 1 if the check cannot be used."""
    value = await send_write(session, TEST, "", record_id=session.call.options.id, is_kept=False)
    report = parse_record_of_kind(VerifierTest, value)
    print_record(session, VERIFIER_TEST, report)
    probe = report.raw.get("probe")
    return SUCCESS if isinstance(probe, dict) and Probe(probe).is_usable else REFUSED
