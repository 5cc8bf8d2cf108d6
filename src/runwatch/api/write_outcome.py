"""Whether it is known what a write did (DESIGN, Outcome of a write; wire reference 1.6 and 1.8).

The question is never whether a write succeeded: a readable 2XX answers that. It is whether a failure proves that
nothing happened. What is not proven is unknown, and is settled by asking again with the same key and the same bytes.

======================================  ==================================  ===========================
What came back                          Submit (codes declared)             Other writes
======================================  ==================================  ===========================
one of the eight refusing codes         nothing happened                    as any 4XX
409 ``idempotency_conflict``            nothing happened                    nothing happened
401, 403, 429 on the first attempt      nothing happened                    nothing happened
other 4XX, a Problem, first attempt     nothing happened                    nothing happened
other 4XX, no Problem, first attempt    unknown                             nothing happened
408, 5XX, 3XX                           unknown                             unknown
any 4XX after an attempt in doubt       unknown, but for the rows above     unknown, but for the conflict
never connected, on every attempt       nothing happened                    nothing happened
connection lost, timeout, cut answer    unknown                             unknown
2XX that cannot be read                 unknown                             unknown
======================================  ==================================  ===========================

The eight codes prove it on any attempt: a service that had accepted the run on an earlier one would have repeated its
recorded answer (wire reference 1.5). A conflict means that the key belongs to another body, so that no attempt with
this body did anything. A 401, 403 or 429 may stand before the service looks the key up, which proves nothing about an
earlier attempt. A Problem of any type is the service's own refusal of the attempt: an object with a type or a title and
the status of the answer, because RFC 9457 requires no member. A 4XX without one may come from something between here
and the service.
"""

from __future__ import annotations

from runwatch.api.operations import Operation


def proves_no_effect(operation: Operation, status: int, code: str, *, in_doubt: bool, is_problem: bool = False) -> bool:
    """Whether an error answer proves that a write did nothing.

    Args:
        operation: The write.
        status: The HTTP status.
        code: The error code of the Problem; an empty text where there is none.
        in_doubt: Whether an earlier attempt of the same call may have taken effect.
        is_problem: Whether the answer was a Problem under its own status.
    """
    if not 400 <= status < 500 or status == 408:
        return False
    if code == "idempotency_conflict":
        return True
    if operation.refusals is None:
        return not in_doubt
    return code in operation.refusals or ((is_problem or status in {401, 403, 429}) and not in_doubt)
