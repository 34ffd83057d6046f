"""Eroding a file: what is written, what is told, and how a run ends early."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw

Run = Callable[..., Any]

QUICK = ("--backend", "reference", "--steps", 6)
QUICKEST = (*QUICK, "--no-settle")


def test_eroding_writes_every_layer_and_prints_the_budget(run_outside: Run, raw: Path, tmp_path: Path) -> None:
    done = run_outside("erode", "raw.exr", "-o", "eroded.exr", *QUICKEST, "--threads", 1)
    assert (done.code, done.err) == (0, "")
    assert "drift" in done.out
    assert "6 of 6 steps on reference" in done.out
    eroded = sw.read(tmp_path / "eroded.exr")
    assert {"elevation", "water", "flow", "wear", "deposit"} <= set(eroded)
    assert not np.array_equal(eroded["elevation"], sw.read(raw)["elevation"])


def test_the_report_for_programs_is_json(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.npz")
    done = run("erode", raw, "-o", out, *QUICKEST, "--seed", 3, "--set", "rain_rate=0.04", "--json")
    assert done.code == 0
    report = done.json
    assert (report["steps"], report["steps_wanted"], report["interrupted"]) == (6, 6, False)
    assert (report["preset"], report["edges"], report["seed"]) == ("landscape", "open", 3)
    assert report["parameters"]["rain_rate"] == 0.04
    assert report["parameters"]["maximum_erosion_depth"] == "inf"
    assert report["budget"]["solids_drift"] < 1e-5  # float32 fields, float64 sums
    assert out.exists()


def test_the_command_gives_what_the_python_api_gives(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    assert run("erode", raw, "-o", out, *QUICKEST, "--seed", 5, "--preset", "landscape").code == 0
    expected = sw.erode(sw.read(raw), sw.preset("landscape"), steps=6, backend="reference", edges="open", seed=5)
    np.testing.assert_array_equal(sw.read(out)["elevation"], expected["elevation"])


def test_a_model_runs_with_its_papers_defaults(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    report = run("erode", raw, "-o", out, *QUICK, "--model", "virtual_pipes", "--edges", "closed", "--json").json
    assert (report["preset"], report["edges"], report["settled"]) == (None, "closed", False)
    assert report["parameters"]["pipe_area"] == sw.VirtualPipes().pipe_area


def test_settling_follows_the_preset_unless_refused(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    assert run("erode", raw, "-o", out, *QUICK, "--json").json["settled"]
    assert not run("erode", raw, "-o", out, *QUICKEST, "--json").json["settled"]


def test_dry_leaves_no_water(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    assert run("erode", raw, "-o", out, *QUICK, "--dry").code == 0
    assert sw.read(out)["water"].max() == 0


def test_whole_numbers_are_heights_once_their_range_is_given(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    source, out = tmp_path / "island.png", tmp_path / "eroded.npz"
    Image.fromarray(np.arange(256, dtype=np.uint16).reshape(16, 16) * 257).save(source)
    assert run("erode", source, "-o", out, *QUICKEST).code == 2
    done = run("erode", source, "-o", out, *QUICKEST, "--height-range", "-20,1400", "--cell-size", 20)
    assert done.code == 0
    eroded = sw.read(out)
    assert eroded.cell_size == 20
    assert eroded.range("elevation")[0] >= -20.5


def test_a_time_step_beyond_the_limit_is_told_in_one_line(run: Run, raw: Path) -> None:
    done = run("erode", raw, "-o", raw.with_name("eroded.exr"), *QUICKEST, "--set", "time_step=0.05")
    assert done.code == 0
    assert done.err.startswith("note: ")
    assert done.err.count("\n") == 1


def test_a_picture_is_drawn_on_request(run: Run, raw: Path) -> None:
    picture = raw.with_name("map.png")
    assert run("erode", raw, "-o", raw.with_name("eroded.exr"), *QUICKEST, "--picture", picture).code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_interrupting_a_run_writes_a_whole_number_of_steps(backend: str, raw: Path, tmp_path: Path) -> None:
    words = ["erode", raw.name, "-o", "eroded.exr", "--steps", "10000000", "--backend", backend, "--json"]
    ours, theirs = pty.openpty()  # the progress bar shows on terminals only
    with subprocess.Popen(
        [sys.executable, "-m", "slopewash.cli", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        try:
            seen = _read_until(ours, rb"[1-9]\d*/10000000", timeout=240)  # kernels may have to be compiled first
            process.send_signal(signal.SIGINT)
            seen += _read_until(ours, rb"what is done is in", timeout=60)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()  # it would run for days
    os.close(ours)
    assert process.returncode == 130
    report = json.loads(out)
    assert report["interrupted"]
    assert 0 < report["steps"] < 10000000
    assert f"interrupted after {report['steps']} of 10000000 steps" in seen.decode()
    unbroken = sw.erode(sw.read(raw), sw.preset("landscape"), steps=report["steps"], backend=backend)
    np.testing.assert_array_equal(sw.read(tmp_path / "eroded.exr")["elevation"], unbroken["elevation"])
    assert max(report["budget"]["water_drift"], report["budget"]["solids_drift"]) < 1e-5  # float64 sums


def _read_until(terminal: int, words: bytes, timeout: float) -> bytes:
    seen, end = b"", time.monotonic() + timeout
    while not re.search(words, seen):
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            pytest.fail(f"waited {timeout} s for {words!r}; saw {seen!r}")
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
    return seen
