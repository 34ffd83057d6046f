"""Runs a recipe to its end, writes what it is to write and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from slopewash.cli.console import interrupts_report, note, print_json, show
from slopewash.cli.outputs import height_range_of, range_words
from slopewash.cli.running import resuming, run_recipe

if TYPE_CHECKING:
    from slopewash import Observer, Output, Result, Running

SILTED = 0.6
"""Share of the ground below sea level that is left of a sea, below which it is worth a note."""


def finish(
    running: Running,
    *,
    threads: int | None,
    json: bool,
    observers: Sequence[Observer] = (),
    shown: Sequence[Path | None] = (),
    facts: Mapping[str, str] | None = None,
) -> int:
    """Run a recipe to its end, write its outputs and report; `shown` are their names as the user wrote them."""
    written: list[Path] = []
    was_finished = running.finished
    outputs = running.recipe.outputs_in(running.folder)
    names = [path for path in shown if path is not None] or [output.path for output in outputs]
    files = str(running.folder) if running.folder else " and ".join(map(str, names)) or str(running.checkpoint)
    made: list[Path] = []
    kept = running.checkpoint is not None
    with interrupts_report(written, remedy=f"{resuming(running)} writes what is missing" if kept else ""):
        with run_recipe(running, threads=threads, observers=observers) as (result, code):
            for output, name in zip(outputs, names, strict=True):
                if not output.declared.drawn:
                    made += output.write(result)
                    written.append(name)
                    note_lost_sediment(result, output, name)
        for output, name in zip(outputs, names, strict=True):
            if output.declared.drawn:
                made += output.write(result)
                written.append(name)
        if running.folder is not None:
            from slopewash.recipes.manifest import write_records

            made += write_records(result, running.folder, made)
            running.remove_checkpoints()
    if json:
        print_json({**(facts or {}), **_paths(outputs, names, made, running.folder), **result.as_dict()})
    else:
        show(result.budget)
        show(result.budget.summary)
        took = "" if was_finished else f" in {result.seconds:.1f} s"
        show(f"{result.progress} on {result.backend}{took}: {files}")
        for file in made if running.folder is not None else ():
            show(f"  {file}")
        for output, name in zip(outputs, names, strict=True):
            units = result.terrain.units(output.options.get("layer", "elevation"))
            if output.kind == "terrain" and (words := range_words(output.path, name, units)):
                show(words)
    note_silted_sea(result)
    if code:
        again = f"; to continue: {resuming(running)}" if kept and not running.finished else ""
        note(f"interrupted after {result.progress}; what is done is in {files}{again}")
    return code


def _paths(
    outputs: Sequence[Output], names: Sequence[Path], made: Sequence[Path], folder: Path | None
) -> dict[str, object]:
    if folder is not None:
        return {"folder": str(folder), "files": [str(file) for file in made]}
    pictures = [str(name) for output, name in zip(outputs, names, strict=True) if output.kind == "picture"]
    facts: dict[str, object] = {
        "output": str(names[0]) if names else None,
        "picture": pictures[0] if pictures else None,
    }
    black_white = height_range_of(outputs[0].path) if outputs and outputs[0].kind == "terrain" else None
    return facts if black_white is None else {**facts, "height_range": black_white}


def note_silted_sea(result: Result) -> None:
    """Say so where much of the sea has become land."""
    import numpy as np

    level, terrain = result.stage.sea_left, result.terrain
    if level is None:
        return
    ground = terrain["elevation"]
    there = np.ones(terrain.shape, bool) if terrain.nodata is None else ~terrain.nodata
    before, now = (float(np.mean(z[there] < level)) for z in (ground - terrain["difference"], ground))
    note_silted(before, now)


def note_silted(before: float, now: float) -> None:
    """Say so where much of the sea has become land, given the shares of ground below it."""
    if now < SILTED * before:
        note(
            f"note: the sea has silted up: {before:.0%} of the ground lay below it at the start, {now:.0%} does now; "
            "less --strength leaves more of it"
        )


def note_lost_sediment(result: Result, output: Output, out: Path) -> None:
    """Name what a file of one layer leaves out where the sediment was not deposited; others keep it as `suspended`."""
    import slopewash as sw

    if output.kind != "terrain" or result.carried == 0:
        return
    if sw.is_mesh_file(out) or not sw.format_of(out).all_layers:
        note(f"note: the water still carries {result.carried:.6g} m³ of sediment, which {out} does not hold")
