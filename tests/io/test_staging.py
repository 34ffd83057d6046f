from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slopewash.errors import InvalidFile
from slopewash.io import read, write
from slopewash.io.formats import FORMATS
from slopewash.terrain import Terrain

SUFFIXES = sorted(set(FORMATS) - {".hgt"})  # a tile of the earth, which no small hill is


def fail(*arguments: Any, **options: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_at_the_end_leaves_the_old_file_and_nothing_else(
    hill: Terrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, step: str
) -> None:
    path = write(hill, tmp_path / f"hill{suffix}")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(os if step == "fsync" else Path, step, fail)
        with pytest.raises(InvalidFile, match=r"cannot write .*hill.*: No space left on device"):
            write(Terrain(np.ones((2, 2))), path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert read(path).shape == hill.shape


@pytest.mark.parametrize(
    ("suffix", "encoder"),
    [
        (".npy", "numpy.lib.format.write_array"),
        (".npz", "numpy.lib.format.write_array"),
        (".png", "PIL.Image.Image.save"),
        (".tif", "tifffile.imwrite"),
        (".exr", "OpenEXR.File"),
    ],
)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_midway_leaves_the_old_file_and_nothing_else(
    hill: Terrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, encoder: str, error: BaseException
) -> None:
    path = write(hill, tmp_path / f"hill{suffix}")
    before = path.read_bytes()

    def write_a_little(*arguments: Any, **options: Any) -> None:
        for argument in arguments:
            if hasattr(argument, "write"):
                argument.write(b"half a file")
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(encoder, write_a_little)
        with pytest.raises((InvalidFile, KeyboardInterrupt)):
            write(Terrain(np.ones((2, 2))), path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before


def test_encoder_of_openexr_failing_is_reported(hill: Terrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_as_openexr(*arguments: Any) -> None:
        raise RuntimeError("Cannot write image file")

    monkeypatch.setattr("OpenEXR.File", fail_as_openexr)
    with pytest.raises(InvalidFile, match=r"cannot write .*hill\.exr: Cannot write image file"):
        write(hill, tmp_path / "hill.exr")
    assert not list(tmp_path.iterdir())


def test_samples_renamed_without_their_sidecar_are_detected(
    hill: Terrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(hill, tmp_path / "hill.r16")
    rename = Path.replace

    def rename_samples_only(self: Path, target: Path) -> Path:
        if target.suffix == ".json":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", rename_samples_only)
        with pytest.raises(InvalidFile, match="No space left"):
            write(hill.replace(elevation=hill["elevation"] ** 2), path)
    with pytest.raises(InvalidFile, match="does not describe the heights"):
        read(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_target_that_is_impossible_is_reported(hill: Terrain, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InvalidFile, match=r"there is no folder .*missing; create it first"):
        write(hill, tmp_path / "missing" / f"hill{suffix}")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidFile, match="there is no folder"):
        write(hill, tmp_path / "file" / f"hill{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(InvalidFile, match="is a folder"):
        write(hill, tmp_path / f"folder{suffix}")


def test_folder_without_permission_is_reported(hill: Terrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*arguments: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", deny)  # chmod does not stop root
    with pytest.raises(InvalidFile, match=r"cannot write .*hill\.npy: Permission denied"):
        write(hill, tmp_path / "hill.npy")


def test_new_file_has_the_usual_permissions(hill: Terrain, tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    assert write(hill, tmp_path / "hill.npy").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_link_keeps_pointing_at_its_file(hill: Terrain, tmp_path: Path) -> None:
    (tmp_path / "link.npy").symlink_to(tmp_path / "real.npy")
    write(hill, tmp_path / "link.npy")
    assert (tmp_path / "link.npy").is_symlink()
    assert read(tmp_path / "real.npy").shape == hill.shape


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("kind", ["pipe", "device", "link", "folder"])
def test_what_is_no_draft_of_ours_is_neither_opened_nor_removed(hill: Terrain, tmp_path: Path, kind: str) -> None:
    """A pipe with the name of a draft would be waited for."""
    path, other = tmp_path / "hill.npz", tmp_path / "other"
    left = tmp_path / ".hill.npz.0123456789ab.tmp"
    other.write_text("mine")
    if kind == "pipe":
        os.mkfifo(left)
    elif kind == "folder":
        left.mkdir()
    else:
        left.symlink_to("/dev/full" if kind == "device" else other)
    os.utime(left, (1, 1), follow_symlinks=False)
    write(hill, path)
    assert os.path.lexists(left)
    assert other.read_text() == "mine"
