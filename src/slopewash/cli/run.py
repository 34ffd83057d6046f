"""`slopewash run`: a whole job from a recipe file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from slopewash.cli.console import note, print_json, show
from slopewash.cli.finishing import finish
from slopewash.cli.options import Adapter, Backend, Flag, Json, Settings, Threads
from slopewash.cli.running import check_checkpoint, forget_run, use_adapter
from slopewash.cli.tiles import (
    Memory,
    Scheduler,
    Tiles,
    Workers,
    check_needs_tiles,
    check_on_tiles,
    check_tiled_output,
    erode_on_tiles,
    tiled_output,
)
from slopewash.errors import InvalidFile

if TYPE_CHECKING:
    from slopewash import Recipe

EXAMPLES = """A recipe is a small text file:

  seed = 7

  [source]                     # or: file = "dem.tif"
  generator = "dome"
  size = 512

  [[stages]]                   # one or more, one after the other
  preset = "landscape"
  strength = 0.5
  parameters = { rain_rate = 0.004 }

  [[outputs]]
  path = "eroded.exr"

  [[outputs]]
  kind = "picture"
  path = "view.png"

Examples:
  slopewash recipes alpine -o my.toml     a landscape of the library as a file
  slopewash run my.toml                   run it; results in out/my
  slopewash run my.toml --preview         a quarter of the cells along a side
  slopewash run my.toml --check           only look for mistakes
  slopewash run my.toml --plan            only list its steps, with their needs
  slopewash run my.toml --set seed=3 --set landscape.strength=0.5
  slopewash run my.toml --set source.size=1024 -o out/large
  slopewash resume out/my                 continue it if it was interrupted
  slopewash run my.toml --tiles 2048      larger than memory, into out/my.zarr

Files that the recipe reads are relative to it; outputs go into the folder of
--out, beside recipe.toml (the recipe used) and manifest.json (version, seed,
checksums of all files, mass budget). Two runs give byte-identical files.
Every key of a recipe: docs/recipes.md. Ctrl-C ends a run early: what is done
is written, `slopewash resume` continues it, and the exit code is 130."""


def command(
    recipe: Annotated[Path, Parameter(name="RECIPE")],
    /,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    settings: Settings = (),
    preview: Flag = False,
    check: Flag = False,
    plan: Flag = False,
    backend: Backend | None = None,
    adapter: Adapter = None,
    every: int = 500,
    checkpoints: bool = True,
    tiles: Tiles = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    memory: Memory = None,
    threads: Threads = None,
    outputs_anywhere: Flag = False,
    force: Flag = False,
    json: Json = False,
) -> int:
    """Run a recipe file: make or read a terrain, erode it in one or more stages, write files and pictures.

    Parameters
    ----------
    recipe
        The recipe, a .toml file, or the name of a landscape that `slopewash recipes` lists.
    out
        Folder for the outputs, created if missing; out/NAME for NAME.toml if not given. With --tiles, the .zarr or
        .tif to write; out/NAME.zarr if not given.
    settings
        Change one value: --set landscape.rain_rate=0.02, where the first word is a stage by its name, preset, model or
        number (`stage` if there is only one), or source, layers or strata; without one, seed or backend. May be
        repeated.
    preview
        Run on a quarter of the cells along each side, into out/NAME-preview.
    check
        Only look for mistakes in the recipe; nothing is run or written.
    plan
        Only print the steps that its stages take, each with its cells and what it needs of memory and time.
    backend
        auto, gpu, cpu or reference; that of the recipe if not given.
    every
        Steps between two checkpoints.
    checkpoints
        Keep checkpoints in the output folder until the run is complete. A short run takes up to a fifth less time
        without, but cannot be resumed.
    outputs_anywhere
        Write outputs where the recipe names them, also outside the output folder and through links in it. Without, such
        names are refused: a recipe may be anyone's.
    force
        Begin anew where the output folder holds a run that is not finished, and overwrite the recipe, files that it
        reads, and files outside the output folder; all are refused without. What an earlier run left in the folder
        is overwritten anyway.
    """
    import slopewash as sw
    from slopewash.cli.planned import plan_facts, print_plan
    from slopewash.recipes.manifest import CHECKPOINTS
    from slopewash.recipes.maps import check_layer_names
    from slopewash.recipes.rehearsal import rehearse
    from slopewash.recipes.results import check_elsewhere, check_kept, prepare_outputs

    job = load(recipe, settings, outputs_anywhere=outputs_anywhere)
    name = recipe.stem if recipe.suffix.lower() == ".toml" else recipe.name
    if preview:
        job = job.preview()
    chosen = use_adapter(adapter, backend or job.backend)
    job = job.replace(backend=chosen)
    folder = out or Path("out") / (f"{name}-preview" if preview else name)
    if plan:
        if tiles is None:
            job.check_memory()
        print_json(plan_facts(job)) if json else print_plan(job)
        return 0
    on_tiles = out or Path("out") / f"{name}{'-preview' if preview else ''}.zarr"
    if check:
        check_layer_names(job)
        needs = job.check_memory() if tiles is None else None
        if tiles is not None:
            _check_tiles(job, on_tiles, tiles)
        else:
            if not force:
                check_elsewhere(job, folder)
            check_kept(job, folder, force=force)
        rehearse(job)
        facts = summary(job)
        words = ", ".join(f"{part} {', '.join(values)}" for part, values in facts.items() if values)
        if json:
            print_json({"recipe": str(recipe), "valid": True, **facts, **(needs.as_dict() if needs else {})})
        else:
            show(f"{recipe} is valid: {words}")
            show(needs or "On tiles, the run reports what it needs of memory and time before the first is eroded.")
        return 0
    if tiles is not None:
        check_on_tiles(adapter=adapter, threads=threads)
        return _run_on_tiles(
            job, on_tiles, tiles=tiles, scheduler=scheduler, workers=workers, memory=memory, force=force, json=json,
        )  # fmt: skip
    check_needs_tiles(scheduler=scheduler, workers=workers, memory=memory)
    job.check_memory()
    if not job.outputs:
        note("note: the recipe has no [[outputs]]; only its recipe.toml and manifest.json are written")
    own = folder / "recipe.toml"
    if not force and recipe.exists() and own.exists() and own.samefile(recipe):
        raise InvalidFile(f"{own} is the recipe itself and would be rewritten; choose another --out, or add --force")
    if not force:
        check_elsewhere(job, folder)
    else:
        forget_run(folder / CHECKPOINTS)
    check_checkpoint(folder / CHECKPOINTS, instead="begin anew with --force")
    prepare_outputs(job, folder, force=force)
    checkpoint = folder / CHECKPOINTS if checkpoints else None
    running = sw.Running(job, checkpoint=checkpoint, every=every, folder=folder)
    return finish(running, threads=threads, json=json, facts={"recipe": str(recipe), "folder": str(folder)})


def _run_on_tiles(job: Recipe, out: Path, *, tiles: int, json: bool, **where: Any) -> int:
    """Run source, layers, strata and stages of a recipe on tiles; its outputs would need the whole."""
    _check_tiles(job, out, tiles)
    out = tiled_output(out)
    lakes = any("lake" in output.options.get("layers", ()) for output in job.outputs)
    return erode_on_tiles(job.replace(outputs=()), out, tiles=tiles, json=json, lakes=lakes, **where)


def _check_tiles(job: Recipe, out: Path, tiles: int) -> None:
    """Refuse what cannot be done on tiles, and say which outputs are not written."""
    if job.outputs:
        names = ", ".join(str(output.path) for output in job.outputs)
        note(f"note: with --tiles only {out} is written, and not {names}; slopewash convert makes files of it")
    check_tiled_output(tiled_output(out), tiles)
    for stage in job.stages:
        stage.check_tiles()


def load(recipe: Path, settings: tuple[str, ...] = (), *, outputs_anywhere: bool = False) -> Recipe:
    """Read a recipe file, or take the landscape of that name from the library."""
    import slopewash as sw
    from slopewash.recipes.reading import look_recipe

    if not recipe.exists() and not recipe.suffix and recipe.name == str(recipe):
        return look_recipe(recipe.name, settings=settings)
    return sw.Recipe.read(recipe, settings=settings, outputs_anywhere=outputs_anywhere)


def summary(recipe: Recipe) -> dict[str, list[str]]:
    """What a recipe will do, for people and for JSON."""
    import slopewash as sw

    source = recipe.source
    size = f" of {source.size} x {source.size} cells" if isinstance(source, sw.Generated) else ""
    return {
        "source": [f"{source.name}{size}"],
        "layers": list(recipe.layers),
        "stages": [stage.name or stage.preset or stage.model.name for stage in recipe.stages],
        "outputs": [str(output.path) for output in recipe.outputs],
    }
