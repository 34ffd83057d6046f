"""Outputs of a recipe for other programs: export folders for engines, and films."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.claims import Claim
from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.paths import remove_file, remove_if_empty
from slopewash.recipes.entries import Entry
from slopewash.recipes.output_kinds import PICTURE
from slopewash.recipes.outputs import Options, OutputKind, register_output

if TYPE_CHECKING:
    from slopewash.observers import Recorder
    from slopewash.recipes.results import Result

TARGETS = ("unreal", "unity", "godot", "blender", "houdini", "gis")
FILM_KINDS = ("turntable", "flyover", "timelapse")
RECORD_EVERY = 50
"""Steps between two states of a time-lapse."""
STATE = re.compile(r"frame_(\d{6,})\.npz")


def _as_in_pictures(*names: str) -> tuple[Entry, ...]:
    return tuple(entry for entry in PICTURE.options if entry.name in names)


def _snow(options: dict[str, Any]) -> dict[str, Any]:
    """Options with None where the file says none."""
    return options | ({"snow_line": None} if options.get("snow_line") == "none" else {})


def _check_export(path: Path, options: Options) -> None:
    if "target" not in options:
        raise InvalidParameter(f"target is missing; name one of {', '.join(TARGETS)}")
    if path.suffix:
        raise InvalidFile(f"{path} is to hold several files, so it must be a folder, without a suffix")


def _write_export(result: Result, path: Path, *, target: str, **options: Any) -> Sequence[Path]:
    from slopewash.exports import export

    done = export(result.terrain, target, path, notes=result.notes, **_snow(options))
    return done.files


def export_claim(folder: Path, target: str, layers: Iterable[str] | None = None) -> Claim:
    """Files that an export would write, of these layers or, where they are not known yet, of any."""
    from slopewash.exports.targets import find_target

    return find_target(target).claim(folder, layers)


def _claim_export(path: Path, options: Options) -> Claim:
    return export_claim(path, options["target"]) if "target" in options else Claim.of_file(path)


EXPORT = register_output(
    OutputKind(
        name="export",
        doc="A folder for a game engine or another program, as `slopewash export` writes it, with an import card.",
        options=(
            Entry(name="target", kinds=("text",), choices=TARGETS, doc="The program that imports the files."),
            Entry(name="size", kinds=("integer",), default="that of the terrain", doc="Samples along a side."),
            Entry(name="tiles", kinds=("integers",), count=2, default="[1, 1]", doc="Columns and rows of files."),
            Entry(
                name="fit", kinds=("text",), choices=("resample", "crop", "pad"), default="an error",
                doc="What to do with a terrain of a size that the target does not take.",
            ),
            Entry(
                name="shared_edges", kinds=("boolean",), default="as the target expects it",
                doc="Whether neighbouring files repeat the row between them.",
            ),
            Entry(
                name="heights", kinds=("text",), choices=("png", "r16", "exr", "raw", "tif"), default="by the target",
                doc="Format of the heights: png or r16 for unreal, exr or r16 for godot.",
            ),
            Entry(
                name="height_range", kinds=("numbers",), count=2, default="that of the terrain", units="m",
                doc="Heights of the lowest and the highest 16-bit step.",
            ),
            Entry(
                name="water", kinds=("text",), choices=("rivers", "simulated", "none"), default="rivers",
                doc="Rivers and lakes along the drainage, the simulated depth, or none.",
            ),
            *_as_in_pictures("palette", "season", "snow_line"),
        ),
        check=_check_export,
        write=_write_export,
        claim=_claim_export,
    )
)  # fmt: skip


def _check_film(path: Path, options: Options) -> None:
    from slopewash.films.encoder import find_codec

    find_codec(path)
    if "every" in options and options.get("motion") != "timelapse":
        raise InvalidParameter('every is for a time-lapse; add motion = "timelapse", or leave it out')
    if options.get("every", 1) < 1:
        raise InvalidParameter(f"every is {options['every']}; it must be 1 or more")
    if options.get("motion") == "timelapse":
        _check_frames(_frames(path))


def _frames(path: Path) -> Path:
    """Folder for the states of a time-lapse until it is made of them."""
    return path.with_name(f".{path.name}.frames")


def _claim_film(path: Path, _: Options) -> Claim:
    return Claim(path, path.parent, (path.name, _frames(path).name))


def _check_frames(folder: Path) -> None:
    """Refuse a folder with anything but states: it is somebody's."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InvalidFile(f"{folder} is needed for the states of the time-lapse; move what is there elsewhere")
    found = list(folder.iterdir()) if folder.is_dir() else []
    others = [entry.name for entry in found if entry.is_dir() or not STATE.fullmatch(entry.name)]
    if others:
        raise InvalidFile(f"{folder} holds {min(others)}, which is no state of a time-lapse; move it elsewhere")


def remove_frames(path: Path, unless: Callable[[int], bool] = lambda _: False) -> None:
    """Remove states of a time-lapse, as far as that goes (they are not what was asked for), and nothing else."""
    folder = _frames(path)
    if folder.is_symlink() or not folder.is_dir():
        return
    for found in [match for entry in folder.iterdir() if (match := STATE.fullmatch(entry.name))]:
        with suppress(OSError):
            if not unless(int(found[1])):
                remove_file(folder / found[0])
    remove_if_empty(folder)


def _watch_film(path: Path, options: Options, taken: int, before: int) -> Recorder | None:
    if options.get("motion") != "timelapse":
        return None
    from slopewash.observers import Recorder

    _check_frames(_frames(path))
    every = options.get("every", RECORD_EVERY)

    def stays(step: int) -> bool:
        """Whether a run that goes on keeps the state: it is no later one, and not that of where the run was stopped."""
        return taken > 0 and (step <= before or (step <= taken and (step - before) % every == 0))

    remove_frames(path, unless=stays)
    return Recorder(_frames(path), every, data=".npz", pictures=False, steps_before=before, steps_taken=taken)


def _write_film(
    result: Result, path: Path, *, motion: str = "turntable", water: str = "auto", every: int = 0, **options: Any
) -> Sequence[Path]:
    from slopewash.analysis.rivers import add_water
    from slopewash.films import film

    if motion == "timelapse":
        shown = "simulated" if water == "rivers" else water
        film(_frames(path), path, kind="timelapse", water=shown, **_snow(options))  # type: ignore[arg-type]
        if not result.resumable:
            remove_frames(path)
        return [path]
    terrain = result.terrain
    if water == "rivers":
        water = "auto"
        terrain = terrain if "river" in terrain or "lake" in terrain else add_water(terrain)
    return [film(terrain, path, kind=motion, water=water, **_snow(options))]  # type: ignore[arg-type]


FILM = register_output(
    OutputKind(
        name="film",
        doc="A film of the terrain, .webm or .mp4; needs the video extra.",
        options=(
            Entry(
                name="motion", kinds=("text",), choices=FILM_KINDS, default="turntable",
                doc="Around the block, across the terrain, or standing still while the run goes by.",
            ),
            Entry(
                name="every", kinds=("integer",), default="50", units="steps",
                doc="Steps between two states of a time-lapse.",
            ),
            Entry(name="seconds", kinds=("number",), default="10", units="s", doc="Length of the film."),
            Entry(name="fps", kinds=("integer",), default="25", doc="Frames per second."),
            Entry(
                name="size", kinds=("integers",), count=2, default="[1280, 720]", units="pixels",
                doc="Width and height, both even.",
            ),
            Entry(name="turns", kinds=("number",), default="1", doc="Turns of a turntable."),
            *_as_in_pictures(
                "water", "palette", "season", "sun", "snow_line", "exaggeration", "azimuth", "pitch", "zoom", "heading"
            ),
        ),
        check=_check_film,
        write=_write_film,
        claim=_claim_film,
        watch=_watch_film,
        drawn=True,
    )
)  # fmt: skip
