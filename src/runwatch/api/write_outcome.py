"""Whether the outcome of a failed write is known (manual: decisions, "Outcome of a write").

A readable 2XX shows success. After a failure the question is whether it proves that the write had no effect. If not,
the outcome is unknown until a retry with the same key and bytes.

======================================  ==================================  ===========================
Response                                Submit (codes declared)             Other writes
======================================  ==================================  ===========================
one of the eight refusing codes         no effect                           as any 4XX
409 ``idempotency_conflict``            no effect                           no effect
401, 403, 429 on the first attempt      no effect                           no effect
other 4XX, a Problem, first attempt     no effect                           no effect
other 4XX, no Problem, first attempt    unknown                             no effect
408, 5XX, 3XX                           unknown                             unknown
any 4XX after an attempt in doubt       unknown, but for the rows above     unknown, but for the conflict
never connected, on every attempt       no effect                           no effect
connection lost, timeout, cut response  unknown                             unknown
2XX that cannot be read                 unknown                             unknown
======================================  ==================================  ===========================

The eight codes prove it on any attempt: a service that had accepted the run on an earlier attempt would have repeated
its recorded response (manual: interface, "Idempotency"). A conflict means that the key belongs to another body, so no
attempt with this body had an effect. A 401, 403 or 429 may come before the service looks up the key, which proves
nothing about an earlier attempt. A Problem of any type is the service's own refusal of the attempt: an object with a
type or a title and the status of the response, because RFC 9457 requires no member. A 4XX without a Problem may come
from a proxy in between.
"""

from __future__ import annotations

from runwatch.api.errors import ApiProblem
from runwatch.api.operations import CANCEL, Operation
from runwatch.base.errors import RunwatchError
from runwatch.records.run import Run


def proves_no_effect(operation: Operation, status: int, code: str, *, in_doubt: bool, is_problem: bool = False) -> bool:
    """Return whether an error response proves that a write had no effect.

    Args:
        code: The error code of the Problem; an empty text where there is none.
        in_doubt: Whether an earlier attempt of the same call may have taken effect.
        is_problem: Whether the response was a Problem with its own HTTP status.
    """
    if not 400 <= status < 500 or status == 408:
        return False
    if code == "idempotency_conflict":
        return True
    if operation.refusals is None:
        return not in_doubt
    return code in operation.refusals or ((is_problem or status in {401, 403, 429}) and not in_doubt)


def is_settled_cancel(operation: str, evidence: RunwatchError | Run | None) -> bool:
    """Return whether a write is a cancel whose run has ended: it is settled, because a final run never changes.

    Args:
        evidence: The failure of the write, or the run as last read.
    """
    if isinstance(evidence, Run):
        return operation == CANCEL and evidence.is_final
    return operation == CANCEL and isinstance(evidence, ApiProblem) and evidence.code == "invalid_state"
