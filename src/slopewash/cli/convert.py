"""`slopewash convert`: one file format to another, or layers as masks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from slopewash.cli.console import note, print_json, show
from slopewash.cli.options import (
    Allow8bit,
    Cog,
    Flag,
    Json,
    Layers,
    Out,
    OutHeightRange,
    parse_height_range,
    parse_layers,
)
from slopewash.cli.outputs import (
    check_apart,
    check_cog,
    check_masks,
    check_output,
    check_range,
    height_range_of,
    range_words,
)
from slopewash.cli.reading import AS_IS, Reading
from slopewash.cli.tiles import check_recorded, read_grid
from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Terrain, TriangleMesh

EXAMPLES = """Examples:
  slopewash convert eroded.exr -o eroded.tif
      the elevation in metres, as 32-bit floats
  slopewash convert eroded.exr -o heights.png --out-height-range 0..1400
      16 bits, black at 0 m and white at 1400 m
  slopewash convert island.png -o island.exr --height-range 0..1400
      from 16 bits to metres
  slopewash convert eroded.exr -o wear.tif --layer wear
      another layer than the elevation
  slopewash convert eroded.exr -o masks/ --layers flow,wear,deposit
      masks for texturing; layers.json beside them has scale and range of each
  slopewash convert eroded.exr -o eroded.tif --cog
      every layer as a band, with overviews
  slopewash convert eroded.exr -o eroded.glb
      a mesh
  slopewash convert eroded.zarr -o eroded.tif
      what a run on tiles wrote, window by window: one band for each layer
  slopewash convert eroded.zarr -o eroded.tif --cog
      the same as a cloud-optimised GeoTIFF"""


def command(
    source: Annotated[Path, Parameter(name="IN")],
    /,
    *,
    out: Out,
    layer: str | None = None,
    layers: Layers = None,
    out_height_range: OutHeightRange = None,
    cog: Cog = False,
    reading: Reading = AS_IS,
    allow_8bit: Allow8bit = False,
    force: Flag = False,
    json: Json = False,
) -> None:
    """Convert a file to another format, or write its layers as masks.

    Parameters
    ----------
    source
        File with heights, or a mesh.
    out
        File to write; the suffix selects the format. With --layers, a folder.
    layer
        Layer to write to a format that holds one (.png, .tif, .r16, .raw, .npy); the elevation if not given.
    force
        Overwrite the input, which is refused without. Any other file of that name is overwritten anyway.
    """
    import slopewash as sw
    from slopewash.recipes.output_kinds import with_rivers

    black_white = parse_height_range(out_height_range, "--out-height-range")
    if layers is not None and (layer is not None or black_white is not None):
        other = "--layer" if layer is not None else "--out-height-range"
        raise InvalidParameter(f"{other} is for a single file, --layers for a folder; give one of them")
    if layers is None:
        check_output(out)
        check_range(out, black_white)
    else:
        check_masks(out)
    check_cog(out, cog=cog)
    names = None if layers is None else parse_layers(layers)
    output = sw.Output(out) if names is None else sw.Output(out, "layers", {"layers": names})
    check_apart([source], {f"--out {out}": output.claim}, force=force)
    if source.suffix.lower() == ".zarr" and out.suffix.lower() in (".tif", ".tiff"):
        check_recorded(source, reading.options(), but=())
        sw.write_tiled_geotiff(source, out, None if layer is None else [layer], cog=cog)
        print_json({"input": str(source), "output": str(out)}) if json else show(out)
        return
    options = reading.options(allow_8bit=allow_8bit)
    terrain = read_any(source, out, options, work=(out.suffix.lower() or ".png",))
    if names is not None:
        assert isinstance(terrain, sw.Terrain)
        terrain = with_rivers(terrain, names)
        _check_has(source, terrain, names)
        files = sw.write_masks(terrain, out, names)
        written = [str(file) for file in files]
        print_json({"input": str(source), "files": written}) if json else show("\n".join(written))
        return
    _check_layer(out, layer)
    chosen = layer or "elevation"
    if isinstance(terrain, sw.Terrain):
        _check_has(source, terrain, (chosen,))
    if cog:
        assert isinstance(terrain, sw.Terrain)
        sw.write_geotiff(terrain, out, layers="all" if layer is None else [layer])
        print_json({"input": str(source), "output": str(out)}) if json else show(out)
        return
    sw.write(terrain, out, layer=chosen, height_range=black_white)
    if json:
        print_json({"input": str(source), "output": str(out), "layer": chosen, "height_range": height_range_of(out)})
        return
    units = terrain.units(chosen) if isinstance(terrain, sw.Terrain) else "m"
    show(range_words(out, out, units) or out)
    if height_range_of(out) is not None and chosen in ("flow", "drainage", "collision_energy"):
        note(f"note: most of {chosen} is almost black on a linear scale; --layers {chosen} writes a logarithmic one")


def read_any(source: Path, out: Path, options: dict[str, Any], *, work: tuple[str, ...]) -> Terrain | TriangleMesh:
    """Read a grid, or a mesh, which becomes a grid where the output needs one."""
    import slopewash as sw

    if not sw.is_mesh_file(source):
        return read_grid(source, options, work=work)
    check_recorded(source, options, but=() if sw.is_mesh_file(out) else ("cell_size",))
    mesh = sw.read_mesh(source)
    if sw.is_mesh_file(out):
        return mesh
    if "cell_size" not in options:
        raise InvalidParameter(f"{source} is a mesh; give the side of the cells of {out} in metres with --cell-size")
    return mesh.to_terrain(options["cell_size"])


def _check_has(source: Path, terrain: Terrain, layers: Sequence[str]) -> None:
    for name in layers:
        if name not in terrain:
            raise InvalidParameter(f"{source} has no layer {name}; it has {', '.join(terrain)}")


def _check_layer(out: Path, layer: str | None) -> None:
    import slopewash as sw

    if layer is not None and (sw.is_mesh_file(out) or sw.format_of(out).all_layers):
        holds = "a mesh" if sw.is_mesh_file(out) else "every layer"
        raise InvalidParameter(f"--layer is {layer}, but {out} holds {holds}; leave it out, or write .tif or .png")
