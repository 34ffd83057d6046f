"""`slopewash erode`: from a file of heights to a file of eroded heights."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from slopewash.claims import Claim
from slopewash.cli.beds import parse_beds
from slopewash.cli.console import note
from slopewash.cli.finishing import finish
from slopewash.cli.options import (
    Adapter,
    Allow8bit,
    Backend,
    Cog,
    Edges,
    Emitters,
    Flag,
    Json,
    LayerFiles,
    Layers,
    Maps,
    Out,
    OutHeightRange,
    Settings,
    Threads,
    parse_emitters,
    parse_height_range,
    parse_layer_files,
    parse_layers,
    parse_maps,
)
from slopewash.cli.outputs import (
    check_apart,
    check_cog,
    check_holds,
    check_masks,
    check_output,
    check_picture,
    check_range,
    make_folder,
)
from slopewash.cli.reading import AS_IS, Reading
from slopewash.cli.running import check_checkpoint, use_adapter
from slopewash.cli.stages import make_stage
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
from slopewash.errors import InvalidParameter, NodataWarning

if TYPE_CHECKING:
    from slopewash import Observer, Recipe

EXAMPLES = """Examples:
  slopewash erode raw.exr -o eroded.exr
      the landscape preset, every layer written
  slopewash erode island.png -o eroded.png --height-range 0..1400 \\
    --cell-size 20 --out-height-range 0..1400
      a 16-bit picture whose black is 0 m and whose white is 1400 m, before
      and after; without the last option, the range of the result is printed
  slopewash erode raw.exr -o masks/ --layers flow,wear,deposit
      heights and masks for texturing as 16-bit PNG, their scales in a file
  slopewash erode raw.exr -o eroded.exr --layer rainfall=rain.png:0..2
      more rain where a picture is bright, relative to the preset's own
  slopewash erode raw.exr -o eroded.exr --map talus_slope_bias=rock.png:0.3..1.2
      a parameter that differs from place to place: steep where it is bright
  slopewash erode raw.exr -o young.exr --strength 0.2 --set fan_slope=0.5
      a fifth of the way; `slopewash models landscape` lists what can be set
  slopewash erode raw.exr -o coast.exr --strength 0.3 --set sea_level=400
      a sea that stands at 400 m along the edges
  slopewash erode dem.tif -o eroded.tif
      a georeferenced tile is eroded already: it gets the gentle preset,
      which keeps its texture, unless you name another
  slopewash erode N37W119.hgt -o eroded.tif --reproject utm
      a map in degrees, resampled to the local UTM zone (needs the gis extra)
  slopewash erode raw.npy -o eroded.npz --preset jako2011 --seed 3 --json
      a paper's parameters, and a report for programs
  slopewash erode raw.exr -o mesa.exr --strata bands
      cliffs and benches in alternating hard and soft layers; or a file:
      --strata layers.toml, with dip, direction and [[strata]] tables
  slopewash erode raw.exr -o eroded.exr --picture eroded.png --dry
      a picture too, and no lakes
  slopewash erode raw.exr -o eroded.exr --gullies 0.5
      fine gullies drawn into the slopes at the end
  slopewash erode peak.exr -o cut.glb --preset bezin2010 \\
    --emitter 900,800,60,40,2,180
      a stream of particles that cuts into a triangle mesh
  slopewash erode big.exr -o eroded.exr --checkpoint run.ckpt --every 200
      a long run: if it is killed, `slopewash resume run.ckpt` continues it
  slopewash erode mosaic.tif -o eroded.zarr --preset gentle --tiles 2048
      more than memory holds: tile by tile, on all cores or on a Dask cluster;
      --layers wear,lake writes these alone, and looks for lakes

Ctrl-C ends a run early: what is done is written, and the exit code is 130."""

RECORD_EVERY = 50
"""Steps between two recorded states."""
CHECKPOINTS = r"step-\d{6,}.*|previous"
"""Names in a folder of checkpoints."""
RECORDED = r"frame_\d{6,}\..*"
"""Names in a folder of a recorded run."""
STEEP = 0.75
"""Relief relative to the side above which the cell size is likely wrong: real mountains stay well below."""


def command(
    source: Annotated[Path, Parameter(name="IN")],
    /,
    *,
    out: Out,
    layers: Layers = None,
    preset: str | None = None,
    model: str | None = None,
    steps: int | None = None,
    strength: float | None = None,
    settings: Settings = (),
    emitter: Emitters = (),
    layer: LayerFiles = (),
    maps: Maps = (),
    backend: Backend = "auto",
    adapter: Adapter = None,
    edges: Edges | None = None,
    seed: int = 0,
    strata: str | None = None,
    settle: bool | None = None,
    dry: Flag = False,
    gullies: float | None = None,
    reading: Reading = AS_IS,
    allow_8bit: Allow8bit = False,
    out_height_range: OutHeightRange = None,
    cog: Cog = False,
    force: Flag = False,
    picture: Path | None = None,
    checkpoint: Path | None = None,
    every: int | None = None,
    record: Path | None = None,
    record_every: int | None = None,
    tiles: Tiles = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    memory: Memory = None,
    threads: Threads = None,
    json: Json = False,
) -> int:
    """Erode a height field read from a file.

    Parameters
    ----------
    source
        File with the heights: .asc, .exr, .hgt, .npy, .npz, .png (16 bit), .tif, .r16, .raw.
    out
        File to write; the suffix picks the format. .exr and .npz keep every layer, .glb, .obj, .ply and .stl a mesh.
    preset
        Parameter set to use. It also sets steps, settling, edges and strata. Without one: landscape, or gentle
        for a georeferenced file.
    model
        Model to use with its paper's defaults, instead of a preset: 1000 steps, no settling, open edges.
    steps
        Iterations to run; the preset's own number if not given. From coarse to fine, they are shared among the levels.
    strength
        Share of the preset's own steps instead of a number of them: 0.3 for a young landscape, 1 for the whole.
    settings
        Change one parameter: --set rain_rate=0.03. May be repeated.
    emitter
        X,Y,RADIUS,RATE,SPEED,DIRECTION: a disc from which particles start, in metres from the north-west corner,
        particles per second, m/s and degrees from north. For models with particles; without any, one on the highest
        ground. May be repeated.
    layer
        Layer to start with: --layer rainfall=rain.tif, --layer erodibility=rock.png:0.1..1 with the values of black and
        white (0 and 1 if not given), or a number. May be repeated.
    maps
        Parameter that differs from place to place: --map rain_rate=rain.tif, or --map rain_rate=rain.png:0..0.004 with
        what black and white, or 0 and 1, stand for, or the name of a layer instead of a file. `slopewash models NAME`
        shows which parameters take maps. May be repeated.
    edges
        What lies beyond the border: open (water and sediment leave), closed (nothing passes), periodic (the opposite
        side). In Python each side can have its own: sw.Sides.
    seed
        Random seed.
    strata
        FILE.toml with geological layers, or bands; else what the file holds or the preset suggests.
    settle
        After the run, let the water come to rest for as long as the preset asks (it still erodes the ground meanwhile),
        and deposit its sediment. If not given, a run shorter than the preset's own settles for the same share of its
        steps. --no-settle leaves the sediment in the water.
    dry
        Let the water evaporate at the end.
    gullies
        Draw fine gullies into the slopes at the end; 0.5 is a good depth, 0 none. Mass is not conserved then.
    picture
        PNG to draw of the result, with rivers and lakes.
    checkpoint
        Folder for checkpoints, from which `slopewash resume` continues the run. One is written before the first step,
        then every --every steps, and on Ctrl-C and SIGTERM; the newest two are kept.
    every
        Steps between two checkpoints; 500 if not given.
    record
        Folder in which to record the run, for `slopewash render DIR -o timelapse.webm`; created if missing. One that
        holds another recorded run is refused; --force removes that run's files. `slopewash resume` does not go on with
        it; it does with a time-lapse among the outputs of a recipe.
    record_every
        Steps between two recorded states; 50 if not given.
    force
        Overwrite the input, and remove another run from the folder of --record; both are refused without. Any other
        file of that name is overwritten anyway, and checkpoints of a run that is not finished never are.
    """
    import slopewash as sw
    from slopewash.recipes.definition import usual_preset_of
    from slopewash.recipes.output_kinds import check_layer_names

    black_white = parse_height_range(out_height_range, "--out-height-range")
    if tiles is None:
        check_needs_tiles(scheduler=scheduler, workers=workers, memory=memory)
    if tiles is not None:
        check_on_tiles(
            picture=picture, checkpoint=checkpoint, record=record, record_every=record_every, cog=cog,
            out_height_range=out_height_range, emitter=emitter, adapter=adapter, threads=threads,
        )  # fmt: skip
        out = tiled_output(out)
        check_tiled_output(out, tiles)
    elif layers is None:
        check_output(out)
        check_range(out, black_white)
    else:
        check_masks(out)
        if black_white is not None:
            raise InvalidParameter("--out-height-range is for a single file; each of --layers has its own range")
    if every is not None and checkpoint is None:
        raise InvalidParameter(f"--every {every} needs --checkpoint, the folder to write to")
    if picture is not None:
        check_picture(picture)
    if checkpoint is not None:
        check_checkpoint(checkpoint)
    backend = use_adapter(adapter, backend)

    def make(preset: str | None) -> sw.Stage:
        return make_stage(
            preset=preset, model=model, settings=settings, edges=edges, steps=steps, strength=strength, settle=settle,
            dry=dry, gullies=gullies,
        ).with_parameters(**parse_maps(maps))  # fmt: skip

    stage = make(preset)
    chosen = ({} if black_white is None else {"height_range": black_white}) | ({"cog": True} if cog else {})
    data = sw.Output(out.absolute(), "terrain", chosen)
    check_cog(out, cog=cog)
    wanted = None if layers is None else parse_layers(layers)
    if wanted is not None:
        data = sw.Output(out.absolute(), "layers", {"layers": wanted})
        if tiles is None:
            data.check()
        else:  # why there is no drainage, the run on tiles says itself
            check_layer_names([name for name in wanted if name != "drainage"])
    outputs = [data] + ([] if picture is None else [sw.Output(picture.absolute(), "picture", {"water": "rivers"})])
    given = reading.options(allow_8bit=allow_8bit)
    recipe = sw.Recipe(
        source=sw.FromFile(path=source, options=given),
        layers=parse_layer_files(layer),
        strata=parse_beds(strata, stage.preset),
        stages=(stage,),
        seed=seed,
        backend=backend,
        outputs=tuple(outputs),
    )
    _check_apart(
        recipe, out, strata=strata, picture=picture, checkpoint=checkpoint, record=record, tiles=tiles, force=force
    )
    if tiles is not None:
        usual = usual_preset_of(recipe.source) if preset is None and model is None else None
        if usual not in (None, stage.preset):
            recipe = recipe.replace(stages=(make(usual),))
            note(_eroded_already(source, usual))
        return erode_on_tiles(
            recipe.replace(outputs=()), out, tiles=tiles, scheduler=scheduler, workers=workers, memory=memory,
            layers=wanted, force=force, json=json,
        )  # fmt: skip
    recipe.check_memory()
    with warnings.catch_warnings(record=True) as caught:
        terrain = recipe.terrain()
    for warning in caught:
        warnings.warn(warning.message, stacklevel=2)
    usual = sw.usual_preset(terrain)
    if preset is None and model is None and usual != stage.preset:
        stage = make(usual)
        recipe = recipe.replace(stages=(stage,))
        note(_eroded_already(source, usual))
    if emitter:
        if not stage.model.particles:
            raise InvalidParameter(f"--emitter is for models with particles; {stage.model.name} has none to emit")
        terrain = terrain.replace(emitters=parse_emitters(emitter))
    if layers is None:
        check_holds(out, terrain)
    if strata is not None and stage.model.strata_note is not None:
        note(f"note: {stage.model.strata_note}")
    holds_suspects = any(issubclass(warning.category, NodataWarning) for warning in caught)
    if not holds_suspects and terrain.relief > STEEP * min(terrain.width, terrain.height):
        note(
            f"note: {source} rises {terrain.relief:g} m over {min(terrain.width, terrain.height):g} m; "
            f"if its cells are not {terrain.cell_size:g} m wide, give --cell-size"
        )
    recording = recorders(record, record_every, force=force)
    if recording and checkpoint is not None:
        note(
            f"note: slopewash resume {shlex.quote(str(checkpoint))} would continue the run, but not the recording in "
            f"{record}; a recipe with a time-lapse among its outputs continues both"
        )
    running = sw.Running(recipe, terrain, checkpoint=checkpoint, every=500 if every is None else every)
    return finish(
        running, threads=threads, json=json, observers=recording, shown=(out, picture),
        facts={"input": str(source)},
    )  # fmt: skip


def _eroded_already(source: Path, preset: str) -> str:
    return f"note: {source} is a real place, eroded already: using the preset {preset}; --preset landscape does more"


def _check_apart(
    recipe: Recipe,
    out: Path,
    *,
    strata: str | None,
    picture: Path | None,
    checkpoint: Path | None,
    record: Path | None,
    tiles: int | None,
    force: bool,
) -> None:
    """Refuse outputs that would overwrite what the run reads, or one another."""
    from slopewash.recipes.manifest import input_files

    claims = {f"--out {out}": recipe.outputs[0].claim if tiles is None else Claim.of_file(out)}
    if picture is not None:
        claims[f"--picture {picture}"] = Claim.of_file(picture)
    if checkpoint is not None:
        claims[f"--checkpoint {checkpoint}"] = Claim(checkpoint, checkpoint, (), CHECKPOINTS)
    if record is not None:
        claims[f"--record {record}"] = Claim(record, record, (), RECORDED)
    beds = [] if strata is None else [Path(strata)]
    check_apart([*input_files(recipe), *beds], claims, force=force)


def recorders(folder: Path | None, every: int | None, *, force: bool) -> list[Observer]:
    """Make the observer that records a run for a time-lapse, if one is wanted."""
    import slopewash as sw

    if folder is None:
        if every is not None:
            raise InvalidParameter(f"--record-every is {every}; it needs --record DIR")
        return []
    make_folder(folder)
    recorder = sw.Recorder(folder, every or RECORD_EVERY, data=".npz", pictures=False, replace=force)
    recorder.check_folder()  # it is emptied when the run begins, which may still be refused
    return [recorder]
