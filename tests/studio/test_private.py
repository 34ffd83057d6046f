"""What a studio keeps is its user's alone, whatever files are usually made as."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.test_finish_kept import Interruption, begun, of_a_terrain, on_one_grid, task_in
from tests.studio.test_keeping import saved_step, serving, wait_for
from tests.studio.test_kept_keyframes import recipe

import slopewash as sw
from slopewash import seals
from slopewash.studio import finish_files, keeping
from slopewash.studio.finish_files import write_plan
from slopewash.studio.keeping import Keeper, default_folder
from slopewash.studio.kept_keyframes import FOLDER
from slopewash.studio.scratch import Scratch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes as on POSIX")
Open = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def for_everybody() -> Iterator[None]:
    """Files are made so that anybody may read and write them, unless somebody says otherwise."""
    usual = os.umask(0)
    yield
    os.umask(usual)


def open_to_others(folder: Path) -> list[str]:
    """Everything in a folder, and itself, that is not its owner's alone."""
    found = [(path, stat.S_IMODE(path.lstat().st_mode)) for path in (folder, *sorted(folder.rglob("*")))]
    return [f"{mode:o} {path}" for path, mode in found if mode != (0o700 if path.is_dir() else 0o600)]


@pytest.mark.parametrize("there", [False, True])
def test_a_run_its_keyframes_and_its_view_are_private(
    there: bool, tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = default_folder()
    if there:  # of a version before
        folder.mkdir(parents=True)
    with serving(folder, recipe()) as server:
        page = open_page(server)
        page.steps(33)
        page.do("paint", tool="raise", points=[[120.0, 200.0]], radius=60.0, strength=7.0)
        wait_for(lambda: saved_step(folder) == 33)
    assert list((folder / FOLDER).iterdir())
    assert open_to_others(folder) == []
    keeper = Keeper(folder)
    keeper.keep_view("run", None)
    keeper.close()
    with serving(folder, sw.recipe("jako2011", size=16, steps=5, backend="reference")) as server:
        open_page(server).steps(2)
    assert (folder / "previous").exists()
    assert (folder / keeping.VIEW).exists()
    assert open_to_others(folder) == []


def test_an_existing_folder_of_ones_own_keeps_its_mode_and_what_is_put_there_is_private(
    tmp_path: Path, open_page: Open
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.txt").touch()
    with serving(folder, recipe()) as server:
        open_page(server).steps(17)
    wrong = open_to_others(folder)
    assert [line.rpartition("/")[2] for line in wrong] == ["mine", "notes.txt"]


@pytest.mark.parametrize("made", [on_one_grid, of_a_terrain])
def test_a_finish_is_private_at_every_moment(
    made: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "WHILE_RUNNING", 0.0)
    folder = tmp_path / "finish"
    write_plan(made(), folder)
    assert open_to_others(folder) == []
    task, seen = task_in(folder), set()
    for interruption in (Interruption(9), Interruption(np.inf)):
        finisher = begun(task, lambda message: seen.update(open_to_others(folder)), interruption)
        finisher.work()
        assert finisher._keeper is not None
        finisher._keeper.close()
        assert open_to_others(folder) == []
    assert {path.name for path in folder.iterdir()} >= {finish_files.TERRAIN_FILE, finish_files.END_FILE}
    assert not seen


def test_checkpoints_that_are_set_aside_stay_private(tmp_path: Path) -> None:
    folder = tmp_path / "finish"
    write_plan(on_one_grid(), folder)
    finish_files.set_checkpoints_aside(folder)
    assert open_to_others(folder) == []


def test_scratch_and_the_secret_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    seals.secret()
    assert open_to_others(tmp_path / "state" / "slopewash") == []
    scratch = Scratch()
    write_plan(on_one_grid(), scratch.path)
    assert open_to_others(scratch.path) == []
    scratch.remove()
