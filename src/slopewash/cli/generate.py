"""`slopewash generate`: a procedural height field."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from slopewash.cli.beds import check_keeps_strata, parse_beds
from slopewash.cli.console import print_json
from slopewash.cli.options import Json, Out
from slopewash.cli.outputs import check_output

KINDS = """diamond_square fbm ridged dome range front scarp coast troughs
  islands volcano cone noisy_cylinder ramp bowl plateau hill"""
"""For the help only, which must not import NumPy; a test compares it with the registered generators."""

EXAMPLES = f"""Kinds: {KINDS}

Examples:
  slopewash generate dome -o raw.exr
      512 x 512 cells of 10 m, 5.12 km in all
  slopewash generate dome -o fine.exr --size 2048
      the same ground with cells of 2.5 m
  slopewash generate diamond_square -o raw.png --size 1009 --seed 42
      every seed gives a different landscape; the same seed gives the same one
  slopewash generate ridged -o raw.tif --relief 900
      900 m from the lowest to the highest point
  slopewash generate dome -o raw.npz --strata layers.toml
      with geological layers beneath; .exr and .npz store them"""


def command(
    kind: Annotated[str, Parameter(name="KIND")],
    /,
    *,
    out: Out,
    size: int = 512,
    extent: float | None = None,
    cell_size: float | None = None,
    seed: int = 0,
    relief: float | None = None,
    strata: str | None = None,
    json: Json = False,
) -> None:
    """Make a height field and write it to a file.

    Parameters
    ----------
    kind
        Kind of terrain, such as dome or diamond_square.
    out
        File to write; the suffix selects the format.
    size
        Cells along a side: more are the same ground, finer.
    extent
        Side of the ground in metres, 5120 if not given; the cell size follows.
    cell_size
        Side of a cell in metres, instead of --extent: more cells are then more ground.
    seed
        Random seed.
    relief
        Metres between the lowest and the highest point. The default is a quarter of the extent.
    strata
        FILE.toml with geological layers beneath the surface, or bands for alternating hard and soft layers.
    """
    import slopewash as sw

    check_output(out)
    beds = parse_beds(strata)
    if beds is not None:
        check_keeps_strata(out)
    terrain = sw.generate(kind, size=size, cell_size=cell_size, extent=extent, seed=seed, relief=relief)
    if beds is not None:
        terrain = beds.under(terrain)
    sw.write(terrain, out)
    if json:
        low, high = terrain.range("elevation")
        rows, columns = terrain.shape
        facts = {"output": str(out), "kind": kind, "seed": seed, "rows": rows, "columns": columns}
        print_json(facts | {"cell_size": terrain.cell_size, "lowest": low, "highest": high, "strata": strata})
    else:
        print(terrain)
        if terrain.strata is not None:
            print(terrain.strata)
        print(out)
