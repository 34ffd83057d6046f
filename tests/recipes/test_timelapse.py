"""A time-lapse as an output of a recipe: the run is recorded while it goes on, also where it was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.errors import InvalidFile, InvalidParameter

av = pytest.importorskip("av")
OPTIONS: dict[str, Any] = {"motion": "timelapse", "every": 3, "seconds": 0.4, "size": (64, 48)}


def two_stages() -> sw.Recipe:
    return sw.Recipe(
        source=sw.Generated(kind="dome", size=16, seed=2),
        stages=(sw.Stage.of(sw.VirtualPipes(), steps=6), sw.Stage.of("outerrain", steps=5)),
        backend="reference",
        outputs=(sw.Output(Path("lapse.webm"), "film", OPTIONS),),
    )


def pictures_in(film: Path) -> int:
    with av.open(str(film)) as opened:
        return sum(1 for _ in opened.decode(opened.streams.video[0]))


def test_the_run_becomes_a_film_and_leaves_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def noted(path: Path) -> sw.Terrain:
        seen.append(path.name)
        return sw.read(path)

    monkeypatch.setattr("slopewash.films.moments.read", noted)
    (tmp_path / ".lapse.webm.frames").mkdir()
    (tmp_path / ".lapse.webm.frames" / "frame_009999.npz").write_text("of a run that was killed")
    two_stages().run(folder=tmp_path)
    assert sorted(set(seen)) == [f"frame_{step:06d}.npz" for step in (0, 3, 6, 9, 11)]
    assert pictures_in(tmp_path / "lapse.webm") == 10
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lapse.webm", "manifest.json", "recipe.toml"]


def test_a_run_that_is_resumed_goes_on_recording(tmp_path: Path) -> None:
    running = sw.Running(two_stages(), checkpoint=tmp_path / "checkpoints", every=2, folder=tmp_path)

    def stop(simulation: sw.Simulation) -> None:
        if simulation.model.name == "steepest_talus" and simulation.step == 4:
            raise KeyboardInterrupt

    watcher = sw.Observer(every=1)
    watcher.observe = stop  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        running.run(watcher)
    frames = tmp_path / ".lapse.webm.frames"
    assert sorted(path.stem for path in frames.iterdir()) == [f"frame_{step:06d}" for step in (0, 3, 6, 9)]
    sw.resume(tmp_path)
    assert pictures_in(tmp_path / "lapse.webm") == 10
    assert not frames.exists()


def test_steps_between_states_are_for_a_time_lapse() -> None:
    with pytest.raises(InvalidParameter, match="every is for a time-lapse"):
        sw.Output(Path("turn.webm"), "film", {"every": 5}).check()


@pytest.mark.parametrize("folder", ["lapse.webm.frames", ".lapse.webm.frames"])
@pytest.mark.parametrize("name", ["thesis.odt", "frame_000001.png", "frame_000001.npz/thesis.odt"])
def test_a_film_removes_nothing_of_the_user(tmp_path: Path, folder: str, name: str) -> None:
    own = tmp_path / folder / name
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    if folder.startswith("."):
        with pytest.raises(InvalidFile, match=rf"holds {Path(name).parts[0]}, which is no state of a time-lapse"):
            two_stages().run(folder=tmp_path)
    else:
        two_stages().run(folder=tmp_path)
    assert own.read_text() == "mine"


@pytest.mark.parametrize("stopped", [1, 4, 6, 8])
def test_a_film_of_an_interrupted_run_leaves_the_states_to_the_whole_one(tmp_path: Path, stopped: int) -> None:
    running = sw.Running(two_stages(), checkpoint=tmp_path / "checkpoints", every=2, folder=tmp_path)

    def stop(simulation: sw.Simulation) -> None:
        if running.steps_taken == stopped:
            raise KeyboardInterrupt

    watcher = sw.Observer(every=1)
    watcher.observe = stop  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        running.run(watcher)
    running.write_checkpoint()
    frames = tmp_path / ".lapse.webm.frames"
    states = len(list(frames.iterdir()))
    if states > 1:
        running.result().write_outputs(tmp_path)
    running.close()
    assert len(list(frames.iterdir())) == states
    resumed = sw.Running.resumed(tmp_path)
    resumed.run()
    seen = sorted(path.stem for path in frames.iterdir())
    assert seen == [f"frame_{step:06d}" for step in (0, 3, 6, 9, 11)]
    resumed.result().write_outputs(tmp_path)
    resumed.close()
    assert pictures_in(tmp_path / "lapse.webm") == 10
    assert not frames.exists()


def test_a_film_of_a_run_that_nothing_continues_leaves_no_states(tmp_path: Path) -> None:
    running = sw.Running(two_stages(), folder=tmp_path)

    def stop(simulation: sw.Simulation) -> None:
        if running.steps_taken == 4:
            raise KeyboardInterrupt

    watcher = sw.Observer(every=1)
    watcher.observe = stop  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        running.run(watcher)
    running.result().write_outputs(tmp_path)
    running.close()
    assert (tmp_path / "lapse.webm").exists()
    assert not (tmp_path / ".lapse.webm.frames").exists()
