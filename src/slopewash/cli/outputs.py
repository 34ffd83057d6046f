"""Validation of output paths before any work is done, so that no run is lost to a typing error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from slopewash.errors import InvalidFile

if TYPE_CHECKING:
    from slopewash import Terrain


def check_output(path: Path) -> None:
    """Reject a data file that could not be written later."""
    import slopewash as sw

    if not sw.is_mesh_file(path):
        sw.format_of(path)
    _check_place(path)


def is_film(path: Path) -> bool:
    """Return whether a suffix is that of a film.

    >>> is_film(Path("turn.webm")), is_film(Path("view.png"))
    (True, False)
    """
    return path.suffix.lower() in (".webm", ".mp4")


def check_film(path: Path) -> None:
    """Reject a film that could not be written later."""
    _check_place(path)


def check_picture(path: Path) -> None:
    """Reject a picture that could not be written later."""
    if path.suffix.lower() != ".png":
        raise InvalidFile(f"picture {path} must end in .png")
    _check_place(path)


def check_holds(path: Path, terrain: Terrain) -> None:
    """Reject a format that cannot mark nodata cells, if there are any, and a mesh of a single row or column."""
    import tempfile

    import slopewash as sw

    if terrain.nodata is not None or (sw.is_mesh_file(path) and min(terrain.shape) < 2):
        with tempfile.TemporaryDirectory() as folder:
            sw.write(terrain, Path(folder) / f"trial{path.suffix}")


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise InvalidFile(f"output {path} is a folder; name a file in it")
    check_folder(path.parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise InvalidFile(f"output {path} cannot be overwritten; choose another name")


def check_folder(folder: Path) -> None:
    """Reject a folder that does not exist or is not writable."""
    if not folder.exists():
        raise InvalidFile(f"folder {folder} does not exist; create it first")
    if not folder.is_dir():
        raise InvalidFile(f"{folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidFile(f"folder {folder} is not writable; choose another")


def make_folder(folder: Path) -> None:
    """Create a folder for results, or raise."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(f"folder {folder} cannot be created: {error.strerror}") from None
    check_folder(folder)
