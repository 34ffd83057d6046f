"""Eroding a file: what is written, what is told, and how a run ends early."""

from __future__ import annotations

import dataclasses
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
from slopewash.cli import main

Run = Callable[..., Any]

QUICK = ("--backend", "reference", "--steps", 6)
QUICKEST = (*QUICK, "--no-settle")
ONE_GRID = ("--preset", "single_grid")


def test_a_sea_is_a_parameter_like_any_other(run: Run, raw: Path, tmp_path: Path) -> None:
    low, high = sw.read(raw).range("elevation")
    level = low + 0.3 * (high - low)
    model = ("--model", "virtual_pipes", *QUICKEST, "--json")
    report = json.loads(run("erode", raw, "-o", tmp_path / "sea.exr", "--set", f"sea_level={level}", *model).out)
    assert report["parameters"]["sea_level"] == pytest.approx(level)
    assert report["budget"]["water_sea"] != 0
    report = json.loads(run("erode", raw, "-o", tmp_path / "dry.exr", "--set", "sea_level=none", *model).out)
    assert report["parameters"]["sea_level"] == "-inf"
    assert report["budget"]["water_sea"] == 0
    assert " none " in run("models", "virtual_pipes").out


@pytest.mark.parametrize(("strength", "told"), [(0.02, False), (1, True)])
def test_a_sea_that_silts_up_is_told(run: Run, tmp_path: Path, strength: float, told: bool) -> None:
    sw.write(sw.generate("dome", size=64, seed=3), tmp_path / "dome.npz")
    out, sea = tmp_path / "coast.npz", ("--set", "sea_level=300")
    done = run("erode", tmp_path / "dome.npz", "-o", out, "--backend", "cpu", *sea, "--strength", strength)
    assert (done.code, "silted up" in done.err) == (0, told)


def test_eroding_writes_every_layer_and_prints_the_budget(run_outside: Run, raw: Path, tmp_path: Path) -> None:
    done = run_outside("erode", "raw.exr", "-o", "eroded.exr", *QUICKEST, *ONE_GRID, "--threads", 1)
    assert (done.code, done.err) == (0, "")
    assert "drift" in done.out
    assert "\n6 steps on reference" in done.out
    eroded = sw.read(tmp_path / "eroded.exr")
    assert {"elevation", "water", "flow", "wear", "deposit"} <= set(eroded)
    assert not np.array_equal(eroded["elevation"], sw.read(raw)["elevation"])


def test_the_report_for_programs_is_json(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.npz")
    done = run("erode", raw, "-o", out, *QUICKEST, *ONE_GRID, "--seed", 3, "--set", "rain_rate=0.04", "--json")
    assert done.code == 0
    report = done.json
    assert (report["steps"], report["steps_wanted"], report["interrupted"]) == (6, 6, False)
    assert (report["preset"], report["edges"], report["seed"]) == ("single_grid", "open", 3)
    assert report["parameters"]["rain_rate"] == 0.04
    assert report["parameters"]["maximum_erosion_depth"] == "inf"
    assert report["budget"]["solids_drift"] < 1e-5  # float32 fields, float64 sums
    assert out.exists()


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ((), {}),
        (("--preset", "jako2011"), {"model": "jako2011"}),
        (("--model", "virtual_pipes", "--edges", "closed"), {"model": sw.VirtualPipes(), "edges": "closed"}),
        (("--no-settle",), {"settle": False}),
        (("--preset", "chiba_strata", "--dry"), {"model": "chiba_strata", "dry": True}),
    ],
)
def test_the_command_gives_what_the_python_function_gives(
    run: Run, raw: Path, words: tuple[str, ...], arguments: dict[str, Any]
) -> None:
    out = raw.with_name("eroded.exr")
    assert run("erode", raw, "-o", out, *QUICK, "--seed", 5, *words).code == 0
    expected = sw.erode(sw.read(raw), steps=6, backend="reference", seed=5, **arguments)
    result = sw.read(out)
    assert set(result) == set(expected)
    for name, layer in expected.items():
        np.testing.assert_array_equal(result[name], layer, err_msg=name)


def test_gullies_are_drawn_at_the_end(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    assert run("erode", raw, "-o", out, *QUICK, *ONE_GRID, "--gullies", 0.5).code == 0
    expected = sw.erode(sw.read(raw), "single_grid", steps=6, backend="reference", gullies=0.5)
    np.testing.assert_array_equal(sw.read(out)["elevation"], expected["elevation"])
    plain = sw.erode(sw.read(raw), "single_grid", steps=6, backend="reference")
    assert not np.array_equal(plain["elevation"], expected["elevation"])
    assert "gullies is -1" in run("erode", raw, "-o", out, *QUICK, "--gullies", -1).err


def test_a_model_runs_with_its_papers_defaults(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    report = run("erode", raw, "-o", out, *QUICK, "--model", "virtual_pipes", "--edges", "closed", "--json").json
    assert (report["preset"], report["edges"]) == (None, "closed")
    assert report["parameters"]["pipe_area"] == sw.VirtualPipes().pipe_area
    assert (report["settled"], report["settling_steps"]) == (True, 0)
    assert sw.read(out)["suspended"].max() == 0  # laid down though no preset asks for steps of settling


def test_a_preset_named_beside_its_model_says_that_its_parameters_count(run: Run, raw: Path) -> None:
    words = ("erode", raw, "-o", raw.with_name("eroded.exr"), *QUICKEST, "--json", "--preset", "mei2007")
    done = run(*words, "--model", "virtual_pipes")
    assert done.err == (
        "note: the parameters are those of preset mei2007, not the defaults of model virtual_pipes; name one only\n"
    )
    assert done.json["parameters"] == run(*words).json["parameters"]


def test_settling_lasts_as_long_as_the_run_deserves_unless_told_otherwise(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    preset = sw.find_preset("single_grid")
    report = run("erode", raw, "-o", out, *QUICK, *ONE_GRID, "--json").json
    assert (report["settled"], report["settling_steps"]) == (True, preset.settling(6))
    report = run("erode", raw, "-o", out, *QUICK, *ONE_GRID, "--settle", "--json").json
    assert (report["settled"], report["settling_steps"]) == (True, preset.settle)
    report = run("erode", raw, "-o", out, *QUICKEST, *ONE_GRID, "--json").json
    assert (report["settled"], report["settling_steps"]) == (False, 0)
    assert sw.read(out)["suspended"].max() > 0


def test_steps_of_settling_are_told(run: Run, raw: Path, short_settling: int) -> None:
    done = run("erode", raw, "-o", raw.with_name("eroded.npy"), *QUICK, *ONE_GRID)
    assert (done.code, done.err) == (0, "")
    assert f"\n6 steps and {short_settling} of settling on reference" in done.out


@pytest.mark.parametrize("preset", ["jako2011", "mei2007"])
def test_a_preset_without_settling_lays_its_load_down_where_it_is(preset: str, run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    assert run("erode", raw, "-o", out, *QUICK, "--preset", preset).code == 0
    chosen = sw.find_preset(preset)
    simulation = sw.Simulation(sw.read(raw), chosen.model, backend="reference", edges=chosen.edges)
    simulation.run(6)
    assert simulation.terrain["suspended"].max() > 0
    simulation.settle(0)
    eroded = sw.read(out)
    np.testing.assert_array_equal(eroded["elevation"], simulation.terrain["elevation"])
    assert eroded["suspended"].max() == 0


def test_dry_leaves_no_water_and_adds_no_steps(run: Run, raw: Path) -> None:
    out = raw.with_name("eroded.exr")
    report = run("erode", raw, "-o", out, *QUICK, "--preset", "jako2011", "--dry", "--json").json
    assert (report["settled"], report["settling_steps"]) == (True, 0)
    assert sw.read(out)["water"].max() == 0


def test_a_file_of_one_layer_tells_the_load_it_does_not_hold(run: Run, raw: Path) -> None:
    out, layers = raw.with_name("eroded.npy"), raw.with_name("eroded.npz")
    assert run("erode", raw, "-o", layers, *QUICKEST, *ONE_GRID).err == ""
    eroded = sw.read(layers)
    load = eroded["suspended"].sum(dtype=np.float64) * eroded.cell_size**2
    done = run("erode", raw, "-o", out, *QUICKEST, *ONE_GRID)
    assert (done.code, done.err) == (
        0,
        f"note: the water still carries {load:.6g} m³ of sediment, which {out} does not hold\n",
    )


def test_an_interrupted_run_tells_the_load_that_its_file_does_not_hold(
    run: Run, raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupt_at(monkeypatch, "eroding", 20)
    done = run("erode", raw, "-o", raw.with_name("eroded.tif"), *ONE_GRID, "--backend", "reference")
    assert done.code == 130
    told = done.err.splitlines()
    assert "m³ of sediment" in told[0]
    assert told[1].startswith("interrupted after 20 of 4000 steps; what is done is in ")
    assert len(told) == 2


def test_interrupting_the_settling_keeps_what_is_done(run: Run, raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = raw.with_name("eroded.exr")
    _interrupt_at(monkeypatch, "settling", 34)  # a look at 6 + 34 steps
    done = run("erode", raw, "-o", out, *QUICK, *ONE_GRID, "--settle", "--json")
    assert done.code == 130
    assert (done.json["settled"], done.json["settling_steps"], done.json["steps"]) == (False, 34, 6)
    assert done.err.startswith("interrupted after 6 steps and 34 of 600 of settling; what is done is in ")
    assert sw.read(out)["suspended"].max() > 0


@pytest.mark.parametrize("interrupted", [False, True])
def test_ctrl_c_while_the_result_is_written_waits_for_it(
    interrupted: bool, run: Run, raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, picture = raw.with_name("eroded.exr"), raw.with_name("map.png")
    _press_while_writing(monkeypatch)
    if interrupted:
        _interrupt_at(monkeypatch, "eroding", 6)
    done = run("erode", raw, "-o", out, *QUICK, "--model", "virtual_pipes", "--picture", picture)
    assert (done.code, done.err) == (130, f"interrupted; written: {out}\n")
    assert "elevation" in sw.read(out)
    assert not picture.exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_a_picture_is_drawn_tells_what_exists(
    run: Run, raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = raw.with_name("eroded.exr")
    monkeypatch.setattr("slopewash.rendering.render", _press)
    done = run("erode", raw, "-o", out, *QUICKEST, *ONE_GRID, "--picture", raw.with_name("map.png"))
    assert (done.code, done.err) == (130, f"interrupted; written: {out}\n")
    assert out.exists()


def test_ctrl_c_before_the_run_is_told(run: Run, raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slopewash.recipes.sources.read", _press)
    done = run("erode", raw, "-o", raw.with_name("eroded.exr"), *QUICKEST, *ONE_GRID)
    assert (done.code, done.err) == (130, "interrupted\n")


def test_ctrl_c_in_a_demo_tells_what_exists(
    run: Run, tmp_path: Path, short_settling: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("demo", "--out", tmp_path, "--size", 16, "--steps", 2, "--backend", "reference")
    monkeypatch.setattr(sw, "render_view", _press)
    done = run(*words)
    existing = [tmp_path / name for name in ("before.png", "terrain.exr", "budget.json")]
    assert (done.code, done.err) == (130, f"drawing pictures\ninterrupted; written: {', '.join(map(str, existing))}\n")
    assert sorted(tmp_path.iterdir()) == sorted(existing)
    _press_while_writing(monkeypatch)
    assert run(*words).err == done.err.removeprefix("drawing pictures\n")  # held back until the data were written


@pytest.fixture
def short_settling(monkeypatch: pytest.MonkeyPatch) -> int:
    """Steps of settling, fewer than the preset's own, however short the run."""
    preset = dataclasses.replace(sw.find_preset("single_grid"), steps=1, settle=30)
    monkeypatch.setattr("slopewash.recipes.definition.find_preset", lambda name: preset)
    return preset.settle


def _press(*_: object, **__: object) -> None:
    signal.raise_signal(signal.SIGINT)


def _press_while_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    write = sw.write

    def pressed(terrain: sw.Terrain, path: Path, **options: Any) -> Path:
        _press()
        return write(terrain, path, **options)

    monkeypatch.setattr(sw, "write", pressed)
    monkeypatch.setattr("slopewash.recipes.output_kinds.write", pressed)


def _interrupt_at(monkeypatch: pytest.MonkeyPatch, phase: str, steps: int) -> None:
    """Press Ctrl-C once so many steps of a phase are done."""

    class Pressing(sw.Progress):
        def start(self, simulation: sw.Simulation, steps: int, *, label: str = "eroding") -> None:
            super().start(simulation, steps, label=label)
            self.phase = label

        def observe(self, simulation: sw.Simulation) -> None:
            super().observe(simulation)
            if (self.phase, self.done) == (phase, steps):
                _press()

    monkeypatch.setattr(sw, "Progress", Pressing)


def test_whole_numbers_are_heights_once_their_range_is_given(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    source, out = tmp_path / "island.png", tmp_path / "eroded.npz"
    Image.fromarray(np.arange(256, dtype=np.uint16).reshape(16, 16) * 257).save(source)
    assert run("erode", source, "-o", out, *QUICKEST).code == 2
    done = run("erode", source, "-o", out, *QUICKEST, "--height-range", "-20..1400", "--cell-size", 20)
    assert done.code == 0
    eroded = sw.read(out)
    assert eroded.cell_size == 20
    assert eroded.range("elevation")[0] >= -20.5


def test_a_time_step_beyond_the_limit_is_told_in_one_line(run: Run, raw: Path) -> None:
    done = run("erode", raw, "-o", raw.with_name("eroded.exr"), *QUICKEST, *ONE_GRID, "--set", "time_step=0.05")
    assert done.code == 0
    assert done.err.startswith("note: ")
    assert done.err.count("\n") == 1


def test_a_picture_is_drawn_on_request(run: Run, raw: Path) -> None:
    picture = raw.with_name("map.png")
    assert run("erode", raw, "-o", raw.with_name("eroded.exr"), *QUICKEST, *ONE_GRID, "--picture", picture).code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
def test_interrupting_a_run_writes_a_whole_number_of_steps(backend: str, raw: Path, tmp_path: Path) -> None:
    words = ["erode", raw.name, "-o", "eroded.exr", *ONE_GRID, "--steps", "10000000", "--backend", backend, "--json"]
    ours, theirs = pty.openpty()  # the progress bar shows on terminals only
    with subprocess.Popen(
        [sys.executable, "-m", "slopewash", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True
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
    unbroken = sw.erode(sw.read(raw), "single_grid", steps=report["steps"], backend=backend, settle=False)
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


def test_a_spike_of_a_mountain_asks_for_the_cell_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = tmp_path / "spike.npy"
    np.save(raw, 400.0 * np.random.default_rng(1).random((32, 32)))
    assert main(["erode", str(raw), "-o", str(tmp_path / "out.npz"), "--steps", "1", "--backend", "reference"]) == 0
    assert "give --cell-size" in capsys.readouterr().err


def test_emitters_are_given_in_metres(run: Run, tmp_path: Path) -> None:
    slope = sw.Terrain(np.tile(np.arange(20.0)[::-1] * 4, (20, 1)), cell_size=10.0)
    raw = sw.write(slope, tmp_path / "slope.npz")
    out = tmp_path / "cut.npz"
    options = ("--preset", "bezin2010", "--set", "triangles=400", "--backend", "reference", "--steps", 8, "--no-settle")
    done = run(
        "erode", raw, "-o", out, *options, "--emitter", "50,100,15,40,3,90", "--emitter=60,40,10,20,0,0", "--json"
    )
    assert done.code == 0
    model = sw.preset("bezin2010").replace(triangles=400)
    emitters = [
        sw.Emitter(x=50, y=100, radius=15, rate=40, speed=3, direction=90), sw.Emitter(x=60, y=40, radius=10, rate=20),
    ]  # fmt: skip
    expected = sw.erode(slope.replace(emitters=emitters), model, steps=8, backend="reference")
    np.testing.assert_array_equal(sw.read(out)["water"], expected["water"])
    assert expected["water"].max() > 0


@pytest.mark.parametrize(
    ("emitter", "message"),
    [
        ("50,100,15,40", "--emitter is 50,100,15,40; it must be X,Y,RADIUS,RATE,SPEED,DIRECTION in metres"),
        ("50,100,0,40,3,90", "emitter: radius is 0.0 m; it must be positive"),
        ("500,100,5,40,3,90", "emitter at (500, 100) m lies outside the terrain of 200 x 200 m"),
    ],
)
def test_an_impossible_emitter_is_told_in_one_sentence(run: Run, tmp_path: Path, emitter: str, message: str) -> None:
    raw = sw.write(sw.Terrain(np.zeros((20, 20)), cell_size=10.0), tmp_path / "flat.npz")
    done = run("erode", raw, "-o", tmp_path / "cut.npz", "--preset", "bezin2010", "--emitter", emitter)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_emitters_are_refused_for_models_without_particles(run: Run, raw: Path) -> None:
    done = run("erode", raw, "-o", raw.with_name("cut.npz"), "--emitter", "50,100,15,40,3,90")
    assert (done.code, done.err) == (
        2, "slopewash: --emitter is for models with particles; virtual_pipes has none to emit\n",
    )  # fmt: skip


@pytest.mark.parametrize("preset", ["bezin2010", "single_grid"])
def test_a_mesh_is_written_where_the_suffix_asks_for_one(run: Run, tmp_path: Path, preset: str) -> None:
    raw = sw.write(sw.generate("cone", size=17, cell_size=10.0), tmp_path / "cone.npz")
    options = ("--preset", preset, "--backend", "reference", "--steps", 4, "--no-settle")
    triangles = ("--set", "triangles=300") if preset == "bezin2010" else ()
    done = run("erode", raw, "-o", tmp_path / "cone.glb", *options, *triangles)
    assert done.code == 0
    mesh = sw.read_mesh(tmp_path / "cone.glb")
    assert len(mesh.triangles) == (300 if preset == "bezin2010" else 512)
    assert set(mesh.attributes) == {"eroded", "deposited"}


def test_a_real_place_gets_the_gentle_preset_unless_another_is_named(run: Run, tmp_path: Path) -> None:
    heights = sw.generate("dome", size=24, relief=150.0)["elevation"]
    real = sw.write(sw.Terrain(heights, cell_size=30.0, crs="EPSG:32611"), tmp_path / "dem.tif")
    out = tmp_path / "out.tif"
    done = run("erode", real, "-o", out, "--steps", 4, "--json")
    assert (done.code, done.json["preset"]) == (0, "gentle")
    assert done.err.startswith(f"note: {real} is a real place, eroded already: using the preset gentle; ")
    np.testing.assert_array_equal(sw.erode(sw.read(real), steps=4)["elevation"], sw.read(out)["elevation"])
    done = run("erode", real, "-o", out, "--steps", 4, "--preset", "landscape", "--json")
    assert (done.json["preset"], done.err) == ("landscape", "")
