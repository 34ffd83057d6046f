"""Read, write and probe files of any known format."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.io.costs import reading_cost
from slopewash.io.formats import FORMATS, format_of
from slopewash.io.gdal import rasterio_for
from slopewash.io.info import FileInfo
from slopewash.io.limits import MAXIMUM_LAYERS, MAXIMUM_PIXELS, grid_allowance, larger_grid
from slopewash.io.mesh_files import is_mesh_file, write_mesh
from slopewash.io.notes import Notes
from slopewash.io.options import HeightRange, ReadOptions
from slopewash.needs import Needs
from slopewash.remedies import option
from slopewash.terrain import Terrain, TriangleMesh, check_terrain


def read(
    path: str | os.PathLike[str],
    *,
    cell_size: float | None = None,
    height_range: HeightRange | None = None,
    allow_8bit: bool = False,
    shape: tuple[int, int] | None = None,
    max_pixels: int = MAXIMUM_PIXELS,
    band: int | None = None,
    height_unit: str | None = None,
    reproject: str | None = None,
    nodata: float | None = None,
) -> Terrain:
    """Read a terrain; the suffix selects the format: .asc, .exr, .hgt, .npy, .npz, .png, .r16, .raw or .tif.

    Parameters
    ----------
    path
        The file. Its header is checked before anything is decoded.
    cell_size
        Side of a cell in metres. The default is the value stored in the file, or else 1.
    height_range
        Heights in metres of the lowest and the highest possible sample. Needed for integer samples (.png, .r16, .raw,
        integer .tif without georeference) unless `write` recorded it.
    allow_8bit
        Accept heights in 256 steps, which show as terraces.
    shape
        Rows and columns of a file without a header (.r16, .raw) that is not square.
    max_pixels
        Largest number of cells to read; all layers together may have as many values of 32 bits, or more where the file
        itself is large.
    band
        Band of a .tif to take as the elevation, from 1. By default bands are layers by their names.
    height_unit
        Unit of the heights in the file, "m", "ft" or "us-ft", if missing or wrong there.
    reproject
        CRS to resample the terrain to: "utm" for the local zone, or any code or well-known text in metres or feet. For
        files in degrees, or with cells that are not square. `cell_size` is then that of the new grid.
    nodata
        Number in the file that marks cells without data, besides one that the file declares; NaN for files of floats.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write(Terrain([[0.0, 10.0]], cell_size=5.0), f"{folder}/hill.png")
    ...     read(path)
    Terrain 2 x 1 cells of 5 m (10 x 5 m)
      elevation   0 .. 10 m
    """
    return read_with(
        path,
        ReadOptions(
            cell_size=cell_size, height_range=height_range, allow_8bit=allow_8bit, shape=shape, max_pixels=max_pixels,
            band=band, height_unit=height_unit, reproject=reproject, nodata=nodata,
        ),
    )  # fmt: skip


def read_with(path: str | os.PathLike[str], options: ReadOptions) -> Terrain:
    """Read with options that were checked already; with `ValueOptions` what is no height keeps its numbers.

    >>> import tempfile
    >>> from slopewash.io.options import ValueOptions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write(Terrain([[0.0, 10.0]], cell_size=5.0), f"{folder}/rain.tif")
    ...     read_with(path, ValueOptions()).range("elevation")
    (0.0, 10.0)
    """
    path = Path(path)
    info = inspect(path, options)
    _check_memory(path, info, options)
    format = format_of(path)
    if options.reproject is None:
        return format.read(path, info, options)
    rasterio_for(f'reproject="{options.reproject}" of {path}')
    from slopewash.io.reprojecting import reproject

    # The side of a cell is that of the new grid: the old one may have none in metres.
    terrain = format.read(path, info, dataclasses.replace(options, cell_size=options.cell_size or 1.0))
    return reproject(terrain, options.reproject, cell_size=options.cell_size)


def inspect(path: Path, options: ReadOptions) -> FileInfo:
    """Header of a file that may be read with these options; what must not or need not be decoded is refused.

    >>> inspect(Path("hill.tif"), ReadOptions())
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: hill.tif does not exist
    """
    if not (path.suffix or path.exists()):
        raise InvalidFile(f"{path} does not exist")
    format = format_of(path, reads=True)
    _check_file(path)
    info = format.probe(path, options)
    check_info(path, info, options)
    return info


def _check_memory(path: Path, info: FileInfo, options: ReadOptions) -> None:
    """Refuse a file that does not fit into memory, before it is decoded."""
    layers = 1 if options.band is not None else max(1, info.channels)
    values = float(info.width) * info.height * layers
    needs = Needs([reading_cost(path, info).part(f"reading {path}", values)])
    needs.check(f"reading {path} with {info.width} x {info.height} cells", "use a file with fewer cells")


def write(
    terrain: Terrain | TriangleMesh,
    path: str | os.PathLike[str],
    *,
    layer: str = "elevation",
    height_range: HeightRange | None = None,
    notes: Notes | None = None,
) -> Path:
    """Write a terrain or a mesh atomically, in the format of the suffix, and return the path.

    Parameters
    ----------
    terrain
        What to write. Formats with named layers (.exr, .npz) store every layer; .glb, .obj, .ply and .stl store a
        mesh, made from the terrain if needed.
    path
        The file; an existing one is replaced.
    layer
        The layer to write to single-layer formats (.asc, .npy, .png, .r16, .raw, .tif).
    height_range
        Values of the lowest and the highest 16-bit step (.png, .r16, .raw). The default is the range of the layer.
        It is recorded, in the image or in a sidecar file, and `read` uses it.
    notes
        What made the terrain, by name; recipes give version, preset, seed and step. Kept in .exr, .png, .tif and .glb.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write(Terrain([[0.0, 1.0]], water=0.5), f"{folder}/hill.exr")
    ...     sorted(read(path))
    ['elevation', 'water']
    """
    path = Path(path)
    check_terrain(terrain, TriangleMesh)
    if is_mesh_file(path):
        return write_mesh(terrain, path, notes=notes)
    format = format_of(path)
    if isinstance(terrain, TriangleMesh):
        raise InvalidParameter(
            f"{path} stores a grid; write mesh.to_terrain(cell_size), or write the mesh as .glb or .ply"
        )
    if height_range is not None and not format.whole_numbers:
        takers = ", ".join(suffix for suffix, other in FORMATS.items() if other.whole_numbers)
        raise InvalidParameter(f"{path} stores heights in metres; leave out height_range, which is for {takers} only")
    if not format.all_layers:
        terrain[layer]  # an unknown layer raises before anything is written
    format.check(path)
    format.write(terrain, path, layer, height_range, **({"notes": notes or {}} if format.keeps_notes else {}))
    return path


def probe(path: str | os.PathLike[str]) -> FileInfo:
    """Report what is in a file from its header, without decoding it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     info = probe(write(Terrain([[0.0, 1.0]]), f"{folder}/hill.tif"))
    >>> info.format, info.width, info.height, info.dtype
    ('TIFF', 2, 1, 'float32')
    """
    path = Path(path)
    if not (path.suffix or path.exists()):
        raise InvalidFile(f"{path} does not exist")
    format = format_of(path, reads=True)
    _check_file(path)
    return format.probe(path, ReadOptions())


def _check_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise InvalidFile(f"{path} is a folder, not a file")
        size = path.stat().st_size
    except FileNotFoundError:
        raise InvalidFile(f"{path} does not exist") from None
    except InvalidFile:
        raise
    except (OSError, ValueError) as error:
        raise InvalidFile(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if not path.is_file():
        raise InvalidFile(f"{path} is not a regular file")
    if size == 0:
        raise InvalidFile(f"{path} is empty")


def check_info(path: Path, info: FileInfo, options: ReadOptions) -> None:
    """Reject, based on the header, what must not or need not be decoded.

    >>> info = FileInfo(format="PNG", width=4, height=3, bits=8, dtype="uint8")
    >>> check_info(Path("hill.png"), info, ReadOptions(max_pixels=1))
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: hill.png has 4 x 3 cells, more than 1; raise max_pixels, or ... if this is intended
    """
    if info.width * info.height > options.max_pixels:
        raise InvalidFile(
            f"{path} has {info.width} x {info.height} cells, more than {options.max_pixels}; {larger_grid()}"
        )
    if info.channels > MAXIMUM_LAYERS:
        raise InvalidFile(f"{path} has {info.channels} layers; at most {MAXIMUM_LAYERS} are read")
    grid_allowance(path, options.max_pixels).take(info.width * info.height * info.channels * -(-info.bits // 8))
    if options.band is not None and info.format != "TIFF":
        raise InvalidParameter(f"{path} has no bands; leave out band, which is for .tif only")
    if options.shape is not None and options.shape != (info.height, info.width):
        raise InvalidFile(f"{path} has {info.height} rows and {info.width} columns, but shape is {options.shape}")
    if info.bits < 8:
        raise InvalidFile(f"{path} has {info.bits}-bit samples, too coarse for heights; save it with 16 bits")
    in_colours = bool(info.layers) and "elevation" not in info.layers and options.band is None  # refused for that
    if info.bits == 8 and not options.allow_8bit and not in_colours:
        raise InvalidFile(
            f"{path} has 8-bit heights, only 256 steps; save it with 16 bits, or accept terraces with "
            f"{option('allow_8bit', 'True', '')}"
        )
