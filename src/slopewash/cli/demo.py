"""`slopewash demo`: an eroded mountain range with pictures and its mass budget, in one command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from slopewash.cli.beds import parse_beds
from slopewash.cli.console import as_json, interrupts_report, note, print_json
from slopewash.cli.options import Adapter, Backend, Json, Threads
from slopewash.cli.outputs import make_folder
from slopewash.cli.running import run_recipe, use_adapter
from slopewash.cli.stages import make_stage

if TYPE_CHECKING:
    from slopewash import Result, Terrain

EXAMPLES = """Examples:
  slopewash demo                              512 x 512 cells into out/demo
  slopewash demo --size 256 --steps 1500      the same ground, coarser, sooner
  slopewash demo --seed 3 --out out/third     another mountain range
  slopewash demo --strata bands               cliffs and benches
  slopewash demo --preset chiba_strata        a paper's own start and layers

Ctrl-C ends a run early: what is done is written, and the exit code is 130."""


def command(
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"])] = Path("out/demo"),
    preset: str = "landscape",
    size: int | None = None,
    extent: float | None = None,
    seed: int = 7,
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
    preset
        Parameter set to use, with the terrain and the layers it starts from.
    size
        Cells along a side: more are the same ground, finer. The preset's own number if not given, or 512.
    extent
        Side of the ground in metres; the preset's own if not given, or 5120. The cell size follows.
    seed
        Random seed.
    strata
        FILE.toml with geological layers, or bands for alternating hard and soft ones.
    steps
        Iterations to run; the default is that of the preset. A shorter run settles for fewer steps.
    """
    import slopewash as sw

    recipe = sw.recipe(preset, size=size, seed=seed, backend=use_adapter(adapter, backend))
    recipe = recipe.replace(
        source=sw.preset_source(preset, size=size, seed=seed, extent=extent),
        strata=parse_beds(strata, preset),
        stages=(make_stage(preset=preset, steps=steps),),
    )
    start = recipe.terrain()
    make_folder(out)
    before = out / "before.png"
    written: list[Path] = []
    with interrupts_report(written):
        sw.render(start, before)
        written.append(before)
        with run_recipe(sw.Running(recipe, start), threads=threads) as (result, code):
            data = write_data(result, out)
            written += data
        note("drawing pictures")
        for picture in draw_pictures(result.terrain, out):
            written.append(picture)
    files = [file for file in written if file not in data] + data  # pictures first
    if json:
        print_json({"folder": str(out), "files": [str(file) for file in files]} | result.as_dict())
    else:
        print(result.budget)
        print(result.budget.summary)
        print(f"{result.progress} on {result.backend} in {result.seconds:.1f} s; pictures and data:")
        for file in files:
            print(f"  {file}")
    if code:
        note(f"interrupted after {result.progress}; what is done is in {out}")
    return code


def write_data(result: Result, folder: Path) -> list[Path]:
    """Write layers and budget; return the files."""
    import slopewash as sw

    layers, budget = folder / "terrain.exr", folder / "budget.json"
    sw.write(result.terrain, layers)
    budget.write_text(as_json(result.as_dict()) + "\n", encoding="utf-8")
    return [layers, budget]


def draw_pictures(terrain: Terrain, folder: Path) -> Iterator[Path]:
    """Draw the pictures one by one and yield each file once it is written, the best first."""
    import slopewash as sw

    view, after, flow, wear_deposit = (folder / f"{name}.png" for name in ("view", "after", "flow", "wear_deposit"))
    watered = sw.add_water(terrain)
    sw.render_view(watered, view)
    yield view
    sw.render(watered, after)
    yield after
    if "flow" in terrain:  # models without water on the grid have no such layer
        sw.overlay(terrain, "flow", flow)
        yield flow
    sw.wear_and_deposit(terrain, wear_deposit)
    yield wear_deposit
