"""Problems as the local service answered and kept them, with their cause. Ours: only the local service tells of them.

The cause says what went wrong inside the service. No Problem has it, and nobody but the owner of the service's data
directory is told it.
"""

from __future__ import annotations

from runwatch.records.record import Record, integer, many, mapping, moment, one, text


class ServiceProblem(Record):
    """One Problem that the service answered; ``at`` is when, ``principal_id`` the key of whoever it was answered to."""

    KIND = "answered"

    instance = text("instance")
    at = moment("at")
    code = text("code")
    method = text("method")
    path = text("path")
    principal_id = text("principal_id")
    cause = text("cause")
    problem = mapping("problem")

    @property
    def id(self) -> str:
        """The instance."""
        return self.instance or ""


class ProblemLookup(Record):
    """What a look into the service's store gave.

    ``kept`` is how many Problems it holds, ``oldest_at`` and ``newest_at`` from when to when; ``before`` and ``after``
    are the nearest ones outside of the time that was asked for, where nothing was found in it.
    """

    problems = many(ServiceProblem, "problems")
    kept = integer("kept")
    oldest_at = moment("oldest_at")
    newest_at = moment("newest_at")
    before = one(ServiceProblem, "before")
    after = one(ServiceProblem, "after")
