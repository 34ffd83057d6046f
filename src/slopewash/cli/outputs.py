"""Checks of where results shall go, made before any work is done: a run must not be lost to a typing error."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from slopewash.errors import InvalidFile


def check_output(path: Path, suffixes: Iterable[str]) -> None:
    """Refuse a file that could not be written later."""
    known = sorted(suffixes)
    if path.suffix.lower() not in known:
        said = f'ends in "{path.suffix}"' if path.suffix else "has no suffix"
        raise InvalidFile(f"output {path} {said}; it must end in one of {', '.join(known)}")
    if path.is_dir():
        raise InvalidFile(f"output {path} is a folder; name a file")
    check_folder(path.parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise InvalidFile(f"output {path} may not be overwritten; choose another name")


def check_folder(folder: Path) -> None:
    """Refuse a folder that does not exist or may not be written to."""
    if not folder.exists():
        raise InvalidFile(f"folder {folder} does not exist; create it first")
    if not folder.is_dir():
        raise InvalidFile(f"{folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidFile(f"folder {folder} may not be written to; choose another")


def make_folder(folder: Path) -> None:
    """Create a folder for results, or refuse."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(f"folder {folder} cannot be created: {error.strerror}") from None
    check_folder(folder)
