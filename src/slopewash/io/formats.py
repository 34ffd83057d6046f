"""All formats, by suffix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from slopewash.errors import InvalidFile, nearest
from slopewash.io import asc, exr, georaster, hgt, npy, png, raw
from slopewash.io.info import FileInfo
from slopewash.io.mesh_files import MESH_FORMATS, is_mesh_file
from slopewash.io.options import ReadOptions
from slopewash.remedies import by_file, by_place
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


_PICTURES = (".jpg", ".jpeg", ".gif", ".webp")


def format_of(path: Path, *, reads: bool = False) -> Format:
    """Return the format of a suffix, of a file to be written or of one that `reads`.

    >>> format_of(Path("hill.PNG")).whole_numbers
    True
    >>> format_of(Path("hill.tfi"))
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: hill.tfi has the unknown suffix ".tfi"; did you mean ".tif"? Known ...
    """
    suffix = path.suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    known = f"{', '.join(FORMATS)} of grids, {', '.join(MESH_FORMATS)} of meshes"
    if not suffix:
        raise InvalidFile(f"{path} has no suffix, so its format is unknown; known suffixes are {known}")
    if suffix in _PICTURES and reads:
        raise InvalidFile(
            f"{path} is a picture of 8 bits, which is not read; save it as a grey .png"
            + by_file(ground=", of 16 bits if its source has heights", other="")
        )
    if suffix in _PICTURES:
        raise InvalidFile(
            f"{path} would store 8 bits, too few for heights; write .exr or .png, "
            f"or draw a picture with {by_place(python='sw.render', command='slopewash render')}"
        )
    if suffix == ".zarr" and reads:
        raise InvalidFile(
            f"{path} is a Zarr group, which is read by windows: "
            + by_place(
                python="give it to sw.erode_tiled, or read the result of a run with sw.read_tiled",
                command="slopewash erode --tiles 2048 -o OUT.zarr takes it, and slopewash convert reads "
                "the result of such a run",
            )
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
    close = nearest(suffix, (*FORMATS, *MESH_FORMATS))
    remedy = f"known suffixes are {known}" if close is None else f'did you mean "{close}"? Known suffixes are {known}'
    raise InvalidFile(f'{path} has the unknown suffix "{suffix}"; {remedy}')
