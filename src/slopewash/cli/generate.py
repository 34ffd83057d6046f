"""`slopewash generate`: a procedural height field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from slopewash.cli.beds import check_keeps_strata, parse_beds
from slopewash.cli.console import add_row, console, make_table, print_json, show
from slopewash.cli.options import Flag, Json, OutHeightRange, parse_height_range
from slopewash.cli.outputs import check_output, check_range, height_range_of, range_words
from slopewash.errors import InvalidParameter, unknown_name

KINDS = """diamond_square fbm ridged dome range front scarp coast troughs
  islands volcano cone noisy_cylinder ramp bowl plateau hill"""
"""For the help only, which must not import NumPy; a test compares it with the registered generators."""

OPTIONS = """fbm, ridged      --feature-size --octaves --persistence
  diamond_square   --roughness
  dome             --noise --persistence
  range            --noise
  front            --noise --foot --plain
  scarp            --noise --edge --steepness --tilt --bays
  coast            --edge --steepness --stacks
  troughs          --depth --breadth
  islands          --roughness --land
  volcano          --noise --crater --width
  cone             --noise
  noisy_cylinder   --arc --noise --turn --spurs
  plateau          --top"""
"""Likewise, for each kind that has options of its own."""

EXAMPLES = f"""Kinds: {KINDS}

Options of one kind only (`slopewash generate KIND --explain` explains them):
  {OPTIONS}

Examples:
  slopewash generate dome -o raw.exr
      512 x 512 cells of 10 m, 5.12 km in all
  slopewash generate dome -o fine.exr --size 2048
      the same ground with cells of 2.5 m
  slopewash generate diamond_square -o raw.png --size 1009 --seed 42
      every seed gives a different landscape; the same seed gives the same one
  slopewash generate ridged -o raw.tif --relief 900
      900 m from the lowest to the highest point
  slopewash generate fbm -o raw.exr --persistence 0.42 --feature-size 1500
      an option of this kind of terrain
  slopewash generate dome -o raw.npz --strata layers.toml
      with geological layers beneath; .exr and .npz store them"""


def command(
    kind: Annotated[str, Parameter(name="KIND")],
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    size: int = 512,
    extent: float | None = None,
    cell_size: float | None = None,
    seed: int = 0,
    relief: float | None = None,
    strata: str | None = None,
    out_height_range: OutHeightRange = None,
    explain: Flag = False,
    json: Json = False,
    **options: Annotated[str, Parameter(allow_leading_hyphen=True)],
) -> None:
    """Make a height field and write it to a file.

    Parameters
    ----------
    kind
        Kind of terrain, such as dome or diamond_square.
    out
        File to write; the suffix selects the format. Needed unless --explain is given.
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
    explain
        Print what the options of this kind of terrain do, and make none.
    options
        Options of this kind of terrain, listed below.
    """
    import slopewash as sw

    if explain:
        print_options(kind, json=json)
        return
    if out is None:
        raise InvalidParameter("--out is missing; name the file to write, such as -o raw.exr")
    own: dict[str, Any] = dict(parse_options(kind, options))
    black_white = parse_height_range(out_height_range, "--out-height-range")
    check_output(out)
    check_range(out, black_white)
    beds = parse_beds(strata)
    if beds is not None:
        check_keeps_strata(out)
    terrain = sw.generate(kind, size=size, cell_size=cell_size, extent=extent, seed=seed, relief=relief, **own)
    if beds is not None:
        terrain = beds.under(terrain)
    sw.write(terrain, out, height_range=black_white)
    if json:
        low, high = terrain.range("elevation")
        rows, columns = terrain.shape
        facts = {"output": str(out), "kind": kind, "seed": seed, "rows": rows, "columns": columns, "options": own}
        facts |= {"cell_size": terrain.cell_size, "lowest": low, "highest": high, "strata": strata}
        print_json(facts | {"height_range": height_range_of(out)})
    else:
        show(terrain)
        if terrain.strata is not None:
            show(terrain.strata)
        show(range_words(out, out) or out)


COMMON = ("size", "extent", "cell_size", "seed", "relief", "strata")
"""Options of every kind, to suggest where a name is misspelt."""


def parse_options(kind: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Read the options of one kind of terrain as it declares them.

    >>> parse_options("fbm", {"octaves": "4", "persistence": "0.4"})
    {'octaves': 4, 'persistence': 0.4}
    """
    import slopewash as sw

    declared = {option.name: option for option in sw.generator_options(kind)}
    values: dict[str, Any] = {}
    for flag, text in given.items():
        name = flag.replace("-", "_")
        if name not in declared:
            flags = [f"--{known.replace('_', '-')}" for known in (*declared, *COMMON)]
            raise unknown_name(f"option of {kind}", f"--{name.replace('_', '-')}", flags)
        try:
            values[name] = int(text) if declared[name].whole else float(text)
        except ValueError:
            wanted = "a whole number" if declared[name].whole else "a number"
            raise InvalidParameter(f"--{name.replace('_', '-')} is {text}; it must be {wanted}") from None
    return values


def print_options(kind: str, *, json: bool) -> None:
    """Print what the options of a kind of terrain do."""
    import slopewash as sw

    doc, options = sw.describe_generator(kind)[0], sw.generator_options(kind)
    if json:
        facts = [{"name": option.name, "default": option.default, "doc": option.doc} for option in options]
        print_json({"kind": kind, "doc": doc, "options": facts})
        return
    show(f"{kind}: {doc}")
    table = make_table("option", "default", "meaning")
    for option in options:
        default = "by the size" if option.default is None else f"{option.default:g}"
        add_row(table, f"--{option.name.replace('_', '-')}", default, option.doc)
    console().print(table) if options else show("It has no options of its own.")
