"""`slopewash erode`: from a file of heights to a file of eroded heights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from slopewash.cli.beds import layered, parse_beds
from slopewash.cli.console import interrupts_tell, note, print_json
from slopewash.cli.options import (
    Adapter,
    Edges,
    Emitters,
    Flag,
    Json,
    Out,
    Pair,
    Settings,
    parse_emitters,
    parse_height_range,
    parse_shape,
)
from slopewash.cli.outputs import check_holds, check_output, check_picture
from slopewash.cli.plan import make_plan
from slopewash.cli.running import Outcome, run_plan, use_adapter
from slopewash.errors import InvalidParameter

EXAMPLES = """Examples:
  slopewash erode raw.exr -o eroded.exr
      the landscape preset, every layer written
  slopewash erode island.png -o eroded.png --height-range 0,1400 --cell-size 20
      a 16-bit picture whose black is 0 m and whose white is 1400 m
  slopewash erode dem.tif -o eroded.tif --steps 600 --set rain_rate=0.03
      a real tile needs fewer steps; `slopewash models landscape` lists
      what can be set
  slopewash erode raw.npy -o eroded.npz --preset jako2011 --seed 3 --json
      a paper's parameters, and a report for programs
  slopewash erode raw.exr -o mesa.exr --strata bands
      cliffs and benches in alternating hard and soft layers; or a file:
      --strata layers.toml, with dip, direction and [[strata]] tables
  slopewash erode raw.exr -o eroded.exr --picture eroded.png --dry
      a picture too, and no lakes
  slopewash erode peak.exr -o cut.glb --preset bezin2010 \\
    --emitter 900,800,60,40,2,180
      a stream of particles that cuts into a triangle mesh

Ctrl-C ends a run early: what is done is written, and the exit code is 130."""

STEEP = 0.75
"""Relief relative to the side above which the cell size is likely wrong: real mountains stay well below."""


def command(
    source: Annotated[Path, Parameter(name="IN")],
    /,
    *,
    out: Out,
    preset: str | None = None,
    model: str | None = None,
    steps: int | None = None,
    settings: Settings = (),
    emitter: Emitters = (),
    backend: str = "auto",
    adapter: Adapter = None,
    edges: Edges | None = None,
    seed: int = 0,
    strata: str | None = None,
    settle: bool | None = None,
    dry: Flag = False,
    cell_size: float | None = None,
    height_range: Pair = None,
    allow_8bit: Annotated[Flag, Parameter(name="--allow-8bit")] = False,
    shape: Pair = None,
    max_pixels: int | None = None,
    picture: Path | None = None,
    threads: int | None = None,
    json: Json = False,
) -> int:
    """Erode a height field read from a file.

    Parameters
    ----------
    source
        File with the heights: .exr, .npy, .npz, .png (16 bit), .tif, .r16, .raw.
    out
        File to write; the suffix picks the format. .exr and .npz keep every layer, .glb, .obj, .ply and .stl a mesh.
    preset
        Parameter set to use; landscape if nothing is named.
    model
        Model to use with its paper's defaults, instead of a preset.
    steps
        Iterations to run; the preset's own number if not given.
    settings
        Change one parameter: --set rain_rate=0.03. May be repeated.
    emitter
        X,Y,RADIUS,RATE,SPEED,DIRECTION: a disc from which particles start, in metres from the north-west corner,
        particles per second, m/s and degrees from north. For mesh_particles; without any, one on the highest ground.
        May be repeated.
    backend
        auto, gpu, cpu or reference.
    adapter
        Part of the name of the GPU to run on; `slopewash doctor` lists them.
    edges
        What lies beyond the border: open (water leaves), closed (walls), periodic (wraps round).
    seed
        Number that all randomness follows from.
    strata
        FILE.toml with geological layers, or bands; else what the file holds or the preset suggests.
    settle
        After the run, let the water come to rest for as long as the preset asks (600 steps for landscape, in which it
        still wears the ground), and lay its load down. If not given, a run shorter than the preset's own settles for
        the same share of its steps: 300 of 2000, 20 of 50. --no-settle leaves the load in the water.
    dry
        Dry up the water at the end.
    cell_size
        Side of a cell in metres, where the file does not say or says wrong.
    height_range
        LOW,HIGH: heights in metres of the lowest and highest value of a file of integers.
    allow_8bit
        Accept 8-bit heights, which show as terraces.
    shape
        ROWS,COLUMNS of a raw file that is not square.
    max_pixels
        Largest number of cells to read.
    picture
        PNG to draw of the result.
    threads
        Threads to use; the result is the same for any number.
    json
        Print the report as JSON.
    """
    import slopewash as sw

    if dry and settle is False:
        raise InvalidParameter("--dry needs settling; leave out --no-settle")
    check_output(out)
    if picture is not None:
        check_picture(picture)
    backend = use_adapter(adapter, backend)
    beds = parse_beds(strata)
    plan = make_plan(
        preset=preset, model=model, settings=settings, edges=edges, steps=steps, settle_in_full=settle is True
    )
    terrain = sw.read(
        source,
        cell_size=cell_size,
        height_range=parse_height_range(height_range),
        allow_8bit=allow_8bit,
        shape=parse_shape(shape),
        **({} if max_pixels is None else {"max_pixels": max_pixels}),
    )
    if emitter:
        if plan.model.name != "mesh_particles":
            raise InvalidParameter(f"--emitter is for mesh_particles; {plan.model.name} has no particles to emit")
        terrain = terrain.replace(emitters=parse_emitters(emitter))
    check_holds(out, terrain)
    terrain = layered(terrain, beds, plan.strata)
    if beds is not None and getattr(plan.model, "talus_law", None) == "uniform":
        note("note: talus_law=uniform asks for no strata; --set talus_law=hard_stands_steeper does")
    if terrain.relief > STEEP * min(terrain.width, terrain.height):
        note(
            f"note: {source} rises {terrain.relief:g} m over {min(terrain.width, terrain.height):g} m; "
            f"if its cells are not {terrain.cell_size:g} m wide, give --cell-size"
        )
    written: list[Path] = []
    with interrupts_tell(written):
        with run_plan(
            terrain, plan, backend=backend, seed=seed, settle=settle is not False, dry=dry, threads=threads
        ) as outcome:
            mesh = outcome.mesh if sw.is_mesh_file(out) else None
            written.append(sw.write(outcome.terrain if mesh is None else mesh, out))
            tell_lost_load(outcome, out)
        if picture is not None:
            sw.render(outcome.terrain, picture)
    if json:
        paths = {"input": str(source), "output": str(out), "picture": None if picture is None else str(picture)}
        print_json(paths | outcome.as_dict())
    else:
        print(outcome.budget)
        print(outcome.budget.summary)
        files = " and ".join(str(path) for path in (out, picture) if path is not None)
        print(f"{outcome.progress} on {outcome.backend} in {outcome.seconds:.1f} s: {files}")
    if outcome.interrupted:
        note(f"interrupted after {outcome.progress}; what is done is in {out}")
        return 130
    return 0


def tell_lost_load(outcome: Outcome, out: Path) -> None:
    """Say what a file of one layer leaves out where the load was not laid down; others keep it as `suspended`."""
    import slopewash as sw

    if outcome.load > 0 and (sw.is_mesh_file(out) or not sw.format_of(out).all_layers):
        note(f"note: the water still carries {outcome.load:.6g} m³ of load, which {out} does not hold")
