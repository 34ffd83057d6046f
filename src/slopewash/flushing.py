"""What survives a power cut: data that was flushed to the disk, under names that were."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO


def flush_file(file: IO[bytes]) -> None:
    """Bring all that was written to an open file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Bring the names in a folder, new and changed, to the disk."""
    if os.name == "nt":  # Windows does not open folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
