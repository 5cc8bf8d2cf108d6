"""Who drives which run: what the rest of the service needs of an engine.

The database decides: a step is written only while the run is not final, so a cancelled run stays cancelled whatever the
engine was about to do. After a restart, runs continue from their recorded state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from runwatch.service.execution.state_machine import RunState
from runwatch.service.execution.step_runner import StepRunner


class Engine(ABC):
    """Driver of unfinished runs."""

    runner: StepRunner

    @property
    @abstractmethod
    def unfinished(self) -> int:
        """Return the number of runs that this process drives now."""

    @abstractmethod
    async def resume(self) -> None:
        """Start to drive every run that is not final from its recorded state, and remove expired results."""

    @abstractmethod
    def drive(self, run: RunState) -> None:
        """Have an accepted run driven to its end; do nothing if it is already driven."""

    @abstractmethod
    def let_go(self, execution_id: str) -> None:
        """Stop driving a run that has ended, and drop its call in progress."""

    @abstractmethod
    async def settled(self) -> None:
        """Wait until this process drives no run."""

    @abstractmethod
    async def stop(self) -> None:
        """Stop driving all runs. They keep their recorded state, and the next start resumes them."""
