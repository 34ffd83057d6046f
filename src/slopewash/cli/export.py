"""`slopewash export`: a folder of files for a game engine or another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from slopewash.cli.console import print_json, show
from slopewash.cli.options import (
    Allow8bit,
    Json,
    OutHeightRange,
    parse_height_range,
    parse_snow_line,
)
from slopewash.cli.outputs import check_apart, make_folder
from slopewash.cli.reading import AS_IS, Reading
from slopewash.cli.tiles import check_grid, read_grid
from slopewash.errors import InvalidFile, InvalidParameter

EXAMPLES = """Examples:
  slopewash export eroded.exr --target unreal --size 505 --fit resample -o ue/
      heights, weights, colours, and a card with what to type in
  slopewash export eroded.exr --target unity --size 513 --fit pad -o unity/
  slopewash export big.exr --target unreal --tiles 2x2 --fit crop -o tiles/
      four files, named _x0_y0 to _x1_y1
  slopewash export eroded.exr --target godot -o terrain3d/
  slopewash export eroded.exr --target blender -o blender/
  slopewash export dem.tif --target gis -o layers/"""


def command(
    file: Annotated[Path, Parameter(name="FILE")],
    /,
    *,
    target: str,
    out: Annotated[Path, Parameter(name=["--out", "-o"])],
    size: int | None = None,
    tiles: Annotated[str, Parameter(allow_leading_hyphen=True)] = "1x1",
    fit: Literal["resample", "crop", "pad"] | None = None,
    shared_edges: bool | None = None,
    heights: str | None = None,
    out_height_range: OutHeightRange = None,
    water: Literal["rivers", "simulated", "none"] = "rivers",
    season: Literal["summer", "autumn", "winter", "desert"] = "summer",
    snow_line: Annotated[str, Parameter(allow_leading_hyphen=True)] = "auto",
    reading: Reading = AS_IS,
    allow_8bit: Allow8bit = False,
    json: Json = False,
) -> None:
    """Write heights, paint layers, colours and an import card for another program.

    Parameters
    ----------
    file
        File with heights; its layers, such as deposit, wear and flow, decide where paint goes.
    target
        The program that imports the files: unreal, unity, godot, blender, houdini or gis, or one that was
        registered in Python.
    out
        Folder to write to; created if missing.
    size
        Samples along a side of one file; that of the terrain if not given.
    tiles
        COLUMNSxROWS of files.
    fit
        What to do with a terrain of another size; without it, that is an error.
    shared_edges
        Whether neighbouring files repeat the row between them; as the target expects it if not given.
    heights
        Format of the heights: png or r16 for unreal, exr or r16 for godot; the others have one each.
    water
        Rivers and lakes along the drainage, the simulated depth of the file, or none.
    season
        Plants, stone and snow of the colour map.
    snow_line
        Height in metres above which snow lies; none; or auto, by season and relief.
    """
    import slopewash as sw
    from slopewash.recipes.export_kinds import export_claim

    span = parse_height_range(out_height_range, "--out-height-range")
    grid = parse_tiles(tiles)
    if out.exists() and not out.is_dir():
        raise InvalidFile(f"output {out} is a file; name a folder")
    options = reading.options(allow_8bit=allow_8bit)
    check_grid(file, options, work=("export",))
    make_folder(out)
    terrain = read_grid(file, options, work=("export",))
    check_apart([file], {f"--out {out}": export_claim(out, target, terrain)}, force=None)
    done = sw.export(
        terrain, target, out, size=size, tiles=grid, fit=fit, shared_edges=shared_edges,
        heights=heights, height_range=span, water=water, season=season, snow_line=parse_snow_line(snow_line),
        notes=None if file.suffix.lower() == ".zarr" else sw.probe(file).made_by,
    )  # fmt: skip
    if json:
        print_json(done.card.as_dict() | {"folder": str(done.folder)})
    else:
        show(done.card)
        show(f"{len(done.files)} files in {done.folder}")


def parse_tiles(text: str) -> tuple[int, int]:
    """Read `COLUMNSxROWS`.

    >>> parse_tiles("2x3")
    (2, 3)
    """
    columns, _, rows = text.partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and int(columns) and int(rows)):
        raise InvalidParameter(f"--tiles is {text}; it must be COLUMNSxROWS, such as 2x2")
    return int(columns), int(rows)
