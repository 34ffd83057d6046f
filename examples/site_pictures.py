"""The site's pictures of seasons, suns, films, an export and gullies, all of one mountain.

    python examples/site_pictures.py --out docs/pictures
    python examples/site_pictures.py --only suns --out docs/pictures
    python examples/site_pictures.py --size 64 --width 120          quick, to see that it works

The films need the extra `video`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image

import slopewash as sw

STILLS = 4
"""Pictures of each film."""
PAINTS = ("ground", "sediment", "rock", "channel", "water", "snow")
"""From bottom to top."""
Made = dict[str, Image.Image]


def looks(terrain: sw.Terrain, width: int) -> Made:
    """Return the mountain as a map, as a block and from inside, and in three seasons."""
    size = (width, width * 5 // 8)
    plan = sw.render(terrain, width=width)
    above = (plan.height - size[1]) // 2
    return {
        "alpine": sw.render_view(terrain, size=(width * 5 // 3, width * 25 // 24)),
        "look-map": plan.crop((0, above, width, above + size[1])),
        "look-alpine": sw.render_view(terrain, size=size),
        "look-inside": sw.render_view(terrain, size=size, camera="inside"),
        "look-autumn": sw.render_view(terrain, size=size, season="autumn", sun="evening"),
        "look-winter": sw.render_view(terrain, size=size, season="winter"),
        "look-desert": sw.render_view(terrain, size=size, season="desert", sun="morning"),
    }


def suns(terrain: sw.Terrain, width: int) -> Made:
    """Return the mountain under every sun that has a name."""
    size = (width * 2 // 3, width * 5 // 12)
    views = {
        "map": sw.render_view(terrain, size=size, sun="map"),
        "morning": sw.render_view(terrain, size=size, sun="morning"),
        "noon": sw.render_view(terrain, size=size, sun="noon"),
        "evening": sw.render_view(terrain, size=size, sun="evening"),
    }
    return {"look-suns": sw.side_by_side(list(views.values()), [f'sun="{name}"' for name in views], columns=2)}


def films(terrain: sw.Terrain, width: int) -> Made:
    """Return pictures of a turntable, a fly-over and a time-lapse, read back from the films."""
    size = (width // 4 * 2, width * 5 // 32 * 2)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        start = sw.generate("dome", size=min(256, terrain.shape[0]), seed=7)
        simulation = sw.Simulation(start, sw.preset("single_grid"), edges="open", seed=7)
        simulation.add(sw.Recorder(folder / "states", every=400, data=".npz", pictures=False)).run(400 * (STILLS - 1))
        made = (
            sw.film(terrain, folder / "turntable.webm", seconds=1, fps=STILLS, size=size),
            sw.film(terrain, folder / "flight.webm", kind="flyover", seconds=1, fps=STILLS, size=size),
            sw.film(folder / "states", folder / "timelapse.webm", seconds=1, fps=STILLS, size=size),
        )
        stills = [still for path in made for still in frames(path)]
    return {"films": sw.side_by_side(stills, columns=STILLS)}


def frames(path: Path) -> list[Image.Image]:
    """Read the pictures of a film."""
    import av

    with av.open(str(path)) as container:
        return [Image.fromarray(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]


def export_layers(terrain: sw.Terrain, width: int) -> Made:
    """Return the colours, normals and paints that an export writes."""
    side = width * 2 // 5
    pictures: dict[str, Image.Image] = {}
    with tempfile.TemporaryDirectory() as temporary:
        sw.export(terrain, "blender", temporary)
        for name in ("colour", "normal", *(f"weight_{paint}" for paint in PAINTS)):
            file = Path(temporary) / f"{name}.png"
            if file.exists():  # a paint without any pixel is left out
                with Image.open(file) as picture:
                    seen = picture.convert("RGB").resize((side, side), Image.Resampling.LANCZOS)
                pictures[name.removeprefix("weight_")] = seen
    return {"export-layers": sw.side_by_side(list(pictures.values()), list(pictures), columns=4)}


def gullies(terrain: sw.Terrain, width: int) -> Made:
    """Return a flank without and with gullies."""
    size = (width, width * 2 // 3)
    carved = sw.add_water(sw.add_gullies(terrain, depth=0.5, seed=7))
    views = [sw.render_view(ground, size=size, zoom=2.2) for ground in (terrain, carved)]
    return {"gullies": sw.side_by_side(views, ["without", "with gullies"])}


PARTS: dict[str, Callable[[sw.Terrain, int], Made]] = {
    "looks": looks, "suns": suns, "films": films, "export": export_layers, "gullies": gullies,
}  # fmt: skip


def main(words: Sequence[str] | None = None) -> None:
    """Erode the mountain once, and draw all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512, help="cells along a side")
    parser.add_argument("--width", type=int, default=720, help="pixels of a view")
    parser.add_argument("--only", choices=list(PARTS), action="append", help="this part only; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("out/site"), help="folder for the pictures")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    terrain = sw.add_water(sw.erode(sw.generate("dome", size=options.size, seed=7), "landscape"))
    for part in options.only or PARTS:
        for name, picture in PARTS[part](terrain, options.width).items():
            path = options.out / f"{name}.jpg"
            picture.convert("RGB").save(path, quality=88)
            print(path, flush=True)


if __name__ == "__main__":
    main()
