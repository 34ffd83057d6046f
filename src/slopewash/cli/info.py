"""`slopewash info`: what is in a file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from slopewash.cli.console import add_row, console, make_table, print_json, show
from slopewash.cli.options import (
    Json,
)
from slopewash.cli.reading import AS_IS, Reading
from slopewash.cli.tiles import check_recorded, is_local, print_tiled, tiled_output
from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.plain import plain

if TYPE_CHECKING:
    from slopewash import Strata, Terrain

LONGEST = 160
"""Characters of a value that fits in a line; a CRS in well-known text is shown by its name."""

EXAMPLES = """Examples:
  slopewash info eroded.exr
  slopewash info island.png --height-range 0..1400    metres, not grey values
  slopewash info dem.tif --json
  slopewash info run.ckpt                             how far a run has got
  slopewash info eroded.zarr                          a run on tiles"""


def command(
    file: Annotated[Path, Parameter(name="FILE")],
    /,
    *,
    reading: Reading = AS_IS,
    json: Json = False,
) -> None:
    """Show the size, cell size, layers, ranges and statistics of a file, or how far a run with checkpoints has got.

    Parameters
    ----------
    file
        File with heights, a folder of checkpoints, the output folder of a run that is not complete, or the .zarr of a
        run on tiles.
    """
    import slopewash as sw

    file = tiled_output(file)
    if is_local(file) and not file.exists() and not sw.is_mesh_file(file):
        raise InvalidFile(f"{file} does not exist")
    if file.is_dir() or not is_local(file):
        check_recorded(file, reading.options(), but=())
        from slopewash.recipes.running import checkpoints_of

        tiled = sw.tiled_facts(file)
        if tiled is not None:
            print_json(tiled) if json else print_tiled(file, tiled)
            return
        if not is_local(file):
            raise InvalidFile(f"{file} holds no run on tiles")
        facts = checkpoint_facts(checkpoints_of(file))
        print_json(facts) if json else print_facts(facts)
        return
    options = reading.options(allow_8bit=True)
    # A raw file has no header: --shape cannot be checked against it.
    header = None if reading.shape else sw.probe(file)
    facts = {"file": str(file)} | (plain(header) if header else {})
    try:
        terrain = sw.read(file, **options)
    except InvalidParameter as error:
        if header is None or header.dtype.startswith("float") or {"height_range", "cell_size"} & options.keys():
            raise
        # Integers without a range are not heights yet, but the header can still be shown.
        facts["note"] = str(error)
    else:
        facts |= terrain_facts(terrain)
    print_json(facts) if json else print_facts(facts)


def checkpoint_facts(folder: Path) -> dict[str, Any]:
    """Collect how far a run has got, and what it is to write; files are verified, so that `resume` finds the same."""
    import slopewash as sw

    if any((folder / name).exists() for name in ("zarr.json", ".zgroup")):
        raise InvalidFile(
            f"{folder} is a Zarr group, and no run on tiles; slopewash erode --tiles 2048 -o OUT.zarr takes it"
        )
    if not (sw.find_checkpoints(folder) or sw.newest_manifest(folder)):
        raise InvalidFile(f"{folder} holds no checkpoint; name a file of heights, or a folder of erode --checkpoint")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sw.CheckpointWarning)
        manifest, _ = sw.read_checkpoint(folder, trust=True)  # which is only shown
    try:
        return _progress(folder, manifest, caught)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidFile(f"{folder} holds a checkpoint whose progress cannot be shown: {error!r}") from error


def _progress(folder: Path, manifest: Mapping[str, Any], caught: Sequence[warnings.WarningMessage]) -> dict[str, Any]:
    import slopewash as sw

    kept = manifest.get("recipe", {})
    recipe = kept.get("recipe")
    stages = kept.get("stages") or (recipe or {}).get("stages")
    stage = None if stages is None else stages[kept.get("stage", 0)]
    rows, columns = manifest["domain"]["shape"]
    # Steps in which the flood recedes come after those of the stage, and are counted apart.
    receded = 0 if stage is None else max(manifest["step"] - stage["steps"], 0)
    facts: dict[str, Any] = {
        "checkpoint": str(folder),
        **({"note": str(caught[0].message)} if caught else {}),
        "written_by": f"slopewash {manifest['slopewash']}",
        "model": manifest["model"]["name"],
        "backend": manifest["backend"],
        "width": columns,
        "height": rows,
        "cell_size": manifest["domain"]["cell_size"],
        "step": manifest["step"] - receded,
        "settling_steps": manifest["settled"],
        "receding_steps": receded or None,
    }
    if stage is not None:
        facts |= {
            "steps_wanted": stage["steps"], "settling_steps_wanted": stage["settle"],
            "receding_steps_wanted": sw.Stage.from_dict(stage).receding_steps((rows, columns)) if receded else None,
            "stage": kept.get("stage", 0) + 1, "stages": len(stages or ()), "level": stage.get("cells"),
            "preset": stage["preset"], "finished": kept.get("finished", False),
        }  # fmt: skip
        facts["outputs"] = [output["path"] for output in recipe["outputs"]]
    return facts


def terrain_facts(terrain: Terrain) -> dict[str, Any]:
    """Collect facts that need the decoded heights."""
    import slopewash as sw

    return {
        "width": terrain.shape[1],
        "height": terrain.shape[0],
        "cell_size": terrain.cell_size,
        "crs": terrain.crs,
        "cells_without_data": 0 if terrain.nodata is None else int(terrain.nodata.sum()),
        "strata": None if terrain.strata is None else strata_facts(terrain.strata),
        "local_minima": sw.local_minima(terrain["elevation"], nodata=terrain.nodata),
        "units": {name: terrain.units(name) for name in terrain},
        "statistics": plain(sw.statistics(terrain)),
    }


def strata_facts(strata: Strata) -> dict[str, Any]:
    """Collect the attitude and the properties of the strata, from the top."""
    assert strata.top is not None  # a terrain's strata always have one
    return {
        "layers": [
            {name: value for name, value in plain(layer).items() if value is not None} for layer in strata.layers
        ],
        "dip": strata.dip,
        "direction": strata.direction,
        "follow": strata.follow,
        "top": [float(strata.top.min()), float(strata.top.max())],
    }


def print_facts(facts: dict[str, Any]) -> None:
    """Print as text: a line per fact, a table row per layer."""
    for name, value in _shares(facts).items():
        if name == "strata" and value is not None:
            print_strata(value)
        elif name not in ("statistics", "units") and value is not None:
            show(f"{name.replace('_', ' '):<20} {_words(value)}{' m' if name == 'cell_size' else ''}")
    layers = facts.get("statistics", {})
    if layers:
        table = make_table("layer", "units", *(name.replace("_", " ") for name in next(iter(layers.values()))))
        for layer, numbers in layers.items():
            add_row(table, layer, facts["units"].get(layer, ""), *(f"{number:.6g}" for number in numbers.values()))
        console().print(table)


def _shares(facts: dict[str, Any]) -> dict[str, Any]:
    """Put what is done and what is wanted of a run into one line."""
    if "steps_wanted" not in facts:
        return facts
    settle, receded = facts["settling_steps_wanted"], facts["receding_steps"]
    recede = facts["receding_steps_wanted"]
    here = f" on this {'level' if facts['level'] else 'stage'}" if facts["stages"] != 1 else ""
    shown = {
        "step": ("steps", f"{facts['step']} of {facts['steps_wanted']}{here}"),
        "settling_steps": ("settling", None if settle is None else f"{facts['settling_steps']} of {settle}"),
        "receding_steps": ("receding", f"{receded} of {recede}" if receded else None),
        "stage": ("level" if facts["level"] else "stage", f"{facts['stage']} of {facts['stages']}"),
    }
    left_out = ("steps_wanted", "settling_steps_wanted", "receding_steps_wanted", "stages", "level")
    return dict(shown.get(name, (name, value)) for name, value in facts.items() if name not in left_out)


def print_strata(facts: dict[str, Any]) -> None:
    """Print a line for each layer, from the top."""
    lying = "following the surface" if facts["follow"] else "level"
    if facts["dip"]:
        lying = f"dipping {facts['dip']:g}° towards {facts['direction']:g}°"
    low, high = facts["top"]
    top = f"{low:g} m" if low == high else f"{low:g} .. {high:g} m"
    show(f"{'strata':<20} {len(facts['layers'])} layers, {lying}, top at {top}")
    for number, layer in enumerate(facts["layers"]):
        last = number == len(facts["layers"]) - 1
        extent = "below" if last else f"{layer['thickness']:g} m"
        rest = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in layer.items() if name != "thickness")
        show(f"{'':<20} {extent:<9} {rest}")


def _words(value: Any) -> str:
    if isinstance(value, str) and len(value) > LONGEST and value.count('"') > 1:
        return f"{value.split(chr(34))[1]} (well-known text; --json shows it)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(each)}" for name, each in value.items() if each is not None)
    return f"{value:g}" if isinstance(value, float) else str(value)
