"""Whole runs in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slopewash.models import Model, Preset
from slopewash.models.state import Edges, Sides
from slopewash.observers import Progress
from slopewash.recipes.definition import Recipe, Stage, preset_beds, usual_preset
from slopewash.recipes.results import Result, check_outputs, make_folders, prepare_outputs
from slopewash.recipes.running import Running
from slopewash.recipes.sources import FromTerrain
from slopewash.terrain import Terrain, check_terrain


def run(
    recipe: Recipe, *, progress: bool = False, observers: Sequence[Any] = (), folder: str | Path | None = None
) -> Result:
    """Run a recipe from start to end, and write its outputs."""
    if folder is None:
        check_outputs(recipe)
    else:
        prepare_outputs(recipe, Path(folder))
    return _finished(Running(recipe, folder=folder), [*([Progress()] if progress else []), *observers], folder)


def _finished(running: Running, observers: Sequence[Any], folder: str | Path | None = None) -> Result:
    try:
        running.run(*observers)
        result = running.result()
    finally:
        running.close()
    result.write_outputs(folder)
    return result


def erode(
    terrain: Terrain,
    model: Model | Preset | str | None = None,
    *,
    steps: int | None = None,
    backend: str = "auto",
    edges: Edges | Sides | None = None,
    seed: int = 0,
    settle: int | bool | None = None,
    dry: bool = False,
    gullies: float | None = None,
) -> Terrain:
    """Erode a terrain in one line and return the result, as `slopewash erode` does.

    Parameters
    ----------
    terrain
        What to erode.
    model
        The name of a preset, or a model; if not given, the preset landscape, or gentle for a georeferenced terrain. A
        preset also brings its steps, settling,
        edges and strata, and the levels of its grid: `erode(terrain, "landscape")` goes from coarse to fine, while
        `erode(terrain, preset("landscape"))` uses its parameters only, for 1000 steps and without settling.
    steps, edges
        What the preset suggests if not given; 1000 steps and open edges for a model.
    backend, seed
        As for `Simulation`.
    settle
        Steps in which the water comes to rest before its sediment is deposited; if not given, what suits the preset and
        the number of steps. True asks for the preset's own number, False leaves the sediment in the water.
    dry
        Whether the water evaporates at the end.
    gullies
        Depth of fine gullies that are drawn at the end, as for `add_gullies`; what the preset suggests if not given.

    >>> import slopewash as sw
    >>> sw.erode(sw.generate("cone", size=16), sw.VirtualPipes(), steps=2, backend="reference")["elevation"].shape
    (16, 16)
    """
    check_terrain(terrain)
    chosen = usual_preset(terrain) if model is None else model
    stage = Stage.of(chosen, steps=steps, settle=settle, dry=dry, edges=edges, gullies=gullies)
    recipe = Recipe(
        source=FromTerrain(terrain=terrain), strata=preset_beds(stage.preset), stages=(stage,), seed=seed,
        backend=backend,
    )  # fmt: skip
    return run(recipe).terrain


def resume(
    folder: str | Path,
    *,
    progress: bool = False,
    trust: bool = False,
    out: str | Path | None = None,
    force: bool = False,
) -> Result:
    """Continue a recipe from its checkpoints to its end, and write its outputs.

    Parameters
    ----------
    folder
        Where the checkpoints are, or the folder of the outputs.
    progress
        Whether to show a bar on the terminal.
    trust
        Continue what another user or machine wrote; its outputs go into `out`, and nowhere else.
    out
        Folder for all outputs, in place of where they went: an absolute one goes there by its last part.
    force
        Let outputs overwrite an input there, and those of others any file.

    >>> import tempfile, slopewash as sw
    >>> folder = tempfile.TemporaryDirectory()
    >>> recipe = sw.recipe("jako2011", size=16, steps=4, backend="reference")
    >>> sw.Running(recipe, checkpoint=folder.name).write_checkpoint().exists()
    True
    >>> resumed, undisturbed = sw.resume(folder.name).terrain, recipe.run().terrain
    >>> bool((resumed["elevation"] == undisturbed["elevation"]).all())
    True
    >>> folder.cleanup()
    """
    running = Running.resumed(folder, trust=trust, out=out, force=force)
    place = running.folder if out is None else Path(out)
    if place is not None:
        make_folders(running.recipe, place)
    check_outputs(running.recipe, running.folder, force=force)
    result = _finished(running, [Progress()] if progress else [], running.folder)
    running.remove_checkpoints()
    return result
