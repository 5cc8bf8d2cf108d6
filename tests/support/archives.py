"""Archives with data of former versions."""

from __future__ import annotations

import tarfile
from pathlib import Path


def extract_archive(archive: Path, directory: Path) -> None:
    """Extract a tar archive; early releases of Python 3.11, such as Debian's, have no filters of members."""
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extraction_filter = tarfile.data_filter
        opened.extractall(directory)
