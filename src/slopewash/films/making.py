"""Turn a terrain, let a camera fly over it, or show how it came to be."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, get_args

from PIL import Image

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.films.encoder import check_av, check_format, writing
from slopewash.films.moments import Load, Source, moments_of
from slopewash.films.paths import flyover, turntable
from slopewash.io.files import read
from slopewash.rendering.camera import Camera, look_at
from slopewash.rendering.layers import WaterShown
from slopewash.rendering.light import DEFAULT_SUN, Sunlight
from slopewash.rendering.palettes import Season
from slopewash.rendering.scene import Contours, Look
from slopewash.rendering.stage import Stage
from slopewash.rendering.view import SUPERSAMPLING, check_picture
from slopewash.terrain import Terrain, check_terrain

Kind = Literal["turntable", "flyover", "timelapse"]
Report = Callable[[int, int], object]
"""Called with the number of frames that are done and of all."""
Shown = Iterator[tuple[Image.Image, int]]
"""Pictures, and how many frames each is shown for."""

MOST_FRAMES = 20_000
BLOCK_PITCH = 30.0
DEPTH_LEFT = 0.01
"""Diagonals of the block below its lowest ground at the end, at least."""


def film(
    source: Source,
    path: str | os.PathLike[str],
    *,
    kind: Kind | None = None,
    seconds: float = 10.0,
    fps: int = 25,
    size: tuple[int, int] = (1280, 720),
    azimuth: float = 205.0,
    pitch: float | None = None,
    distance: float = 1.5,
    zoom: float = 1.0,
    turns: float = 1.0,
    heading: float | None = None,
    sun: Sunlight = DEFAULT_SUN,
    exaggeration: float = 1.0,
    palette: str = "alpine",
    season: Season | None = None,
    snow_line: float | Literal["auto"] | None = "auto",
    water: WaterShown = "auto",
    layer: str | None = None,
    contours: Contours = None,
    supersampling: int = SUPERSAMPLING,
    quality: int | None = None,
    report: Report | None = None,
) -> Path:
    """Write a film as .webm (VP9) or .mp4 (H.264), and return its path; needs the video extra.

    Parameters
    ----------
    source
        A terrain or its file for a turntable and a fly-over. For a time-lapse: terrains in order, or the folder of a
        recorded run (`Recorder(folder, data=".npz")`, or its pictures alone) or of checkpoints.
    path
        The film; an existing one is replaced.
    kind
        "turntable" goes around the block, "flyover" flies across the terrain, "timelapse" shows a run. By default a
        time-lapse for several terrains or a folder, else a turntable.
    seconds, fps
        Length of the film, and frames per second. A time-lapse with fewer moments than frames shows each for several.
    size
        Width and height in pixels, both even.
    azimuth, pitch, distance, zoom
        The camera, as in `render_view`; a turntable begins at `azimuth`.
    turns
        Turns of a turntable, clockwise as seen from above; negative the other way.
    heading
        Direction of a fly-over, in degrees clockwise from north. By default, away from the sun.
    sun, exaggeration, palette, season, snow_line, water, layer, contours, supersampling
        As in `render_view`.
    quality
        Constant quality of the codec, lower for finer pictures: 0 .. 63 for .webm (30), 0 .. 51 for .mp4 (20).
    report
        Called with the number of frames done and of all.

    Examples
    --------
    >>> film("no-such-file.npz", "turn.gif")
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: film turn.gif has the suffix ".gif"; films are written as .webm or .mp4
    """
    target = Path(path)
    chosen = _kind(source, kind)
    check_format(target, size, fps, quality)
    check_picture(size, supersampling)
    check_av()
    count = _frames(seconds, fps)
    look = Look(
        sun=sun, exaggeration=exaggeration, palette=palette, season=season, snow_line=snow_line, water=water,
        layer=layer, contours=contours,
    )  # fmt: skip
    fine = size[0] * supersampling, size[1] * supersampling
    if chosen == "timelapse":
        outside = _Outside(fine, azimuth, BLOCK_PITCH if pitch is None else pitch, distance, zoom)
        shown = _through_time(moments_of(source), look, size, outside, supersampling, count)
    else:
        stage = Stage.of(_terrain(source), size, look)
        if chosen == "turntable":
            down = BLOCK_PITCH if pitch is None else pitch
            cameras = turntable(
                stage, fine, count, azimuth=azimuth, pitch=down, distance=distance, zoom=zoom, turns=turns
            )
        else:
            cameras = flyover(stage, fine, count, heading=heading, pitch=pitch, zoom=zoom)
        shown = ((stage.photograph(camera, supersampling, sharp=False), 1) for camera in cameras)
    with writing(target, size, fps, quality) as writer:
        done = 0
        for picture, times in _drawn_ahead(shown):
            writer.add(picture, times)
            done += times
            if report is not None:
                report(done, count)
    return target


def _drawn_ahead(shown: Shown) -> Shown:
    """Draw the next picture while the last one is encoded."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, shown, None)
        while (picture := coming.result()) is not None:
            coming = pool.submit(next, shown, None)
            yield picture


def film_kinds() -> list[str]:
    """Return the kinds of films.

    >>> film_kinds()
    ['turntable', 'flyover', 'timelapse']
    """
    return list(get_args(Kind))


def _kind(source: Source, kind: str | None) -> str:
    if kind is None:
        several = not isinstance(source, Terrain | str | os.PathLike)
        return "timelapse" if several or (not isinstance(source, Terrain) and Path(source).is_dir()) else "turntable"  # type: ignore[arg-type]
    if kind not in film_kinds():
        raise unknown_name("kind of film", kind, film_kinds())
    return kind


def _frames(seconds: float, fps: int) -> int:
    if not (math.isfinite(seconds) and seconds > 0 and seconds * fps <= MOST_FRAMES):
        raise InvalidParameter(
            f"seconds is {seconds:g}; it must be positive, and at most {MOST_FRAMES / fps:g} at {fps} frames per second"
        )
    return max(1, round(seconds * fps))


def _terrain(source: Source) -> Terrain:
    if isinstance(source, str | os.PathLike):
        return read(source)
    check_terrain(source)
    assert isinstance(source, Terrain)
    return source


@dataclasses.dataclass(frozen=True)
class _Outside:
    """A camera that stands still outside the block."""

    size: tuple[int, int]
    azimuth: float
    pitch: float
    distance: float
    zoom: float

    def at(self, stage: Stage) -> Camera:
        return look_at(
            stage.block.outline(stage.scene), size=self.size, azimuth=self.azimuth, pitch=self.pitch,
            distance=self.distance, zoom=self.zoom,
        )  # fmt: skip


def _through_time(
    moments: list[Load], look: Look, size: tuple[int, int], outside: _Outside, supersampling: int, count: int
) -> Shown:
    """Draw the moments from one place, evenly spread over the frames; more moments than frames are left out."""
    ends = [round(count * (k + 1) / len(moments)) for k in range(len(moments))]
    camera: Camera | None = None
    base = 0.0
    before = 0
    for load, end in zip(moments, ends, strict=True):
        times, before = end - before, end
        if times == 0:
            continue
        moment = load()
        if isinstance(moment, Image.Image):
            yield _on_canvas(moment, size), times
            continue
        stage = Stage.of(moment, size, look)
        if camera is None:
            last = moments[-1]()
            low = last.range("elevation")[0] * look.exaggeration if isinstance(last, Terrain) else math.inf
            base = min(stage.block.base, low - DEPTH_LEFT * stage.block.diagonal)
            camera = outside.at(stage.on(base))
        yield stage.on(base).photograph(camera, supersampling, sharp=False), times


def _on_canvas(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Fit a picture into a film of another size, on black."""
    factor = min(size[0] / picture.width, size[1] / picture.height)
    fitted = picture.resize(
        (max(1, round(picture.width * factor)), max(1, round(picture.height * factor))), Image.Resampling.LANCZOS
    )
    canvas = Image.new("RGB", size)
    canvas.paste(fitted, ((size[0] - fitted.width) // 2, (size[1] - fitted.height) // 2))
    return canvas
