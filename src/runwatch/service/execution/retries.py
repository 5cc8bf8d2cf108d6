"""Retries of what a run needs, for as long as it fails, as on a full disk or without the database."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Final, TypeVar

from runwatch.base.clock import Clock
from runwatch.service.errors import DatabaseUnreachableError
from runwatch.service.execution.fencing import FencedOutError

RETRY_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds between attempts; the last one repeats."""

AWAY_S: Final = 1.0
"""Seconds between attempts while the database is away, so that all goes on as soon as it is back."""

T = TypeVar("T")

_log: Final = logging.getLogger(__name__)


class HandedBackError(Exception):
    """The engine stops; another worker goes on with the run."""


async def retry_forever(
    attempt: Callable[[], Awaitable[T]], clock: Clock, failure: str, *, is_over: Callable[[], bool] = lambda: False
) -> T:
    """Return the result of the first attempt that succeeds.

    Args:
        failure: What cannot be done, for the log.

    Raises:
        FencedOutError: Another driver has claimed the run.
        HandedBackError: ``is_over`` returned true before an attempt.
    """
    for failures in count():
        if is_over():
            break
        try:
            return await attempt()
        except FencedOutError:
            raise
        except Exception as error:
            _log.exception(failure)
            is_away = isinstance(error, DatabaseUnreachableError)
            await clock.sleep(AWAY_S if is_away else RETRY_S[min(failures, len(RETRY_S) - 1)])
    raise HandedBackError
