"""Odd surroundings: locales, closed streams, special files, environment variables, signals and little memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import slopewash as sw
from slopewash.errors import NotEnoughMemory

COMMAND = [sys.executable, "-m", "slopewash"]
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def outside(
    folder: Path, *words: object, shell: str = "", variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in its own process; `shell` is appended, such as a redirection; empty variables are unset."""
    environment = {k: v for k, v in (os.environ | (variables or {})).items() if v}
    line = " ".join([*COMMAND, *map(str, words), shell])
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, cwd=folder, env=environment, timeout=120, check=False
    )


def test_an_ascii_locale_loses_no_command(tmp_path: Path) -> None:
    made = outside(tmp_path, "generate", "dome", "-o", "größe.exr", "--size", 16, variables=ASCII)
    assert (made.returncode, made.stderr) == (0, "")
    assert (tmp_path / "größe.exr").is_file()
    eroded = outside(
        tmp_path, "erode", "größe.exr", "-o", "out.exr", "--steps", 2, "--backend", "reference", "--preset", "jako2011",
        variables=ASCII,
    )  # fmt: skip
    assert eroded.returncode == 0, eroded.stderr
    assert "of soil moved" in eroded.stdout
    shown = outside(tmp_path, "models", "landscape", variables=ASCII)
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize(("redirection", "code"), [(">&-", 0), (">&- 2>&-", 0), ("> /dev/full", 2)])
def test_closed_and_full_streams_end_without_a_traceback(redirection: str, code: int, tmp_path: Path) -> None:
    done = outside(tmp_path, "models", shell=redirection)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_links_that_loop_and_pipes_are_no_outputs(tmp_path: Path) -> None:
    (tmp_path / "loop.exr").symlink_to("loop.exr")
    os.mkfifo(tmp_path / "pipe.exr")
    hill = sw.Terrain(np.ones((3, 3)))
    for name, reason in (("loop.exr", "a symbolic link that leads to itself"), ("pipe.exr", "not a regular file")):
        with pytest.raises(sw.InvalidFile, match=rf"cannot write .*{name}: it is {reason}"):
            sw.write(hill, tmp_path / name)
    assert (tmp_path / "pipe.exr").is_fifo()


def test_impossible_threads_and_a_missing_home_are_handled(tmp_path: Path) -> None:
    sw.write(sw.generate("hill", size=12), tmp_path / "hill.exr")
    words = ("erode", "hill.exr", "-o", "out.exr", "--steps", 1, "--preset", "jako2011")
    refused = outside(tmp_path, *words, variables={"NUMBA_NUM_THREADS": "0"})
    assert refused.returncode == 2
    assert refused.stderr.strip() == (
        "slopewash: NUMBA_NUM_THREADS is 0 in the environment; set it to 1 or more, or unset it"
    )
    homeless = outside(tmp_path, *words, "--backend", "reference", variables={"HOME": ""})
    assert homeless.returncode == 0, homeless.stderr


SIGNALLED = """
import os, sys
import slopewash as sw
from slopewash.cli import main

usual = sw.Simulation.run

def run(simulation, steps, **options):
    simulation.add(lambda _: os.kill(os.getpid(), {number}))
    usual(simulation, steps, **options)

sw.Simulation.run = run
sys.exit(main(sys.argv[1:]))
"""
"""A command that gets a signal after the first steps of its run."""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_sigterm_saves_what_is_done_like_ctrl_c(number: int, code: int, tmp_path: Path) -> None:
    sw.write(sw.generate("hill", size=12), tmp_path / "hill.exr")
    script = SIGNALLED.format(number=int(number))
    words = ["erode", "hill.exr", "-o", "out.exr", "--steps", "9999", "--backend", "reference", "--preset", "jako2011"]
    done = subprocess.run(
        [sys.executable, "-c", script, *words, "--json"],
        capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["steps"] < 100
    assert sw.read(tmp_path / "out.exr").shape == (12, 12)


def test_what_killed_writers_left_is_removed_and_what_others_write_is_not(tmp_path: Path) -> None:
    hill = sw.Terrain(np.ones((3, 3)))
    stale, fresh, other = (tmp_path / f".hill.npy.{k * 12}.tmp" for k in "abc")
    foreign = tmp_path / ".hill.npy.backup.tmp"
    for file in (stale, fresh, other, foreign):
        file.write_bytes(b"half")
    for file in (stale, other, foreign):
        os.utime(file, (1e9, 1e9))
    import fcntl

    with other.open("r+b") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        sw.write(hill, tmp_path / "hill.npy")
    assert {file.name for file in tmp_path.iterdir()} == {"hill.npy", fresh.name, other.name, foreign.name}


def test_a_size_that_cannot_fit_is_refused_with_the_figure_and_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slopewash.memory.available_memory", lambda: 1 << 20)
    with pytest.raises(NotEnoughMemory, match=r"terrain of 400 x 400 cells needs about 0.1 GiB .*; use fewer cells"):
        sw.generate("hill", size=400)
    with pytest.raises(
        NotEnoughMemory, match=r"run of virtual_pipes on 100 x 100 cells needs .*fewer cells, or .*tiles"
    ):
        sw.Simulation(sw.Terrain(np.zeros((100, 100))), sw.VirtualPipes(), backend="reference")
