"""What a process holds and uses: memory, file descriptors and processor time, as the system counts them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Use:
    """What a process holds at one moment.

    Attributes:
        at_s: The moment, in seconds from the start of the measurement.
        memory: Resident memory that no file backs, in bytes.
        descriptors: Open file descriptors.
    """

    at_s: float
    memory: int
    descriptors: int


def use_of(pid: int, at_s: float) -> Use:
    """What a process holds now (Linux)."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    opened = Path(f"/proc/{pid}/fd")
    # Only root may list those of a process that is not dumpable; their number is the directory's size since Linux 6.2.
    descriptors = opened.stat().st_size or len(list(opened.iterdir()))
    return Use(at_s, int(status["RssAnon"].split()[0]) * 1024, descriptors)


def cpu_seconds(pid: int) -> float:
    """What a process has used of processors so far, in its own code and in the system's for it (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def growth_per_hour(uses: list[Use]) -> float:
    """Bytes an hour by which memory grows: the slope of the straight line that fits best."""
    count = len(uses)
    middle_t, middle_m = sum(use.at_s for use in uses) / count, sum(use.memory for use in uses) / count
    above = sum((use.at_s - middle_t) * (use.memory - middle_m) for use in uses)
    below = sum((use.at_s - middle_t) ** 2 for use in uses)
    return 3600 * above / below if below else 0.0
