"""Seals: whose a file is."""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slopewash import seals
from slopewash.errors import SealWarning

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME", str(folder))
    return folder / "slopewash"


def test_the_secret_is_made_once_and_is_the_users_alone(state: Path) -> None:
    first = seals.secret()
    assert (len(first), seals.secret(), seals.is_kept()) == (32, first, True)
    assert [file.name for file in state.iterdir()] == [seals.FILE]


@posix
def test_only_the_user_may_read_the_secret(state: Path) -> None:
    seals.secret()
    assert [place.stat().st_mode & 0o777 for place in (state, state / seals.FILE)] == [0o700, 0o600]


@posix
def test_a_secret_that_others_may_read_is_not_used(state: Path) -> None:
    first = seals.secret()
    (state / seals.FILE).chmod(0o644)
    assert seals.secret() != first
    assert not seals.is_kept()


@posix
def test_a_secret_that_is_a_link_or_cut_off_is_not_used(state: Path, tmp_path: Path) -> None:
    first = seals.secret()
    (state / seals.FILE).rename(tmp_path / "secret")
    (state / seals.FILE).symlink_to(tmp_path / "secret")
    assert seals.secret() != first
    (state / seals.FILE).unlink()
    (state / seals.FILE).touch(mode=0o600)
    assert seals.secret() != first


@posix
def test_a_pipe_in_the_place_of_the_secret_is_not_waited_for(state: Path) -> None:
    seals.secret()
    (state / seals.FILE).unlink()
    os.mkfifo(state / seals.FILE, 0o600)
    assert not seals.is_kept()


@posix
def test_no_secret_is_looked_for_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be anyone's: a relative name does not count."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for named in ("state", ".", ""):
        monkeypatch.setenv("XDG_STATE_HOME", named)
        assert seals.state_folder() == tmp_path / "home" / ".local" / "state" / "slopewash"


@given(data=st.binary(max_size=100), other=st.binary(max_size=100), cut=st.integers(0, 100))
def test_a_seal_is_of_its_data_and_purpose_only(data: bytes, other: bytes, cut: int) -> None:
    mark = seals.seal(data, "store")
    assert seals.is_sealed([data[:cut], data[cut:]], "store", mark)
    assert seals.is_sealed(other, "store", mark) == (other == data)
    assert not seals.is_sealed(data, "checkpoint", mark)


@pytest.mark.parametrize("mark", [None, "", 1, [], b"0" * 64, "0" * 64, "é" * 64, "0" * 1000])
def test_what_is_no_seal_is_refused_without_an_error(mark: object) -> None:
    assert not seals.is_sealed(b"", "store", mark)


def test_another_users_seal_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = seals.seal(b"data", "store")
    monkeypatch.setattr(seals, "secret", lambda: b"x" * 32)
    assert not seals.is_sealed(b"data", "store", mark)


def test_without_a_state_folder_seals_last_as_long_as_the_process_and_one_warning_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME", str(tmp_path / "file"))
    assert seals.is_sealed(b"data", "store", seals.seal(b"data", "store"))
    with pytest.warns(SealWarning, match="set XDG_STATE_HOME to a folder"):
        seals.warn_if_unkept()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seals.warn_if_unkept()


def _secret_of_a_process(_: int) -> bytes:
    return seals.secret()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="one process after the other proves nothing")
def test_of_several_processes_that_make_the_secret_at_once_all_have_the_same(state: Path) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        assert len(set(pool.map(_secret_of_a_process, range(32), chunksize=1))) == 1
    assert [file.name for file in state.iterdir()] == [seals.FILE]
