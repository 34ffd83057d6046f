"""The recorder: one picture per look, named by the step."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import slopewash as sw


def simulation() -> sw.Simulation:
    return sw.Simulation(sw.generate("hill", size=12), sw.VirtualPipes(), backend="reference")


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the drawing where only the files' names matter."""

    def draw(terrain: sw.Terrain, *words: object) -> None:
        path = words[-1]
        assert isinstance(path, Path)
        path.write_bytes(terrain["elevation"].tobytes())

    drawing = importlib.import_module("slopewash.rendering")
    monkeypatch.setattr(drawing, "render", draw)


def test_pictures_are_drawn(tmp_path: Path) -> None:
    recorder = sw.Recorder(tmp_path / "new" / "frames", every=4)
    simulation().add(recorder).run(4)
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in recorder.files)


@pytest.mark.usefixtures("quick_pictures")
def test_start_every_look_and_the_end_are_drawn(tmp_path: Path) -> None:
    recorder = sw.Recorder(tmp_path, every=4)
    simulation().add(recorder).run(10)
    expected = [f"frame_{step:06d}.png" for step in (0, 4, 8, 10)]
    assert names(tmp_path) == expected
    assert [file.name for file in recorder.files] == expected


@pytest.mark.usefixtures("quick_pictures")
def test_runs_in_small_pieces_give_the_pictures_of_one_long_run(tmp_path: Path) -> None:
    recorder = sw.Recorder(tmp_path, every=10)
    run = simulation().add(recorder)
    for _ in range(8):
        run.run(4)
    expected = [f"frame_{step:06d}.png" for step in (0, 10, 20, 30)]
    assert names(tmp_path) == expected
    assert [file.name for file in recorder.files] == expected


@pytest.mark.usefixtures("quick_pictures")
def test_the_end_of_a_run_that_goes_on_makes_way_for_the_next_picture(tmp_path: Path) -> None:
    recorder = sw.Recorder(tmp_path, every=4, data=".npz")
    run = simulation().add(recorder)
    run.run(10)
    run.run(1)
    assert [file.name for file in recorder.files][-1] == "frame_000010.png"  # nothing newer to show yet
    run.settle(7)
    stems = [f"frame_{number:06d}" for number in (0, 4, 8, 12, 16, 18)]
    assert names(tmp_path) == [f"{stem}{suffix}" for stem in stems for suffix in (".npz", ".png")]
    assert [file.stem for file in recorder.files] == stems


@pytest.mark.usefixtures("quick_pictures")
def test_an_interrupt_costs_no_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = sw.Recorder(tmp_path, every=4)
    run = simulation().add(recorder)
    run.run(10)

    def break_off(*words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib.import_module("slopewash.rendering"), "render", break_off)
    with pytest.raises(KeyboardInterrupt):
        run.run(10)
    assert names(tmp_path) == [f"frame_{step:06d}.png" for step in (0, 4, 8, 10)]


@pytest.mark.usefixtures("quick_pictures")
def test_settling_goes_on_counting_so_that_no_frame_replaces_another(tmp_path: Path) -> None:
    recorder = sw.Recorder(tmp_path, every=5)
    run = simulation().add(recorder)
    run.run(5)
    run.settle(10)
    run.run(5)
    assert names(tmp_path) == [f"frame_{number:06d}.png" for number in (0, 5, 10, 15, 20)]


@pytest.mark.usefixtures("quick_pictures")
@pytest.mark.parametrize("steps", [(3, 3, 9), (6, 2, 7), (0, 4, 5)])
def test_pictures_of_stages_shorter_than_the_interval_carry_the_steps_of_all(
    tmp_path: Path, steps: tuple[int, ...]
) -> None:
    stages = tuple(sw.Stage(model=sw.SteepestTalus(), steps=count, settle=None) for count in steps)
    running = sw.Running(
        sw.Recipe(source=sw.FromTerrain(terrain=simulation().start), stages=stages, backend="reference")
    )
    recorder = sw.Recorder(tmp_path, every=5)
    running.run(recorder)
    ends = [sum(steps[:number]) for number in range(len(steps) + 1)]
    due = [before + 5 * k for before, count in zip(ends, steps, strict=False) for k in range(1, count // 5 + 1)]
    drawn = [before + count for before, count in zip(ends, steps, strict=False) if count >= 5]
    assert names(tmp_path) == [f"frame_{step:06d}.png" for step in sorted({0, *due, *drawn})]
    assert recorder.files[-1].name == f"frame_{running.steps_taken:06d}.png"


def test_a_layer_is_drawn_once_it_exists(tmp_path: Path) -> None:
    recorder = sw.Recorder(tmp_path, every=5, layer="flow")
    simulation().add(recorder).run(5)
    assert "frame_000005.png" in names(tmp_path)


def test_an_unknown_layer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(sw.UnknownName, match='did you mean "flow"'):
        simulation().add(sw.Recorder(tmp_path, every=5, layer="flwo")).run(5)


@pytest.mark.usefixtures("quick_pictures")
def test_data_can_be_kept_beside_the_pictures(tmp_path: Path) -> None:
    run = simulation().add(sw.Recorder(tmp_path, every=5, data=".npz"))
    run.run(5)
    kept = sw.read(tmp_path / "frame_000005.npz")
    assert (kept["elevation"] == run.terrain["elevation"]).all()


@pytest.mark.usefixtures("quick_pictures")
def test_the_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    simulation().add(sw.Recorder(tmp_path, every=4, data=".r16")).run(12)
    before = names(tmp_path)
    following = simulation().add(sw.Recorder(tmp_path, every=5))
    with pytest.raises(sw.InvalidFile, match=r"frame_000000\.png and 11 more of another run; record into another"):
        following.run(5)
    assert (names(tmp_path), following.step) == (before, 0)


@pytest.mark.usefixtures("quick_pictures")
def test_files_of_another_run_are_replaced_on_request_and_all_others_stay(tmp_path: Path) -> None:
    simulation().add(sw.Recorder(tmp_path, every=4, data=".r16")).run(12)
    for name in ("frame_notes.txt", "frame_1.png", "view.png"):
        (tmp_path / name).touch()
    recorder = sw.Recorder(tmp_path, every=5, replace=True)
    run = simulation().add(recorder)
    run.run(5)
    run.run(5)
    frames = [f"frame_{step:06d}.png" for step in (0, 5, 10)]
    assert names(tmp_path) == sorted([*frames, "frame_1.png", "frame_notes.txt", "view.png"])


@pytest.mark.usefixtures("quick_pictures")
def test_a_resumed_run_is_recorded_into_the_same_folder(tmp_path: Path) -> None:
    run = simulation().add(sw.Recorder(tmp_path / "frames", every=5))
    run.run(5)
    run.checkpoint(tmp_path / "run.ckpt")
    resumed = sw.Simulation.resume(tmp_path / "run.ckpt").add(sw.Recorder(tmp_path / "frames", every=5))
    resumed.run(5)
    assert names(tmp_path / "frames") == [f"frame_{step:06d}.png" for step in (0, 5, 10)]


def test_a_recorder_reads_well() -> None:
    assert repr(sw.Recorder("frames", every=9, data=".exr")) == "Recorder('frames', every=9, data='.exr')"
