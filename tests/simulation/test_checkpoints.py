"""Checkpoints on disk: whole or not there, whatever happens to the process or to the disk."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import slopewash as sw
from slopewash.errors import CheckpointError, CheckpointWarning
from slopewash.simulation import checkpoint_files, newest_manifest, read_checkpoint
from slopewash.simulation.checkpoint_files import MANIFEST, read_manifest
from slopewash.simulation.checkpoints import KEPT, find_checkpoints, write_checkpoint

HILL = sw.generate("dome", size=16, seed=1, cell_size=5.0)


def run(steps: int = 0) -> sw.Simulation:
    simulation = sw.Simulation(HILL, sw.preset("single_grid"), backend="reference")
    simulation.run(steps)
    return simulation


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with checkpoints after 3 and after 5 steps."""
    folder = tmp_path_factory.mktemp("twice")
    simulation = run(3)
    simulation.checkpoint(folder)
    simulation.run(2)
    simulation.paint("raise", points=[(40.0, 40.0)], radius=10.0)
    simulation.checkpoint(folder)
    return folder


@pytest.fixture
def folder(twice: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    copied = shutil.copytree(twice, tmp_path / "run", copy_function=shutil.copy2)
    assert [path.name for path in find_checkpoints(copied)] == ["step-000005", "step-000003"]
    return copied


def files(checkpoint: Path) -> list[Path]:
    return sorted(checkpoint.iterdir())


def file_of(checkpoint: Path, array: str) -> Path:
    return checkpoint / f"{[*read_manifest(checkpoint).facts['files']].index(array):03d}.npy"


def flip(path: Path, at: int, bits: int = 1) -> None:
    """Change one byte, as a failing disk does; what the file system knows of the file stays."""
    times = path.stat()
    data = bytearray(path.read_bytes())
    data[at] ^= bits
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def assert_falls_back(folder: Path, damaged: str) -> None:
    with pytest.warns(CheckpointWarning) as caught:
        simulation = sw.Simulation.resume(folder)
    assert simulation.step == 3
    words = str(caught[0].message)
    assert words.startswith("skipped as damaged: step-000005: ")
    assert damaged in words
    assert words.endswith("continuing from step-000003")
    assert "\n" not in words


def test_a_flipped_byte_in_any_file_is_noticed_and_the_older_checkpoint_used(folder: Path) -> None:
    names = [path.name for path in files(folder / "step-000005")]
    assert MANIFEST in names
    assert len(names) > 15
    for name in names:
        path = folder / "step-000005" / name
        size = path.stat().st_size
        for at in sorted({0, size // 2, size - 1}):
            flip(path, at)
            assert_falls_back(folder, name)
            flip(path, at)
    assert sw.Simulation.resume(folder).step == 5  # all bytes are back


def test_no_flipped_bit_of_the_manifest_passes(folder: Path) -> None:
    """Some leave its meaning as it was, such as 1e-05 written 1E-05."""
    path = folder / "step-000005" / MANIFEST
    size = path.stat().st_size
    random = np.random.default_rng(3)
    for at in random.choice(size, 150, replace=False).tolist():
        for bits in (1, 0x20, 0x80):
            flip(path, at, bits)
            with pytest.raises(ValueError, match="is not what was written"):
                read_manifest(path.parent)
            flip(path, at, bits)
    assert read_manifest(path.parent).facts["step"] == 5


def test_no_flipped_bit_before_the_numbers_of_an_array_passes(folder: Path) -> None:
    """Python's own parser reads them, and raises what it likes."""
    newest = folder / "step-000005"
    facts, path = read_manifest(newest).facts, file_of(newest, "state.elevation")
    for at in range(128):
        for bit in range(8):
            flip(path, at, 1 << bit)
            with pytest.raises(ValueError, match="is not what was written"):
                checkpoint_files.read_arrays(newest, facts)
            flip(path, at, 1 << bit)


def test_a_missing_file_is_noticed_and_the_older_checkpoint_used(folder: Path) -> None:
    newest = folder / "step-000005"
    for path in files(newest):
        if path.name != MANIFEST:
            away = path.rename(folder / "away")
            assert_falls_back(folder, path.name)
            away.rename(path)
    (newest / MANIFEST).unlink()
    assert_falls_back(folder, f"it has no {MANIFEST}")


@pytest.mark.parametrize("length", [0, 1, 200])
def test_a_file_cut_short_is_noticed(folder: Path, length: int) -> None:
    path = file_of(folder / "step-000005", "state.elevation")
    path.write_bytes(path.read_bytes()[:length])
    assert_falls_back(folder, path.name)


def test_where_no_checkpoint_is_whole_the_error_names_what_is_wrong_with_each(folder: Path) -> None:
    flip(file_of(folder / "step-000005", "state.water"), 150)
    flip(folder / "step-000003" / MANIFEST, 40)
    with pytest.raises(CheckpointError) as caught:
        sw.Simulation.resume(folder)
    assert str(caught.value) == (
        f"no checkpoint in {folder} is whole (step-000005: 001.npy (state.water) is not what was written; "
        f"step-000003: {MANIFEST} is not what was written); start the run again"
    )


def test_where_there_is_no_checkpoint_one_sentence_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder, what in (
        (tmp_path, "holds no checkpoint; write one with simulation.checkpoint(...)"),
        (tmp_path / "nowhere", "does not exist"),
        (tmp_path / "file", "is a file, not a folder of checkpoints"),
    ):
        with pytest.raises(CheckpointError) as caught:
            sw.Simulation.resume(folder)
        assert str(caught.value) == f"{folder} {what}"
        assert newest_manifest(folder) is None


def test_one_checkpoint_can_be_named_itself(folder: Path) -> None:
    assert sw.Simulation.resume(folder / "step-000003").step == 3
    older = newest_manifest(folder / "step-000003")
    newest = newest_manifest(folder)
    assert older is not None
    assert newest is not None
    assert (older["step"], newest["step"]) == (3, 5)


def test_the_last_two_are_kept(tmp_path: Path) -> None:
    simulation = run()
    for steps in (3, 1, 2, 4):
        simulation.run(steps)
        written = simulation.checkpoint(tmp_path)
        assert written == tmp_path / f"step-{simulation.steps_taken:06d}"
    assert KEPT == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000006", "step-000010"]


def test_a_second_checkpoint_of_a_step_takes_the_place_of_the_first_alone(tmp_path: Path) -> None:
    simulation = run(3)
    simulation.checkpoint(tmp_path)
    simulation.run(2)
    simulation.checkpoint(tmp_path)
    simulation.paint("raise", points=[(40.0, 40.0)], radius=10.0)
    simulation.checkpoint(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000003", "step-000005"]
    assert sw.Simulation.resume(tmp_path).can_undo
    assert not sw.Simulation.resume(tmp_path / "step-000003").can_undo


def test_the_newest_is_the_one_written_last_whatever_the_clock_shows(folder: Path) -> None:
    os.utime(folder / "step-000005" / MANIFEST, (0, 0))  # as after a copy, or with a clock that was set back
    assert [path.name for path in find_checkpoints(folder)] == ["step-000005", "step-000003"]
    assert sw.Simulation.resume(folder).step == 5
    resumed = sw.Simulation.resume(folder)
    resumed.run(1)
    resumed.checkpoint(folder)
    assert [path.name for path in find_checkpoints(folder)] == ["step-000006", "step-000005"]
    assert [read_manifest(path).facts["serial"] for path in find_checkpoints(folder)] == [3, 2]


def test_what_a_killed_process_left_unfinished_is_ignored_and_cleaned(folder: Path) -> None:
    unfinished = shutil.copytree(folder / "step-000005", folder / "step-000007.tmp")
    shutil.copytree(folder / "step-000005", folder / "step-000009.tmp")
    (unfinished / MANIFEST).unlink()
    simulation = sw.Simulation.resume(folder)
    assert simulation.step == 5
    simulation.run(1)
    simulation.checkpoint(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["step-000005", "step-000006"]


def test_killed_while_one_takes_the_place_of_another_the_other_is_used(folder: Path) -> None:
    (folder / "step-000005").rename(folder / "step-000005.old")
    shutil.copytree(folder / "step-000005.old", folder / "step-000005.tmp")
    simulation = sw.Simulation.resume(folder)
    assert simulation.step == 5
    simulation.run(1)
    simulation.checkpoint(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["step-000005", "step-000006"]


def test_what_the_run_is_part_of_is_kept(tmp_path: Path) -> None:
    run(1).checkpoint(tmp_path, recipe={"steps": 4000, "out": ["a.tif", "b.png"], "limit": float("inf")})
    facts, _ = read_checkpoint(tmp_path)
    assert facts["recipe"] == {"steps": 4000, "out": ["a.tif", "b.png"], "limit": "inf"}


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    with pytest.raises(CheckpointError) as caught:
        run(1).checkpoint(taken)
    assert str(caught.value) == f"{taken} is a file; checkpoints need a folder"
    with pytest.raises(CheckpointError) as caught:
        run(1).checkpoint(taken / "inside")
    assert str(caught.value) == f"cannot write a checkpoint to {taken / 'inside'}: Not a directory"


@pytest.mark.parametrize("name", ["soil/depth", "z" * 300, "../up", "con.", "É\0"])
def test_a_layer_of_any_name_comes_back(tmp_path: Path, name: str) -> None:
    terrain = HILL.replace(own_layers={name: 3.0})
    sw.Simulation(terrain, sw.SteepestTalus(), backend="reference").checkpoint(tmp_path)
    resumed = sw.Simulation.resume(tmp_path).terrain
    assert resumed.own_layers == {name}
    assert (resumed[name] == 3).all()


# Checkpoints of other versions


def rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the newest manifest as another version would have written it."""
    path = find_checkpoints(folder)[0] / MANIFEST
    manifest = json.loads(path.read_bytes())
    del manifest["sha256"], manifest["seal"]
    change(manifest)
    path.write_bytes(checkpoint_files.encoded(manifest))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m["model"]["parameters"].update(new_one=1), 'unknown parameter of virtual_pipes "new_one"'),
        (lambda m: m["domain"].update(new_one=1), "unexpected keyword argument 'new_one'"),
        (lambda m: m["model"].update(name="foo"), 'unknown model "foo"'),
        (lambda m: m.pop("since"), "'since' is missing"),
    ],
)
def test_what_this_version_cannot_continue_is_reported_with_both_versions(
    folder: Path, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    rewrite(folder, lambda manifest: (change(manifest), manifest.update(slopewash="99.0")))
    with pytest.raises(CheckpointError, match=f"by slopewash 99.0, and this is slopewash {sw.__version__}") as caught:
        sw.Simulation.resume(folder)
    assert reason in str(caught.value)


def test_a_checkpoint_of_another_version_is_continued_with_a_warning(folder: Path) -> None:
    rewrite(folder, lambda manifest: manifest.update(slopewash="99.0"))
    with pytest.warns(CheckpointWarning, match="written by slopewash 99.0, and this is"):
        assert sw.Simulation.resume(folder).step == 5


def test_another_schema_is_not_taken_for_damage(folder: Path) -> None:
    rewrite(folder, lambda manifest: manifest.update(schema=99, slopewash="99.0"))
    for read in (sw.Simulation.resume, newest_manifest):
        with pytest.raises(CheckpointError, match=r"step-000005 has schema 99, written by slopewash 99.0; this is"):
            read(folder)


# A disk that is full


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("may not mount a file system here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_the_checkpoint_before_it_intact(small_disk: Path) -> None:
    folder = small_disk / "run"
    simulation = run(3)
    simulation.checkpoint(folder)
    (small_disk / "ballast").write_bytes(bytes(shutil.disk_usage(small_disk).free - 20_000))
    simulation.run(2)
    with pytest.raises(CheckpointError) as caught:
        simulation.checkpoint(folder)
    words = str(caught.value)
    found = re.fullmatch(
        rf"cannot write a checkpoint to {re.escape(str(folder))}: .+; it needs [\d.]+ MB \((\d+) bytes\) and "
        r"[\d.]+ MB \((\d+) bytes\) are free there; the checkpoints before it are intact",
        words,
    )
    assert found is not None, words
    needed, free = int(found[1]), int(found[2])
    assert free < needed
    assert sorted(path.name for path in folder.iterdir()) == ["step-000003"]
    assert sw.Simulation.resume(folder).step == 3
    (small_disk / "ballast").unlink()
    simulation.checkpoint(folder)  # with room again, the run goes on
    assert sw.Simulation.resume(folder).step == 5


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.bool_, np.uint8])
def test_arrays_and_numbers_come_back_to_the_bit(tmp_path: Path, kind: Any) -> None:
    values: NDArray[Any] = (1e3 * np.random.default_rng(1).random((7, 5))).astype(kind)
    facts = {"third": 1 / 3, "step": np.int64(4), "half": np.float32(0.1), "none": None, "big": 2**70}
    write_checkpoint(tmp_path, 4, facts, {"a.b": values, "none": values[:0], "view": values[::2, ::-1]})
    read, arrays = read_checkpoint(tmp_path)
    for name, expected in (("a.b", values), ("none", values[:0]), ("view", values[::2, ::-1])):
        assert arrays[name].dtype == expected.dtype
        np.testing.assert_array_equal(arrays[name], expected)
    assert {name: read[name] for name in facts} == facts | {"half": float(np.float32(0.1))}


def test_a_thousand_strokes_go_into_one_file_and_can_all_be_undone(tmp_path: Path) -> None:
    simulation = sw.Simulation(sw.generate("hill", size=24, cell_size=10.0), sw.VirtualPipes(), backend="reference")
    simulation.run(1)
    before = simulation.layers("elevation")["elevation"]
    for k in range(1000):
        simulation.paint("raise", points=[(3.0 + k % 17, 4.0)], radius=2.0, strength=0.1)
    simulation.undo()
    written = simulation.checkpoint(tmp_path)
    assert [name for name in read_manifest(written).facts["files"] if name.startswith("history.")] == ["history.values"]
    resumed = sw.Simulation.resume(tmp_path)
    assert resumed.can_redo
    while resumed.undo():
        pass
    np.testing.assert_array_equal(resumed.layers("elevation")["elevation"], before)
