"""Locations of settings, data and logs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Paths(NamedTuple):
    """File locations of one installation.

    Attributes:
        settings_file: ``RUNWATCH_CONFIG``, or ``settings.toml`` in the platform's directory.
        data_dir: The console's data: ``RUNWATCH_DATA_DIR``, or the platform's directory.
    """

    settings_file: Path
    data_dir: Path

    @property
    def database(self) -> Path:
        """The console's own database: outbox, events, journal, watch list."""
        return self.data_dir / "console.db"

    @property
    def session_file(self) -> Path:
        """View state for the next start."""
        return self.data_dir / "session.toml"

    @property
    def log_file(self) -> Path:
        """The rotating log."""
        return self.data_dir / "log" / "runwatch.log"

    @property
    def key_file(self) -> Path:
        """Keys of profiles without a keyring, mode 0600."""
        return self.data_dir / "keys.toml"

    @property
    def exports_dir(self) -> Path:
        return self.data_dir / "exports"

    @property
    def local_service_dir(self) -> Path:
        """The data directory of the local service that the console starts automatically."""
        return self.data_dir / "local-service"

    @property
    def team_service_dir(self) -> Path:
        """The data directory of a service on PostgreSQL, unless another one is named."""
        return self.data_dir / "team-service"

    @property
    def team_worker_dir(self) -> Path:
        """The same of a process that only drives runs of such a service."""
        return self.data_dir / "team-worker"


def find_paths(environment: Mapping[str, str] | None = None) -> Paths:
    """Return the locations from the environment, else those of the platform."""
    environment = os.environ if environment is None else environment
    settings = environment.get("RUNWATCH_CONFIG")
    data = environment.get("RUNWATCH_DATA_DIR")
    if not settings or not data:
        import platformdirs

        settings = settings or str(Path(platformdirs.user_config_dir("runwatch", appauthor=False)) / "settings.toml")
        data = data or platformdirs.user_data_dir("runwatch", appauthor=False)
    return Paths(Path(settings).expanduser().absolute(), Path(data).expanduser().absolute())
