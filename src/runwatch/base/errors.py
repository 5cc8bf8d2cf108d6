"""Every error that runwatch raises on purpose, in one tree.

::

    RunwatchError
    ├── UsageError                 the command line asks for something that cannot be
    │   ├── ConfirmationRequired   a destroying command without a terminal and without --yes
    │   └── QueryError             a filter expression cannot be read (runwatch.view.query.expressions)
    ├── SettingsError              the settings file, a profile or a key source is not usable
    │   └── NotConfigured          nothing says which service to call
    ├── DataError                  the data directory is not usable: newer schema, corrupt, not writable
    ├── LocalServiceError          the local service could not be started, reached or stopped
    │   └── UntrustedSocketError   its socket is not the user's own alone; nothing was sent
    ├── EditorError                a text could not be written in the user's editor (runwatch.tui.terminal.editor)
    ├── RefusalError               the local service answers a request with a Problem (runwatch.service.errors)
    │   └── FormRefusalError       a browser gets a page of its own for it (runwatch.service.http.html_pages)
    ├── OutboundError              a call of the local service to another server failed (runwatch.service.outbound)
    ├── ProviderError              a model provider gave no usable answer (runwatch.service.models.providers.types)
    └── ApiError                   a call of the service did not give what was asked (runwatch.api.errors)
        ├── ReadOnlyError          the operation mutates and the client is read-only; nothing was sent
        ├── InvalidRequestError    the request breaks a rule of the interface; nothing was sent
        ├── RateLimitedError       a 429 holds this call back until its time is over; nothing was sent
        ├── NoResponseError        no complete answer came back over the network
        ├── UnusableResponseError  a success came back that cannot be read as what was asked
        └── ApiProblem             the service answered with a Problem, or with another error body

A test walks the classes and holds this drawing to them.
"""

from __future__ import annotations


class RunwatchError(Exception):
    """The root. Carries what the user needs: what happened, why, and what to do next.

    Args:
        title: What happened, one short sentence without a final stop.
        detail: More about this occurrence; safe to show after cleaning.
        hint: What to do next, as an instruction.
        support_id: The ``instance`` of the Problem behind the error, which support staff quote.
        retryable: Whether the same call may succeed later without a change.
    """

    def __init__(
        self,
        title: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        support_id: str | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(title)
        self.title = title
        self.detail = detail
        self.hint = hint
        self.support_id = support_id
        self.retryable = retryable

    def __str__(self) -> str:
        """The title, followed by the detail where there is one."""
        return f"{self.title}: {self.detail}" if self.detail else self.title


class UsageError(RunwatchError):
    """The command line asks for something that cannot be."""


class ConfirmationRequired(UsageError):
    """A destroying command was called without a terminal to ask on and without ``--yes``."""


class SettingsError(RunwatchError):
    """The settings file, a profile or a key source is not usable."""


class NotConfigured(SettingsError):
    """Nothing says which service to call."""


class DataError(RunwatchError):
    """The data directory is not usable: newer schema, corrupt database, not writable."""


class LocalServiceError(RunwatchError):
    """The local service could not be started, reached or stopped."""


class UntrustedSocketError(LocalServiceError):
    """The local service's socket, its directory or the process that listens there is not the user's own."""
