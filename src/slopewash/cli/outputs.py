"""Validation of output paths before any work is done, so that no run is lost to a typing error."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from slopewash import paths
from slopewash.claims import Claim, overwritten, twice
from slopewash.errors import InvalidFile

if TYPE_CHECKING:
    from slopewash import Terrain


def check_output(path: Path) -> None:
    """Reject a data file that could not be written later."""
    import slopewash as sw

    if not sw.is_mesh_file(path):
        sw.format_of(path).check(path)
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


def check_picture(path: Path, *, or_film: bool = False) -> None:
    """Reject a picture that could not be written later."""
    films = ", and a film in .webm or .mp4" if or_film else ""
    if path.suffix.lower() != ".png":
        raise InvalidFile(f"picture {path} must end in .png{films}")
    _check_place(path)


def check_report(path: Path) -> None:
    """Reject a page that could not be written later."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InvalidFile(f"report {path} must end in .html")
    _check_place(path)


def check_masks(folder: Path) -> None:
    """Make the folder of masks, or reject its place."""
    if folder.suffix and not folder.is_dir():
        raise InvalidFile(f"--layers writes several files, but {folder} names one; name a folder")
    if folder.exists() and not folder.is_dir():
        raise InvalidFile(f"{folder} is a file; name a folder for the layers")
    make_folder(folder)


def check_apart(inputs: Sequence[Path], outputs: Mapping[str, Claim], *, force: bool | None) -> None:
    """Refuse outputs by which one overwrites another, or an input unless it was asked for; `force` is None without it.

    `outputs` has the words of each, such as `--out raw.exr`; the first of the inputs is what the command is about.
    """
    clash = twice(outputs.values())
    if clash is not None:
        raise InvalidFile(f"{list(outputs)[clash[0]]} would overwrite {clash[1]} of another output; name another place")
    overlap = None if force else overwritten(inputs, outputs.values())
    if overlap is not None:
        claim, file = overlap
        words = next(words for words, each in outputs.items() if each is claim)
        itself = file == inputs[0] and claim.path != claim.folder
        told = "is the input file" if itself else f"would overwrite {file}, which is read"
        rest = "name another file" if claim.path != claim.folder else "name another folder"
        raise InvalidFile(f"{words} {told}; {rest}" + (", or add --force" if force is not None else ""))


def check_range(path: Path, height_range: tuple[float, float] | None) -> None:
    """Reject a range for a file that stores metres."""
    import slopewash as sw

    if height_range is not None and (sw.is_mesh_file(path) or not sw.format_of(path).whole_numbers):
        raise InvalidFile(f"{path} stores metres; leave out the height range, which is for 16-bit files")


def check_cog(path: Path, *, cog: bool) -> None:
    """Reject a cloud-optimised GeoTIFF that is not to be a .tif."""
    if cog and path.suffix.lower() not in (".tif", ".tiff"):
        raise InvalidFile(f"--cog is for GeoTIFF, but {path} does not end in .tif; leave it out, or name a .tif")


def height_range_of(path: Path) -> tuple[float, float] | None:
    """What black and white of a 16-bit file that was written stand for; None for others."""
    import slopewash as sw

    if sw.is_mesh_file(path) or not sw.format_of(path).whole_numbers:
        return None
    return sw.probe(path).height_range


def range_words(path: Path, shown: Path, units: str = "m") -> str | None:
    """The same in words, with the name as the user wrote it."""
    black_white = height_range_of(path)
    if black_white is None:
        return None
    return "{0}: black is {2:.8g}{1}, white is {3:.8g}{1}".format(shown, f" {units}" if units else "", *black_white)


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
    make_folder(path.parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise InvalidFile(f"output {path} cannot be overwritten; choose another name")


_made: list[Path] = []
"""Folders that this command created, each after those that hold it."""


def make_folder(folder: Path) -> None:
    """Create a folder for results and those that hold it, or raise; one that stays empty is removed in the end."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        paths.make_folder(folder)
    except OSError as error:
        raise InvalidFile(f"folder {folder} cannot be created: {error.strerror}; choose another") from None
    _made.extend(reversed(missing))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidFile(f"folder {folder} is not writable; choose another")


def remove_empty_folders() -> None:
    """Remove the folders that this command created and wrote nothing to."""
    while _made:
        paths.remove_if_empty(_made.pop())
