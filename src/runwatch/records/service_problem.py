"""Problems stored by the local service, with their cause. Not in the specification; only the local service returns
them.

The cause describes an error inside the service. It is in no Problem, and only the owner of the service's data directory
can read it.
"""

from __future__ import annotations

from runwatch.records.record import Record, integer, many, mapping, moment, one, text


class ServiceProblem(Record):
    """One Problem that the service returned at ``at``; ``principal_id`` is the key that received it."""

    KIND = "answered"

    instance = text()
    at = moment()
    code = text()
    method = text()
    path = text()
    principal_id = text()
    cause = text()
    problem = mapping()

    @property
    def id(self) -> str:
        return self.instance or ""


class ProblemLookup(Record):
    """Result of a search in the service's stored Problems.

    ``kept`` is how many there are, between ``oldest_at`` and ``newest_at``. If none was found, ``before`` and ``after``
    are the nearest ones outside the time range.
    """

    problems = many(ServiceProblem)
    kept = integer()
    oldest_at = moment()
    newest_at = moment()
    before = one(ServiceProblem)
    after = one(ServiceProblem)
