"""`slopewash render`: views, films, and bad input in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import slopewash as sw

Run = Callable[..., Any]


@pytest.fixture
def hill(tmp_path: Path) -> Path:
    return sw.write(sw.generate("dome", size=32, seed=1), tmp_path / "hill.npz")


def test_a_view_has_the_size_asked_for(run: Run, hill: Path, tmp_path: Path) -> None:
    out = tmp_path / "view.png"
    words = ("--width", 160, "--height", 90, "--layer", "elevation", "--contours", "100", "--look-at", "900,700")
    done = run("render", hill, "-o", out, "--water", "none", "--zoom", 2, "--samples", 1, *words)
    assert (done.code, done.out) == (0, f"{out}\n")
    with Image.open(out) as picture:
        assert picture.size == (160, 90)


def test_the_suffix_makes_a_film(run: Run, hill: Path, tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    out = tmp_path / "turn.webm"
    done = run("render", hill, "-o", out, "--water", "none", "--width", 160, "--seconds", 0.4, "--fps", 10)
    assert (done.code, done.out) == (0, f"{out}\n")
    with av.open(str(out)) as file:
        assert file.duration / av.time_base == pytest.approx(0.4, abs=0.002)
        assert (file.streams.video[0].width, file.streams.video[0].height) == (160, 90)


def test_a_recorded_run_becomes_a_time_lapse(run: Run, hill: Path, tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    folder, out = tmp_path / "run", tmp_path / "lapse.mp4"
    eroded = run(
        "erode", hill, "-o", tmp_path / "eroded.npz", "--preset", "jako2011", "--steps", 6, "--backend", "reference",
        "--record", folder, "--record-every", 2,
    )  # fmt: skip
    assert eroded.code == 0
    assert (folder / "frame_000006.npz").exists()
    assert run("render", folder, "-o", out, "--width", 160, "--seconds", 1, "--fps", 4).code == 0
    with av.open(str(out)) as file:
        assert len(list(file.decode(video=0))) == 4


def test_a_run_is_not_recorded_over_another(run: Run, hill: Path, tmp_path: Path) -> None:
    def erode(steps: int, *words: object) -> Any:
        return run(
            "erode", hill, "-o", tmp_path / "eroded.npz", "--preset", "jako2011", "--steps", steps, "--no-settle",
            "--backend", "reference", "--record", tmp_path / "run", "--record-every", 2, *words,
        )  # fmt: skip

    assert erode(6).code == 0
    refused = erode(2, "--checkpoint", tmp_path / "run.ckpt")
    assert refused.code == 2
    assert "holds frame_000000.npz and 3 more of another run" in refused.err
    assert not (tmp_path / "run.ckpt").exists()
    assert erode(2, "--force", "--checkpoint", hill / "kept").code == 2
    assert len(list((tmp_path / "run").iterdir())) == 4  # a run that is refused removes nothing
    assert erode(2, "--force").code == 0
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == ["frame_000000.npz", "frame_000002.npz"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-o", "view.png", "--azimuth", "nan"], "azimuth is nan degrees; it must be finite"),
        (["-o", "view.png", "--film", "turntable"], "name one that ends in .webm or .mp4"),
        (["-o", "view.png", "--contours", "many"], "--contours is many"),
        (["-o", "view.png", "--look-at", "5"], "--look-at is 5"),
        (["-o", "view.png", "--layer", "gold"], 'unknown layer "gold"'),
        (["-o", "view.gif"], "must end in .png, and a film in .webm or .mp4"),
        (["-o", "turn.webm", "--fps", "0"], "fps is 0"),
        (["-o", "turn.webm", "--width", "161"], "even numbers"),
    ],
)
def test_bad_input_is_one_sentence(
    run: Run, hill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("render", hill, "--water", "none", *words)
    assert done.code == 2
    assert sentence in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hill.npz"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--view", "map", "--layer", "flow"), "--layer has no effect on a map"),
        (("--view", "map", "--contours", "100"), "--contours has no effect on a map"),
        (("--view", "inside", "--look-at", "100,100"), "--look-at has no effect on a view from inside"),
        (("--seconds", "2"), "--seconds has no effect on a view of the block"),
    ],
)
def test_options_without_effect_are_refused(
    run: Run, hill: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = run("render", hill, "-o", tmp_path / "view.png", *words)
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "view.png").exists()
