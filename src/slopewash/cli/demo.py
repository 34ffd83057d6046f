"""`slopewash demo`: an eroded mountain range with pictures and its mass budget, in one command."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from slopewash.cli.beds import parse_beds
from slopewash.cli.console import as_json, interrupts_report, note, print_json, show
from slopewash.cli.options import Adapter, Backend, Json, Threads
from slopewash.cli.outputs import make_folder
from slopewash.cli.running import run_recipe, use_adapter
from slopewash.cli.stages import check_steps, make_stage
from slopewash.drafts import staged
from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Look, Output, Recipe, Result, Terrain

EXAMPLES = """Examples:
  slopewash demo                              512 x 512 cells into out/demo
  slopewash demo --size 256 --steps 1500      the same ground, coarser, sooner
  slopewash demo --seed 3 --out out/third     another mountain range
  slopewash demo --recipe archipelago         another kind of landscape;
                                              `slopewash recipes` lists them
  slopewash demo --strata bands               cliffs and benches
  slopewash demo --preset chiba_strata        a paper's own start and layers

Ctrl-C ends a run early: what is done is written, and the exit code is 130."""


def command(
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"])] = Path("out/demo"),
    recipe: str | None = None,
    preset: str | None = None,
    size: int | None = None,
    extent: float | None = None,
    seed: int | None = None,
    strata: str | None = None,
    steps: int | None = None,
    backend: Backend = "auto",
    adapter: Adapter = None,
    threads: Threads = None,
    json: Json = False,
) -> int:
    """Generate a mountain range, erode it, and write data and pictures.

    Parameters
    ----------
    out
        Folder to write to; created if missing.
    recipe
        Landscape from the library, such as mesas or archipelago; `slopewash recipes` lists them.
    preset
        Parameter set to use instead, with the terrain and the layers it starts from.
    size
        Cells along a side: more are the same ground, finer. The preset's own number if not given, or 512.
    extent
        Side of the ground in metres; the preset's own if not given, or 5120. The cell size follows.
    seed
        Random seed; 7 if not given, or that of the recipe.
    strata
        FILE.toml with geological layers, or bands for alternating hard and soft ones.
    steps
        Iterations to run; the default is that of the preset. A shorter run settles for fewer steps.
    """
    import slopewash as sw

    if recipe is not None and preset is not None:
        raise InvalidParameter(f"--recipe {recipe} and --preset {preset}: name one only")
    backend = use_adapter(adapter, backend)
    look = None if recipe is None else sw.looks()[recipe]
    job = _of_preset(preset or "landscape", size, seed, steps) if look is None else _of_look(look, size, seed, steps)
    if extent is not None and isinstance(job.source, sw.Generated):
        job = job.replace(source=dataclasses.replace(job.source, extent=extent, cell_size=None))
    beds = job.strata if strata is None else parse_beds(strata, None)
    job = job.replace(backend=backend, strata=beds)
    job.replace(outputs=_outputs(out)).check_memory()
    start = job.terrain()
    make_folder(out)
    before = out / "before.png"
    written: list[Path] = []
    with interrupts_report(written):
        sw.render(start, before)
        written.append(before)
        with run_recipe(sw.Running(job, start), threads=threads) as (result, code):
            data = write_data(result, out)
            written += data
        note("drawing pictures")
        for picture in draw_pictures(result.terrain, out, {} if look is None else look.picture):
            written.append(picture)
    files = [file for file in written if file not in data] + data  # pictures first
    if json:
        print_json({"folder": str(out), "files": [str(file) for file in files]} | result.as_dict())
    else:
        show(result.budget)
        show(result.budget.summary)
        show(f"{result.progress} on {result.backend} in {result.seconds:.1f} s; pictures and data:")
        for file in files:
            show(f"  {file}")
    if code:
        again = f"; slopewash run {recipe} is a run that can be continued" if look is not None else ""
        note(f"interrupted after {result.progress}; what is done is in {out}{again}")
    return code


def _of_preset(preset: str, size: int | None, seed: int | None, steps: int | None) -> Recipe:
    import slopewash as sw

    stage = make_stage(preset=preset, steps=steps)
    return sw.recipe(preset, size=size, seed=7 if seed is None else seed).replace(stages=(stage,))


def _of_look(look: Look, size: int | None, seed: int | None, steps: int | None) -> Recipe:
    check_steps(steps)
    return look.recipe(size=size, seed=seed, steps=steps)


def _outputs(folder: Path) -> list[Output]:
    """What a demonstration writes, for the estimate of its memory."""
    import slopewash as sw

    return [
        sw.Output(folder / "terrain.exr"),
        sw.Output(folder / "view.png", "picture", {"view": "block", "water": "rivers"}),
    ]


def write_data(result: Result, folder: Path) -> list[Path]:
    """Write layers and budget; return the files."""
    import slopewash as sw

    layers, budget = folder / "terrain.exr", folder / "budget.json"
    sw.write(result.terrain, layers)
    with staged(budget) as temporary:
        temporary.write_text(as_json(result.as_dict()) + "\n", encoding="utf-8")
    return [layers, budget]


def draw_pictures(terrain: Terrain, folder: Path, options: Mapping[str, Any]) -> Iterator[Path]:
    """Draw the pictures one by one and yield each file once it is written, the best first."""
    import slopewash as sw

    view, after, flow, wear_deposit = (folder / f"{name}.png" for name in ("view", "after", "flow", "wear_deposit"))
    watered = sw.add_water(terrain)
    sw.render_view(watered, view, **options)
    yield view
    sw.render(watered, after, **options)
    yield after
    if "flow" in terrain:  # models without water on the grid have no such layer
        sw.overlay(terrain, "flow", flow)
        yield flow
    sw.wear_and_deposit(terrain, wear_deposit)
    yield wear_deposit
