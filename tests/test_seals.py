"""Seals: whose a file is."""

from __future__ import annotations

import multiprocessing
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import slopewash as sw
from slopewash import seals
from slopewash.errors import ForeignCheckpoint, SealWarning

VARIABLE = seals.variable()
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder / "slopewash"


def test_the_secret_is_made_once_and_is_the_users_alone(state: Path) -> None:
    first = seals.secret()
    assert (len(first), seals.secret(), seals.problem()) == (32, first, None)
    assert [file.name for file in state.iterdir()] == [seals.FILE]


@posix
def test_only_the_user_may_read_the_secret(state: Path) -> None:
    seals.secret()
    assert [place.stat().st_mode & 0o777 for place in (state, state / seals.FILE)] == [0o700, 0o600]


def replaced(file: Path, data: bytes) -> None:
    file.unlink()
    file.write_bytes(data)
    file.chmod(0o600)


def linked(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def piped(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def emptied(file: Path) -> None:
    file.unlink()
    file.mkdir()


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "read by others": (
        lambda file: file.chmod(0o644),
        r"is open to other users \(mode 644\).*: if none of them has read it, chmod 600 .*-secret; else remove it",
    ),
    "empty": (lambda file: replaced(file, b""), r"has 0 bytes instead of 32: remove it, and another one is made"),
    "cut off": (lambda file: replaced(file, b"x" * 31), r"has 31 bytes instead of 32: remove it"),
    "too long": (lambda file: replaced(file, b"x" * 999), r"has more than 32 bytes instead of 32: remove it"),
    "a link": (linked, r"cannot be read \(studio-secret is a link\): remove it, or set XDG_STATE_HOME"),
    "a pipe": (piped, r"cannot be read \(studio-secret is not a file\): remove it"),
    "a folder": (emptied, r"cannot be read \(studio-secret is not a file\): remove it"),
}


@posix
@pytest.mark.parametrize("how", UNUSABLE)
def test_a_secret_that_is_not_the_users_alone_is_not_used_and_the_reason_is_said(how: str, state: Path) -> None:
    spoil, said = UNUSABLE[how]
    first = seals.secret()
    spoil(state / seals.FILE)
    assert seals.secret() != first
    found = seals.problem()
    assert found is not None
    assert re.search(said, f"{found.why}: {found.remedy}")


@posix
def test_the_secret_of_another_user_is_not_used(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a command that runs as root, with the home of the user who asked for it."""
    first, own = seals.secret(), os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert seals.secret() != first
    found = seals.problem()
    assert found is not None
    assert f"belongs to another user (number {own})" in found.why
    assert "set XDG_STATE_HOME to a folder of your own" in found.remedy


@posix
@pytest.mark.parametrize("home", [None, "relative"])
def test_without_a_home_the_reason_is_said(home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_STATE_HOME")
    if home is None:
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError))
    else:
        monkeypatch.setenv("HOME", home)
    found = seals.problem()
    assert found == seals.Problem(
        "there is no home folder to keep your secret in",
        "set XDG_STATE_HOME to a folder of your own that can be written",
    )
    assert list(tmp_path.iterdir()) == []


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


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file where a folder is needed, which stops root too."""
    (tmp_path / "file").touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    return tmp_path / "file"


def test_without_a_state_folder_seals_last_as_long_as_the_process_and_one_warning_says_so(unwritable: Path) -> None:
    assert seals.is_sealed(b"data", "store", seals.seal(b"data", "store"))
    said = rf"cannot be kept in {re.escape(str(unwritable))}.*\(.*\), so later runs treat .* set {VARIABLE} to a folder"
    with pytest.warns(SealWarning, match=said):
        seals.warn_if_unkept()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seals.warn_if_unkept()


def test_a_process_that_is_given_a_secret_goes_by_it_where_none_can_be_kept(unwritable: Path) -> None:
    seals.adopt(b"x" * 32)
    assert seals.secret() == b"x" * 32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seals.warn_if_unkept()  # the process that gave it has warned


def test_a_secret_that_is_kept_counts_more_than_one_that_is_given(state: Path) -> None:
    first = seals.secret()
    seals.adopt(b"x" * 32)
    assert seals.secret() == first


@pytest.mark.parametrize("usable", [True, False])
def test_the_command_says_it_in_one_note_and_continues_ones_own_without(
    usable: bool, state: Path, tmp_path: Path
) -> None:
    """Also where Python is told to raise every warning."""
    if not usable:
        (tmp_path / "state").touch()
    environment = {**os.environ, VARIABLE: str(tmp_path / "state"), "PYTHONWARNINGS": "error::UserWarning"}

    def command(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "slopewash", *words], env=environment, cwd=tmp_path, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        return done.returncode, done.stderr

    sw.write(sw.generate("hill", size=12), tmp_path / "hill.npz")
    words = ("hill.npz", "-o", "out.npz", "--steps", "2", "--preset", "jako2011", "--backend", "reference")
    code, said = command("erode", *words, "--checkpoint", "run.ckpt")
    assert code == 0
    notes = [line for line in said.splitlines() if "secret" in line]
    assert len(notes) == (0 if usable else 1)
    assert all(line.startswith("note: your secret cannot be kept in ") for line in notes)
    assert "SealWarning" not in said
    code, said = command("resume", "run.ckpt")
    if usable:
        assert code == 0
        assert "seal" not in said
    else:
        assert code == 2
        assert re.search(
            rf"whether .* carries your seal is unknown: your secret cannot be kept .*; .* set {VARIABLE} to .*; or "
            r"if you trust whoever wrote it, continue it with --trust and --out DIR",
            said,
        )


def _secret_of_a_process(_: int) -> bytes:
    return seals.secret()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="one process after the other proves nothing")
def test_of_several_processes_that_make_the_secret_at_once_all_have_the_same(state: Path) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        assert len(set(pool.map(_secret_of_a_process, range(32), chunksize=1))) == 1
    assert [file.name for file in state.iterdir()] == [seals.FILE]


@posix
def test_containers_know_each_others_checkpoints_by_a_secret_on_a_volume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home that can be written and is gone with its container raises no question: the refusal says what to do."""

    def enter(container: str) -> None:
        (tmp_path / container).mkdir(exist_ok=True)
        monkeypatch.setenv("HOME", str(tmp_path / container))

    monkeypatch.delenv("XDG_STATE_HOME")
    simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
    enter("first")
    simulation.checkpoint(tmp_path / "run.ckpt")
    enter("second")
    with pytest.raises(ForeignCheckpoint, match=r"if a job of yours did, set XDG_STATE_HOME for both to one folder"):
        sw.Simulation.resume(tmp_path / "run.ckpt")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "volume"))
    enter("first")
    simulation.checkpoint(tmp_path / "shared.ckpt")
    enter("second")
    assert sw.Simulation.resume(tmp_path / "shared.ckpt").step == 0
