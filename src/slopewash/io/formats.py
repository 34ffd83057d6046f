"""All formats, by suffix."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from slopewash.errors import InvalidFile
from slopewash.io import asc, exr, georaster, hgt, npy, png, raw
from slopewash.io.info import FileInfo
from slopewash.io.mesh_files import is_mesh_file
from slopewash.io.options import ReadOptions
from slopewash.remedies import by_place
from slopewash.terrain import Terrain


@dataclass(frozen=True, kw_only=True)
class Format:
    """How one format is probed, read and written."""

    probe: Callable[[Path, ReadOptions], FileInfo]
    read: Callable[[Path, FileInfo, ReadOptions], Terrain]
    write: Callable[..., None]
    """Called with the terrain, the path, the layer and the height range, and with `notes` if it keeps them."""
    all_layers: bool = False
    whole_numbers: bool = False
    """Writes heights as integer steps of a range, so that `height_range` applies."""
    keeps_notes: bool = False
    """Can say what made the file."""
    check: Callable[[Path], None] = lambda path: None
    """Refuses a path beside which a file of somebody else has the name of one that writing replaces."""


_TIFF = Format(probe=georaster.probe, read=georaster.read, write=georaster.write, keeps_notes=True)
_RAW = Format(probe=raw.probe, read=raw.read, write=raw.write, whole_numbers=True, check=raw.check)

FORMATS: Mapping[str, Format] = {
    ".asc": Format(probe=asc.probe, read=asc.read, write=asc.write, check=asc.check),
    ".exr": Format(probe=exr.probe, read=exr.read, write=exr.write, all_layers=True, keeps_notes=True),
    ".hgt": Format(probe=hgt.probe, read=hgt.read, write=hgt.write),
    ".npy": Format(probe=npy.probe_npy, read=npy.read_npy, write=npy.write_npy),
    ".npz": Format(probe=npy.probe_npz, read=npy.read_npz, write=npy.write_npz, all_layers=True),
    ".png": Format(probe=png.probe, read=png.read, write=png.write, whole_numbers=True, keeps_notes=True),
    ".r16": _RAW,
    ".raw": _RAW,
    ".tif": _TIFF,
    ".tiff": _TIFF,
}


def format_of(path: Path) -> Format:
    """Return the format of a suffix.

    >>> format_of(Path("hill.PNG")).whole_numbers
    True
    >>> format_of(Path("hill.tfi"))
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: hill.tfi has the unknown suffix ".tfi"; did you mean ".tif"? Known ...
    """
    suffix = path.suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    known = ", ".join(FORMATS)
    if not suffix:
        raise InvalidFile(f"{path} has no suffix, so its format is unknown; known suffixes are {known}")
    if suffix in (".jpg", ".jpeg", ".gif", ".webp"):
        raise InvalidFile(
            f"{path} would store 8 bits, too few for heights; write .exr or .png, "
            f"or draw a picture with {by_place(python='sw.render', command='slopewash render')}"
        )
    if suffix == ".zarr":
        raise InvalidFile(
            f"{path} is for runs on tiles: "
            + by_place(
                python="sw.erode_tiled reads and writes it, sw.read_tiled reads its results",
                command="slopewash erode --tiles reads and writes it, slopewash convert reads its results",
            )
        )
    if is_mesh_file(path):
        raise InvalidFile(
            f"{path} is a mesh file, but a grid is needed; convert it with "
            + by_place(
                python="sw.read_mesh(path).to_terrain(cell_size)",
                command=f"slopewash convert {path} -o {path.with_suffix('.exr').name} --cell-size METRES",
            )
        )
    close = difflib.get_close_matches(suffix, FORMATS, n=1, cutoff=0.5)
    remedy = f'did you mean "{close[0]}"? Known suffixes are {known}' if close else f"known suffixes are {known}"
    raise InvalidFile(f'{path} has the unknown suffix "{suffix}"; {remedy}')
