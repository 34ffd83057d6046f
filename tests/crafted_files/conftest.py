"""Good files that the tests of this folder make wrong, and what is no file at all."""

from __future__ import annotations

import os
import shutil
import socket
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import SlopewashError

STAGES = (sw.Stage.of(sw.SteepestTalus(), steps=1), sw.Stage.of(sw.SteepestTalus(), steps=2))


def is_a_socket(path: Path) -> None:
    """Bind a socket to a path, which may be longer than a socket's may be."""
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.open(path.parent, os.O_RDONLY)
        try:
            bound.bind(f"/proc/self/fd/{here}/{path.name}")
        finally:
            os.close(here)


NO_FILES: dict[str, Callable[[Path], object]] = {
    "a pipe": lambda path: os.mkfifo(path),
    "an endless link": lambda path: path.symlink_to("/dev/zero"),
    "a folder": lambda path: path.mkdir(),
    "a socket": is_a_socket,
    "a link out": lambda path: path.symlink_to(Path("../" * 8).joinpath(path.parent) / "none"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "nothing": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(1 << 20)),
    "a sparse giant": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 36),
}


def replace(path: Path, kind: str) -> None:
    """Put something that is no file of ours in the place of one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    NO_FILES[kind](path)


def answers(act: Callable[[], object]) -> str:
    """What an act says in one sentence; nothing where it succeeds. Any other error is a failure of the test."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sw.CheckpointWarning)  # of another version
            act()
    except SlopewashError as error:
        said = str(error)
        assert said
        assert len(said) < 1000, said
        assert "\n" not in said, said
        return said
    return ""


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stores that are good: of a run under way in two kinds of moment, and of a finished one."""
    from slopewash.tiles.run import MANIFEST
    from slopewash.tiles.store import Store

    pytest.importorskip("zarr")
    folder = tmp_path_factory.mktemp("stores")
    recipe = sw.Recipe(source=sw.Generated(kind="hill", size=24), stages=STAGES, backend="reference")
    usual, commits = Store.write_json, iter(range(100))

    def write_and_copy(self: Store, file: str, facts: Mapping[str, Any]) -> None:
        usual(self, file, facts)
        if file == MANIFEST:
            shutil.copytree(folder / "out.zarr", folder / f"{next(commits)}.zarr")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "write_json", write_and_copy)
        sw.erode_tiled(None, recipe, out=folder / "out.zarr", tile=16, workers=0, backend="reference")
    return folder


def heights(size: int = 12) -> np.ndarray[Any, Any]:
    """A small ground."""
    return np.add.outer(np.arange(size), np.arange(size)).astype(np.float32)
