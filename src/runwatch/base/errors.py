"""All errors that runwatch raises on purpose, in one tree.

::

    RunwatchError
    ├── UsageError                 the command line asks for something impossible
    │   ├── ConfirmationRequired   a destroying command without a terminal and without --yes
    │   ├── WriteInProgressError   the same write is being sent
    │   ├── WriteSettledError      the outcome of the write is known
    │   └── QueryError             a filter expression cannot be read (runwatch.view.query.expressions)
    ├── SettingsError              the settings file, a profile or a key source is not usable
    │   └── NotConfigured          no setting says which service to call
    ├── DataError                  the data directory is not usable: newer schema, corrupt, not writable
    │   └── DatabaseUnreachableError   the service's database does not answer (runwatch.service.errors)
    ├── LocalServiceError          the local service could not be started, reached or stopped
    │   └── UntrustedSocketError   its socket does not belong to the user alone; nothing was sent
    ├── EditorError                a text could not be written in the user's editor (runwatch.tui.terminal.editor)
    ├── RefusalError               the local service responds with a Problem (runwatch.service.errors)
    ├── OutboundError              a call of the local service to another server failed (runwatch.service.outbound)
    ├── ProviderError              a model provider gave no usable response (runwatch.service.models.providers.types)
    └── ApiError                   a call of the service failed (runwatch.api.errors)
        ├── ReadOnlyError          the operation mutates and the client is read-only; nothing was sent
        ├── InvalidRequestError    the request breaks a rule of the interface; nothing was sent
        ├── RateLimitedError       an earlier 429 holds this call back; nothing was sent
        ├── NoResponseError        no complete response came over the network
        │   └── ServiceStoppedError  the local service is not running
        ├── UnusableResponseError  a successful response cannot be read as the expected record
        └── ApiProblem             the service returned a Problem, or another error body

A test compares this tree with the classes.
"""

from __future__ import annotations


class RunwatchError(Exception):
    """Base class, with what the user needs: what happened, why, and what to do next.

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
        """Return the title, followed by any detail."""
        return f"{self.title}: {self.detail}" if self.detail else self.title

    @property
    def sentences(self) -> str:
        """Title and detail as one sentence, followed by any hint."""
        return " ".join(part for part in (f"{str(self).rstrip('.')}.", self.hint) if part)


class UsageError(RunwatchError):
    """The command line asks for something impossible."""


class ConfirmationRequired(UsageError):
    """A destroying command was called without a terminal to ask on and without ``--yes``."""


class WriteInProgressError(UsageError):
    """The write is being sent, by another task or another process, so its outcome is not known yet."""


class WriteSettledError(UsageError):
    """The outcome of the write is known, because another process has sent it again, or it was discarded."""


class SettingsError(RunwatchError):
    """The settings file, a profile or a key source is not usable."""


class NotConfigured(SettingsError):
    """No setting says which service to call."""


class DataError(RunwatchError):
    """The data directory is not usable: newer schema, corrupt database, not writable."""


class LocalServiceError(RunwatchError):
    """The local service could not be started, reached or stopped."""


class UntrustedSocketError(LocalServiceError):
    """The local service's socket, its directory or the listening process does not belong to the user."""
