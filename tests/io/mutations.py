"""Damaged files of every format; run as a program, each is read and what went wrong is written to a file.

A program of its own, so that a crash ends only it, and its memory and its output are those of the readers.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

import slopewash as sw
from slopewash.recipes.writing import recipe_text
from slopewash.studio import foreign, projects
from slopewash.studio.messages import SavedView

SECONDS = 10
RAW_TEXTS = ("unpack", "StopIteration", "No module", "part index", "object", "NoneType", "Error", "attribute", "\n")
"""What a message for users never contains: these are Python's and the libraries' own."""


def strata_file(terrain: sw.Terrain, path: Path) -> None:
    path.write_text("dip = 4\n[[strata]]\nthickness = 30\nerodibility = 0.05\n[[strata]]\nthickness = 60\n")


def recipe_file(terrain: sw.Terrain, path: Path) -> None:
    recipe = sw.Recipe(source=sw.Generated(kind="cone", size=24), stages=(sw.Stage.of("jako2011", steps=3),))
    recipe.write(path)


def compressed(compression: str) -> Callable[[sw.Terrain, Path], object]:
    return lambda terrain, path: Image.fromarray(terrain["elevation"]).save(path, compression=compression)


def flat_layers(terrain: sw.Terrain, path: Path) -> None:
    np.savez_compressed(path, elevation=terrain["elevation"], water=np.zeros(terrain.shape), cell_size=3.0)


def cloud_optimised(terrain: sw.Terrain, path: Path) -> None:
    sw.write_geotiff(terrain, path)


def checkpoint(terrain: sw.Terrain, path: Path) -> None:
    with sw.Simulation(terrain, sw.VirtualPipes(), backend="reference") as simulation:
        simulation.run(1)
        simulation.checkpoint(path)


def tiled_result(terrain: sw.Terrain, path: Path) -> None:
    sw.erode_tiled(terrain, sw.VirtualPipes(), out=path, steps=1, tile=8, backend="reference", workers=0)


def srtm_tile(terrain: sw.Terrain, path: Path) -> None:
    np.arange(1201 * 1201, dtype=">i4").astype(">i2").tofile(path)


def project(terrain: sw.Terrain, path: Path) -> None:
    """Write a project of the studio whose terrain came from a file."""
    recipe = sw.Recipe(source=sw.FromFile(path=Path("terrain.npz")), stages=(sw.Stage.of("jako2011", steps=3),))
    view = SavedView(
        pose={"eye": (1.5, 2.0, -3.25), "heading": 40.0, "pitch": -20.0, "walking": None},  # type: ignore[arg-type]
        plan=False, plan_view=(0.0, 1.0, 0.84),
    )  # fmt: skip
    with sw.Simulation(terrain, sw.VirtualPipes(), backend="reference") as simulation:
        saved = projects.Saved(
            name="hill", step=3, view=view, recipe_text=recipe_text(recipe, None), actions=ACTIONS, terrain=terrain,
            checkpoint=simulation.parts(),
        )  # fmt: skip
    projects.write_project(saved, path, b"secret")


def parts_of_project(terrain: sw.Terrain, path: Path) -> None:
    """Write the parts as files: within an archive, its checksums would betray every change."""
    whole = path.with_name("in_parts.slopewash")
    project(terrain, whole)
    with zipfile.ZipFile(whole) as archive:
        archive.extractall(path, foreign.LARGEST)


ACTIONS = [
    '["run", 4]',
    '["model", {"rain_rate": 0.07, "dig_limit": Infinity}]',
    '["paint", {"tool": "raise", "points": [[12.5, 9.0]], "radius": 6.5, "strength": 7.25, "falloff": 0.5}, true]',
    '["sources", [{"x": 10.0, "y": 12.5, "radius": 4.0, "rate": 0.4}], false]',
    '["undo"]',
    '["settle", 15, false, null]',
]
FORMATS: dict[str, Callable[[sw.Terrain, Path], object]] = {
    **dict.fromkeys((".asc", ".exr", ".npy", ".npz", ".png", ".r16", ".tif", ".glb", ".obj", ".ply", ".stl"), sw.write),
    "N46E007.hgt": srtm_tile,
    "lzw.tif": compressed("tiff_lzw"),
    "deflate.tif": compressed("tiff_adobe_deflate"),
    "packbits.tif": compressed("packbits"),
    "cog.tif": cloud_optimised,
    "deflate.npz": flat_layers,
    "side.r16": sw.write,
    ".toml": strata_file,
    "recipe.toml": recipe_file,
    "checkpoint": checkpoint,
    "result.zarr": tiled_result,
    "whole.slopewash": project,
    "parts.slopewash": parts_of_project,
}
"""By how a name ends; those of checkpoints, Zarr and parts of projects are folders."""
DAMAGED = {"side.r16": ".json"}
"""Formats of which a file beside is damaged, with what is added to the name."""


def read_any(path: Path) -> object:
    if path.suffix == projects.SUFFIX:
        return read_project(path)
    if path.name.endswith("recipe.toml"):
        return sw.Recipe.read(path)
    if path.name == "checkpoint":
        return sw.Simulation.resume(path)
    if path.suffix == ".zarr":
        return sw.read_tiled(path)
    if path.suffix == ".toml":
        return sw.read_strata(path)
    if sw.is_mesh_file(path):
        mesh = sw.read_mesh(path)
        side = float(np.ptp(mesh.vertices[:, :2], axis=0).max())
        return mesh.to_terrain(max(1000.0, side / 256))  # how many cells to take is the caller's choice
    return sw.read(path, max_pixels=1 << 24, allow_8bit=True, cell_size=30.0 if path.suffix == ".hgt" else None)


def read_project(path: Path) -> object:
    """Read a project as the studio does one that somebody else saved, without the child process around it."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        if path.is_dir():
            packed = path.with_name("packed.slopewash")
            with zipfile.ZipFile(packed, "w") as archive:
                for part in sorted(path.iterdir()):
                    archive.write(part, part.name)
            path = packed
        foreign.check(path, Path(folder))
        return projects.checked_project(Path(folder))


def mutated(whole: bytes, draw: random.Random) -> bytes:
    """One to four changes: bytes replaced, cut out, repeated or set to extremes, or the end cut off."""
    data = bytearray(whole)
    for _ in range(draw.randint(1, 4)):
        # Half of the changes hit the header, where lengths and counts are.
        at = draw.randrange(min(len(data), 256) if draw.random() < 0.5 else len(data))
        kind = draw.randrange(6)
        if kind == 0:
            data[at] = draw.randrange(256)
        elif kind == 1:
            data[at : at + draw.choice((1, 2, 4, 8))] = draw.choice(
                (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff")
            )
        elif kind == 2:
            del data[at : at + draw.randint(1, 40)]
        elif kind == 3:
            data[at:at] = data[at : at + draw.randint(1, 40)]
        elif kind == 4:
            del data[at:]
        else:
            data[at] ^= 1 << draw.randrange(8)
        if not data:
            return b"\0"
    return bytes(data)


class TakesTooLong(BaseException):
    """A file is still being read after `SECONDS`; not an `Exception`, so that no reader catches it."""


def give_up(*_: object) -> None:
    raise TakesTooLong


def problem_with(path: Path) -> str | None:
    """Read a file; say what is wrong with how it was read or refused, if anything."""
    signal.alarm(SECONDS)
    try:
        read_any(path)
    except sw.SlopewashError as error:
        text = str(error).replace(str(path), "")
        return f"raw text: {text}" if any(raw in text for raw in RAW_TEXTS) else None
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return None


def files_of(ending: str, path: Path) -> list[Path]:
    """Files to damage: the one that is read, the one beside it, or those of a folder."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file() and file.stat().st_size > 0)
    return [path.with_name(path.name + DAMAGED.get(ending, ""))]


def read_damaged(ending: str, folder: Path, count: int) -> dict[str, object]:
    """Read so many damaged files of a format."""
    hill = sw.Terrain(np.random.default_rng(3).normal(900.0, 300.0, (9, 11)), water=0.5, cell_size=3.0)
    path = folder / (ending if ending[0] != "." else f"hill{ending}")
    FORMATS[ending](hill, path)
    read_any(path)  # whole, it can be read
    files = files_of(ending, path)
    draw = random.Random(f"slopewash {ending}")
    problems, slowest = [], 0.0
    for number in range(count):
        damaged = draw.choice(files)
        whole = damaged.read_bytes()
        damaged.write_bytes(mutated(whole, draw))
        before = time.perf_counter()
        problem = problem_with(path)
        slowest = max(slowest, time.perf_counter() - before)
        damaged.write_bytes(whole)
        if problem is not None:
            problems.append(f"{number}: {problem}")
    return {"problems": problems, "slowest": slowest, "peak": peak_of_memory()}


def peak_of_memory() -> int:
    """MB of this process so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) >> 10
    raise RuntimeError("/proc/self/status has no VmHWM")


def main(folder: Path, count: int) -> None:
    for rightly in (sw.GeoreferenceWarning, sw.CheckpointWarning):  # of damaged coordinates, or of a part left out
        warnings.simplefilter("ignore", rightly)
    signal.signal(signal.SIGALRM, give_up)
    outcomes = {}
    for ending in FORMATS:
        outcomes[ending] = read_damaged(ending, folder, count)
        (folder / "outcomes.json").write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
