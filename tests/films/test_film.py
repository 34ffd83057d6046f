"""Films open in a decoder, last as long as they should and show what they should."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import slopewash as sw
from slopewash.films.encoder import writing
from slopewash.films.paths import flyover, turntable
from slopewash.rendering.scene import Look
from slopewash.rendering.stage import Stage

av: Any = pytest.importorskip("av")
SMALL = (160, 90)


@pytest.fixture(scope="module")
def hills() -> sw.Terrain:
    return sw.generate("ridged", size=48, seed=5)


def decoded(path: Path) -> tuple[list[NDArray[np.uint8]], float, Any]:
    """Frames as a decoder gives them, the duration in seconds, and facts of the stream."""
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        facts = {"codec": stream.codec.name, "rate": stream.average_rate, "size": (stream.width, stream.height)}
        frames = [frame.to_ndarray(format="rgb24") for frame in file.decode(stream)]
        return frames, file.duration / av.time_base, facts


@pytest.mark.parametrize(("suffix", "codec"), [(".webm", "vp9"), (".mp4", "h264")])
def test_a_turntable_has_its_duration_size_and_rate(hills: sw.Terrain, tmp_path: Path, suffix: str, codec: str) -> None:
    path = sw.film(hills, tmp_path / f"turn{suffix}", seconds=0.6, fps=20, size=SMALL)
    frames, duration, facts = decoded(path)
    assert len(frames) == 12
    assert duration == pytest.approx(0.6, abs=0.002)  # Matroska counts milliseconds
    assert facts == {"codec": codec, "rate": 20, "size": SMALL}


def test_a_turntable_shows_what_stills_of_the_same_cameras_show(hills: sw.Terrain, tmp_path: Path) -> None:
    frames, *_ = decoded(sw.film(hills, tmp_path / "turn.webm", seconds=1.0, fps=4, size=(320, 180), quality=10))
    stage = Stage.of(hills, (320, 180), Look(sun=(315.0, 38.0)))
    cameras = turntable(stage, (640, 360), 4, azimuth=205.0, pitch=30.0, distance=1.5, zoom=1.0, turns=1.0)
    for frame, camera in zip(frames, cameras, strict=True):
        still = np.asarray(stage.photograph(camera, 2)).astype(int)
        assert np.abs(frame - still).mean() < 4  # the codec, and bilinear instead of cubic samples
    assert np.abs(frames[0].astype(int) - frames[2]).mean() > 8  # from the other side


def test_colours_survive_the_codec(tmp_path: Path) -> None:
    colours = [(200, 60, 40), (40, 160, 60), (50, 80, 190)]
    with writing(tmp_path / "flat.webm", SMALL, 5, 5) as writer:
        for colour in colours:
            writer.add(Image.new("RGB", SMALL, colour))
    with av.open(str(tmp_path / "flat.webm")) as file:
        for colour, frame in zip(colours, file.decode(video=0), strict=True):
            assert frame.colorspace == 1  # tagged as BT.709, so that players need not guess
            shown = frame.reformat(format="rgb24", src_colorspace="ITU709", dst_colorspace="ITU709").to_ndarray()
            assert np.abs(shown[45, 80].astype(int) - colour).max() <= 6


def test_the_same_film_has_the_same_bytes(hills: sw.Terrain, tmp_path: Path) -> None:
    first, second = (sw.film(hills, tmp_path / f"{k}.webm", seconds=0.3, fps=10, size=SMALL) for k in (1, 2))
    assert first.read_bytes() == second.read_bytes()


def test_cameras_of_a_turntable_keep_their_lens_and_height(hills: sw.Terrain) -> None:
    stage = Stage.of(hills, SMALL, Look(sun=(315.0, 38.0)))
    cameras = turntable(stage, SMALL, 12, azimuth=0.0, pitch=30.0, distance=1.5, zoom=1.0, turns=1.0)
    assert len({camera.focal for camera in cameras}) == 1
    assert len({camera.eye[2] for camera in cameras}) == 1
    ways = [np.hypot(*camera.eye[:2]) for camera in cameras]
    assert np.ptp(ways) < 1e-6 * ways[0]
    angles = np.degrees(np.arctan2([c.eye[0] for c in cameras], [c.eye[1] for c in cameras])) % 360
    assert np.diff(angles) == pytest.approx(30.0)  # evenly, and the last is a step before the first


def test_a_flight_stays_above_the_ground_and_inside(hills: sw.Terrain) -> None:
    stage = Stage.of(hills, SMALL, Look(sun=(315.0, 38.0)))
    surface, cell = stage.scene.surface, stage.scene.cell_size
    cameras = flyover(stage, SMALL, 40, heading=None, pitch=None, zoom=1.0)
    for camera in cameras:
        x, y, z = camera.eye
        assert abs(x) < stage.block.east
        assert abs(y) < stage.block.north
        row, column = round((stage.block.north - y) / cell), round((x + stage.block.east) / cell)
        around = surface[max(0, row - 4) : row + 5, max(0, column - 4) : column + 5]
        assert z > around.max()
    jumps = np.abs(np.diff([camera.eye[2] for camera in cameras], n=2))
    assert jumps.max() < 0.02 * np.ptp(surface)  # it does not bob


def test_a_fly_over_is_a_film(hills: sw.Terrain, tmp_path: Path) -> None:
    frames, duration, _ = decoded(
        sw.film(hills, tmp_path / "fly.webm", kind="flyover", seconds=0.5, fps=6, size=SMALL, layer=None)
    )
    assert len(frames) == 3
    assert duration == pytest.approx(0.5, abs=0.002)
    assert frames[0][2, 80, 2] > frames[0][2, 80, 0]  # sky at the top


def test_a_time_lapse_shows_a_recorded_run_in_order(tmp_path: Path) -> None:
    simulation = sw.Simulation(sw.generate("dome", size=24, seed=2), sw.VirtualPipes(), backend="reference")
    simulation.add(sw.Recorder(tmp_path / "run", every=4, data=".npz", pictures=False)).run(12)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [f"frame_{k:06d}.npz" for k in (0, 4, 8, 12)]
    path = sw.film(tmp_path / "run", tmp_path / "lapse.webm", seconds=1.0, fps=8, size=SMALL, quality=8)
    frames, duration, _ = decoded(path)
    assert len(frames) == 8
    assert duration == pytest.approx(1.0, abs=0.002)
    changes = [np.abs(a.astype(int) - b).mean() for a, b in itertools.pairwise(frames)]
    assert min(changes[1], changes[3], changes[5]) > 2 * max(changes[0], changes[2], changes[4], changes[6])


def test_a_time_lapse_of_terrains_keeps_the_block_in_place(tmp_path: Path) -> None:
    high, low = sw.generate("dome", size=24, seed=2), sw.Terrain(np.zeros((24, 24)), cell_size=213.3)
    path = sw.film([high, low, high], tmp_path / "lapse.mp4", seconds=0.3, fps=10, size=(320, 180), quality=5)
    first, _, last = decoded(path)[0]
    assert np.abs(first.astype(int) - last).mean() < 1.5


def test_a_time_lapse_of_checkpoints(tmp_path: Path) -> None:
    simulation = sw.Simulation(sw.generate("dome", size=24, seed=2), sw.VirtualPipes(), backend="reference")
    simulation.add(sw.Checkpoints(tmp_path / "run.ckpt", every=3)).run(6)
    frames, *_ = decoded(sw.film(tmp_path / "run.ckpt", tmp_path / "lapse.webm", seconds=0.4, fps=5, size=SMALL))
    assert len(frames) == 2


def test_a_time_lapse_of_pictures_alone(tmp_path: Path) -> None:
    for k, colour in enumerate(("red", "blue")):
        Image.new("RGB", (64, 64), colour).save(tmp_path / f"frame_{k:06d}.png")
    first, second = decoded(sw.film(tmp_path, tmp_path / "lapse.webm", seconds=1, fps=2, size=SMALL, quality=5))[0]
    assert first[45, 80, 0] > 200
    assert second[45, 80, 2] > 200
    assert first[45, 5].max() < 30  # on black


def test_the_stages_of_a_recipe_are_recorded_as_one_run(tmp_path: Path) -> None:
    recorder = sw.Recorder(tmp_path, every=3, data=".npz", pictures=False)
    for size in (16, 24):  # as from coarse to fine
        simulation = sw.Simulation(sw.generate("dome", size=size, seed=1), sw.VirtualPipes(), backend="reference")
        simulation.add(recorder).run(7)
    assert [path.name for path in recorder.files] == [f"frame_{k:06d}.npz" for k in (0, 3, 6, 7, 10, 13, 14)]
    assert all(path.exists() for path in recorder.files)
    frames, *_ = decoded(sw.film(tmp_path, tmp_path / "lapse.webm", seconds=1.0, fps=7, size=SMALL))
    assert len(frames) == 7


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": (161, 90)}, "even numbers"),
        ({"fps": 0}, "fps is 0"),
        ({"seconds": 0.0}, "seconds is 0"),
        ({"seconds": float("nan")}, "seconds is nan"),
        ({"quality": 99}, "quality is 99"),
        ({"azimuth": float("nan")}, "azimuth is nan"),
        ({"turns": 0.0}, "turns is 0"),
        ({"kind": "spin"}, "unknown kind of film"),
        ({"kind": "timelapse"}, "needs several terrains"),
        ({"supersampling": 0}, "supersampling is 0"),
    ],
)
def test_bad_options_are_refused_and_leave_no_file(
    hills: sw.Terrain, tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(sw.SlopewashError, match=sentence):
        sw.film(hills, tmp_path / "turn.webm", **{"size": SMALL, **options})
    assert not list(tmp_path.iterdir())


def test_without_pyav_the_extra_is_named(hills: sw.Terrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(sw.SlopewashError, match=r"slopewash\[video\]"):
        sw.film(hills, tmp_path / "turn.webm", size=SMALL)


def test_an_empty_folder_names_how_to_record(tmp_path: Path) -> None:
    with pytest.raises(sw.InvalidFile, match=r"record a run with sw\.Recorder"):
        sw.film(tmp_path, tmp_path / "lapse.webm", size=SMALL)
