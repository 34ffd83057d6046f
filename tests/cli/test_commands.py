"""The other commands: what they write and print."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash import seals
from slopewash.cli.models import parameter_table
from slopewash.models.catalogue import Level

Run = Callable[..., Any]


def test_generating_is_the_same_as_the_python_api(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "raw.npz"
    words = ("--size", 20, "--cell-size", 5, "--seed", 4, "--relief", 30)
    assert run("generate", "diamond_square", "-o", out, *words).code == 0
    terrain = sw.read(out)
    expected = sw.generate("diamond_square", size=20, cell_size=5.0, seed=4, relief=30.0)
    np.testing.assert_array_equal(terrain["elevation"], expected["elevation"])
    assert terrain.cell_size == 5


@pytest.mark.parametrize("kind", sw.generator_names())
def test_every_option_of_every_generator_can_be_given(kind: str, run: Run, tmp_path: Path) -> None:
    options: dict[str, Any] = {option.name: option.default for option in sw.generator_options(kind)}
    options |= {"octaves": 3, "feature_size": 2000.0} if "octaves" in options else {}
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    out = tmp_path / "raw.npy"
    assert run("generate", kind, "-o", out, "--size", 12, *words).code == 0
    np.testing.assert_array_equal(sw.read(out)["elevation"], sw.generate(kind, size=12, **options)["elevation"])
    explained = run("generate", kind, "--explain").out
    assert all(f"--{name.replace('_', '-')}" in explained for name in options)
    assert all(option.doc for option in sw.generator_options(kind))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("dome", "--nois", 1), 'unknown option of dome "--nois"; did you mean "--noise"?'),
        (("dome", "--sizes", 16), 'unknown option of dome "--sizes"; did you mean "--size"?'),
        (("dome", "--noise", "loud"), "--noise is loud; it must be a number"),
        (("dome", "--noise", -2), "noise is -2.0; it must be within 0 .. 1"),
        (("fbm", "--octaves", 2.5), "--octaves is 2.5; it must be a whole number"),
    ],
)
def test_bad_options_of_generators_are_refused(run: Run, tmp_path: Path, words: tuple[Any, ...], expected: str) -> None:
    done = run("generate", *words, "-o", tmp_path / "raw.npy")
    assert done.code == 2
    assert expected in done.err
    assert done.err.count("\n") == 1


def test_generating_reports_as_json(run: Run, tmp_path: Path) -> None:
    report = run("generate", "ramp", "-o", tmp_path / "ramp.tif", "--size", 16, "--json").json
    assert (report["rows"], report["columns"], report["kind"]) == (16, 16, "ramp")
    assert report["highest"] - report["lowest"] == pytest.approx(1280.0)


@pytest.mark.parametrize(
    ("words", "cell_size", "relief"),
    [
        (("--size", 32), 160.0, 1280.0),
        (("--size", 64), 80.0, 1280.0),
        (("--size", 64, "--extent", 640), 10.0, 160.0),
        (("--size", 64, "--cell-size", 20), 20.0, 320.0),
    ],
)
def test_the_number_of_cells_does_not_change_the_extent(
    run: Run, tmp_path: Path, words: tuple[Any, ...], cell_size: float, relief: float
) -> None:
    report = run("generate", "ramp", "-o", tmp_path / "ramp.npz", *words, "--json").json
    assert report["cell_size"] == cell_size
    assert report["highest"] - report["lowest"] == pytest.approx(relief)


@pytest.mark.parametrize(
    ("words", "extent"), [((), 1280.0), (("--extent", 2400), 2400.0)], ids=["the preset's own", "given"]
)
def test_a_demo_of_fewer_cells_shows_the_same_ground(
    run: Run, tmp_path: Path, words: tuple[Any, ...], extent: float
) -> None:
    demo = ("demo", "--out", tmp_path, "--preset", "chiba_fig2", "--size", 24, "--steps", 1, "--backend", "reference")
    assert run(*demo, *words).code == 0
    assert sw.read(tmp_path / "terrain.exr").width == pytest.approx(extent)


def test_a_demo_leaves_other_files_of_its_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slopewash.cli.demo.draw_pictures", lambda *_: iter(()))
    (tmp_path / "new-budget.json").write_text("of this year")
    words = ("--preset", "outerrain", "--size", 16, "--steps", 1, "--backend", "reference")
    assert run("demo", "-o", tmp_path, *words).code == 0
    assert (tmp_path / "new-budget.json").read_text() == "of this year"
    assert json.loads((tmp_path / "budget.json").read_text())["steps"] == 1


def test_info_reports_header_and_statistics(run: Run, raw: Path) -> None:
    report = run("info", raw, "--json").json
    assert (report["width"], report["height"], report["cell_size"]) == (24, 24, 10.0)
    terrain = sw.read(raw)
    assert report["statistics"]["elevation"]["maximum"] == pytest.approx(terrain.range("elevation")[1])
    assert report["local_minima"] == sw.local_minima(terrain["elevation"])
    words = run("info", raw).out
    assert "local minima" in words
    assert "elevation" in words


def test_info_counts_no_nodata_as_pits(run: Run, tmp_path: Path) -> None:
    ground = np.full((16, 16), 5.0)
    ground[6, 6], ground[9, 9] = 0.0, 4.0
    hole = np.zeros((16, 16), dtype=bool)
    hole[6, 6] = True
    file = tmp_path / "holed.exr"
    sw.write(sw.Terrain(ground, nodata=hole), file)
    report = run("info", file, "--json").json
    assert (report["cells_without_data"], report["local_minima"]) == (1, 1)


def test_info_reports_the_header_of_a_picture_without_heights(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    file = tmp_path / "grey.png"
    Image.fromarray(np.zeros((4, 5), dtype=np.uint16)).save(file)
    done = run("info", file, "--json")
    assert done.code == 0
    assert (done.json["width"], done.json["bits"]) == (5, 16)
    assert "--height-range" in done.json["note"]
    assert run("info", file, "--height-range", "0..10", "--json").json["statistics"]["elevation"]["maximum"] == 0


def test_info_reads_a_raw_file_that_is_not_square(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "heights.r16"
    np.arange(12, dtype="<u2").tofile(file)
    report = run("info", file, "--shape", "3,4", "--height-range", "0..65535", "--json").json
    assert (report["height"], report["width"]) == (3, 4)
    assert report["statistics"]["elevation"]["maximum"] == 11


def test_models_lists_models_and_presets(run: Run) -> None:
    words = run("models").out
    assert all(name in words for name in (*sw.model_names(), *sw.presets()))
    report = run("models", "--json").json
    assert [model["name"] for model in report["models"]] == list(sw.model_names())
    assert [preset["name"] for preset in report["presets"]] == list(sw.presets())


def test_models_shows_the_values_of_levels(run: Run) -> None:
    words = run("models", "landscape").out
    rows = dict(line.split(maxsplit=1) for line in words.splitlines() if len(line.split()) > 1)  # the last of each name
    levels = sw.find_preset("landscape").levels
    assert rows["cells"].split() == [str(level.cells) for level in levels]
    for name in levels[0].parameters:  # as --set takes them
        assert rows[name].split() == [f"{level.parameters[name]:g}" for level in levels]


@pytest.mark.parametrize(("rates", "shown"), [((), "by level, below"), ((0.7,), "by level, below *")])
def test_models_marks_what_differs_from_the_default_on_some_level(rates: tuple[float, ...], shown: str) -> None:
    model = sw.VirtualPipes()
    levels = [Level(cells=64, steps=1, settle=0, parameters={"rain_rate": r}) for r in (model.rain_rate, *rates)]
    names, _, values = (column.cells for column in parameter_table(model, levels).columns[:3])
    assert dict(zip(names, values, strict=True))["rain_rate"] == shown


@pytest.mark.parametrize("name", ["virtual_pipes", "single_grid"])
def test_models_lists_every_parameter(name: str, run: Run) -> None:
    parameters = sw.find_model("virtual_pipes").parameters()
    words = run("models", name).out
    assert all(p.name in words for p in parameters)
    listed = run("models", name, "--json").json["parameters"]
    assert [entry["name"] for entry in listed] == [p.name for p in parameters]
    assert all(entry["doc"] for entry in listed)


@pytest.mark.parametrize("name", sw.model_names())
def test_models_lists_every_layer(name: str, run: Run) -> None:
    model, words = sw.find_model(name), run("models", name).out
    listed = {layer["name"]: layer for layer in run("models", name, "--json").json["layers"]}
    assert list(listed) == list(model.layers())
    assert tuple(n for n, layer in listed.items() if layer["can_be_painted"]) == model.editable()
    for layer in model.layers().values():
        assert layer.name in words
        assert listed[layer.name]["doc"] == layer.doc
        assert (listed[layer.name]["symbol"], listed[layer.name]["units"]) == (layer.symbol, layer.units)


def test_models_shows_a_presets_own_values(run: Run) -> None:
    listed = {p["name"]: p for p in run("models", "single_grid", "--json").json["parameters"]}
    preset = sw.find_preset("single_grid").model
    for name, value in preset.changed().items():
        assert listed[name]["value"] == (str(value) if value == float("inf") else value)


def test_doctor_finds_backends_libraries_and_cache(run: Run) -> None:
    report = run("doctor", "--json").json
    assert {backend["name"] for backend in report["backends"]} == set(sw.backend_names())
    assert all(report["libraries"].values())
    assert report["threads"]["used"] >= 1
    assert {extra["name"] for extra in report["extras"]} >= {"xarray"}
    words = run("doctor").out
    assert "backend    cpu" in words
    assert report["secret"] == {"folder": str(seals.state_folder()), "problem": None, "remedy": None}
    assert f"secret     kept in {seals.state_folder()}\n" in words


def test_doctor_says_why_the_secret_cannot_be_used(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME", str(tmp_path / "file"))
    assert re.search(
        r"\nsecret     your secret cannot be kept in .*; make that folder writable, or set", run("doctor").out
    )


def test_doctor_puts_every_backend_to_a_test_against_the_reference(run: Run) -> None:
    report = run("doctor", "--json").json
    assert [backend["name"] for backend in report["backends"]] == ["gpu", "cpu", "reference"]
    for backend in report["backends"]:
        assert backend["works"] == (backend["test"] is not None)
        assert backend["test"] is None or backend["test"].startswith("agrees with the reference")


@pytest.mark.gpu
def test_doctor_lists_adapters_with_their_limits(run: Run) -> None:
    report = run("doctor", "--json").json
    assert report["adapters"]
    for adapter in report["adapters"]:
        assert adapter["limits"]["max-storage-buffer-binding-size"] >= 1 << 27
        assert adapter["name"] in run("doctor", "--adapter", adapter["name"]).out


@pytest.mark.gpu
def test_an_adapter_named_is_the_one_that_runs(run: Run, raw: Path, tmp_path: Path) -> None:
    name = run("doctor", "--json").json["adapters"][-1]["name"]
    words = ("erode", raw, "-o", tmp_path / "eroded.exr", "--steps", 2, "--no-settle", "--json", "--adapter")
    assert run(*words, name.upper()).json["backend"] == "gpu"
    refused = run(*words, "no such card")
    assert refused.code == 2
    assert "no adapter's name contains 'no such card'; there are" in refused.err
    assert "take --backend gpu" in run(*words, name, "--backend", "cpu").err


@pytest.mark.gpu
def test_bench_sets_a_gpu_run_against_what_the_adapter_copies(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from slopewash.cli import timing

    monkeypatch.setattr(timing, "COPIED_CELLS", 2**16)
    words = ("bench", "--size", 24, "--backend", "gpu", "--preset", "outerrain", "--steps", 2)
    report = run(*words, "--json").json
    result = report["results"][0]
    assert result["traffic"] == {"choose": 8, "gather": 12}
    assert result["share_of_copying"] == pytest.approx(
        20 * 24**2 / (result["milliseconds"] * 1e-3) / report["gpu"]["copied_bytes_per_second"]
    )
    assert "choose 8 + gather 12 = 20" in run(*words).out


def test_doctor_gives_a_remedy_without_a_cache(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from slopewash.cli import doctor

    monkeypatch.setattr(doctor, "_can_write", lambda folder: False)
    assert "NUMBA_CACHE_DIR" in run("doctor").out


def test_doctor_names_the_folder_that_the_kernels_are_kept_under(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba
    from numba.core.caching import FunctionCache

    from slopewash.cli import doctor
    from slopewash.models.virtual_pipes import rows

    def kept() -> Path:
        kernel: Any = rows.total
        return Path(FunctionCache(kernel.py_func).cache_path)  # type: ignore[no-untyped-call]

    folder = run("doctor", "--json").json["kernel_cache"]["folder"]
    assert kept().is_relative_to(folder)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))
    assert doctor.kernel_cache()["folder"] == str(tmp_path / "kernels")
    assert kept().is_relative_to(tmp_path / "kernels")


def test_kernels_are_not_kept_and_still_compile_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import CacheImpl

    from slopewash.backends.compiled import kernel

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])  # as if every folder refused

    def twice(x: float) -> float:
        return 2 * x

    compiled: Any = kernel(twice)
    assert compiled._cache.cache_path is None
    assert compiled(2.0) == 4.0


def test_bench_measures_and_shows_the_papers_figures(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slopewash.cli.timing.ROUNDS", 2)
    monkeypatch.setattr("slopewash.cli.timing.COPIED_CELLS", 2**16)
    words = ("bench", "--size", 16, 24, "--backend", "reference", "--preset", "jako2011", "--steps", 2)
    done = run(*words)
    assert done.code == 0
    assert "1647" in done.out
    assert "15.47" in done.out
    assert "91.5" in done.out
    assert "7.706" in done.out
    results = run(*words, "--json").json["results"]
    assert [(r["size"], r["backend"], r["preset"]) for r in results] == [
        (16, "reference", "jako2011"),
        (24, "reference", "jako2011"),
    ]
    assert all(r["milliseconds"] > 0 and r["cells_per_second"] > 0 and r["layer_copies"] > 0 for r in results)


def test_bench_measures_a_model_with_its_own_defaults(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slopewash.cli.timing.ROUNDS", 1)
    monkeypatch.setattr("slopewash.cli.timing.COPIED_CELLS", 2**16)
    words = ("bench", "--size", 16, "--backend", "reference", "--model", "steepest_talus", "--steps", 2, "--json")
    results = run(*words).json["results"]
    assert [(r["preset"], r["model"]) for r in results] == [(None, "steepest_talus")]


def test_bench_compares_with_the_paper_where_the_same_was_measured() -> None:
    from slopewash.cli.bench import PAPERS, _compare

    here = [{"size": 1024, "preset": "jako2011", "milliseconds": 16.47}]
    assert _compare(PAPERS[0], here) == "100 times faster"
    assert _compare(PAPERS[1], here) == "1.06 times slower"
    assert "not measured" in _compare(PAPERS[2], here)


@pytest.mark.slow
def test_demo_writes_pictures_layers_and_a_balanced_budget(run_outside: Run, tmp_path: Path) -> None:
    done = run_outside("demo", "--size", 48, "--steps", 20, "--backend", "reference")
    assert (done.code, done.err) == (0, "drawing pictures\n")
    folder = tmp_path / "out" / "demo"
    for name in ("before", "after", "view", "flow", "wear_deposit"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f"{name}.png" in done.out
    assert {"elevation", "water", "flow", "wear", "deposit", "difference"} <= set(sw.read(folder / "terrain.exr"))
    report = json.loads((folder / "budget.json").read_text(encoding="utf-8"))
    assert report["steps"] == 20
    assert report["budget"]["water_drift"] < 1e-5  # float32 fields, float64 sums
    assert "drift" in done.out


def test_rendering_is_the_same_as_the_python_api(run: Run, raw: Path, tmp_path: Path) -> None:
    out, expected = tmp_path / "view.png", tmp_path / "expected.png"
    done = run(
        "render", raw, "-o", out, "--width", 160, "--season", "winter", "--sun", "135,20", "--snow-line", "none",
        "--water", "none",
    )  # fmt: skip
    assert (done.code, done.out) == (0, f"{out}\n")
    sw.render_view(
        sw.read(raw), expected, size=(160, 100), season="winter", sun=(135, 20), snow_line=None, water="none"
    )
    assert out.read_bytes() == expected.read_bytes()


def test_rendering_adds_rivers_unless_the_file_has_them(run: Run, raw: Path, tmp_path: Path) -> None:
    watered = tmp_path / "watered.npz"
    sw.write(sw.add_water(sw.read(raw)), watered)
    for name, file in (("a", raw), ("b", watered)):
        assert run("render", file, "-o", tmp_path / f"{name}.png", "--view", "map", "--width", 96).code == 0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--sun", "dusk"), "unknown sun"),
        (("--sun", "a,b"), "--sun is a,b"),
        (("--snow-line", "high"), "--snow-line is high"),
        (("-o", "view.jpg"), "must end in .png"),
    ],
)
def test_rendering_names_what_it_cannot_use(
    run: Run, raw: Path, tmp_path: Path, words: tuple[str, ...], named: str
) -> None:
    output = () if "-o" in words else ("-o", tmp_path / "view.png")
    done = run("render", raw, *output, *words)
    assert done.code == 2
    assert named in done.err


def test_the_library_lists_recipes_and_shows_what_one_is_made_of(run: Run) -> None:
    listed = run("recipes")
    assert listed.code == 0
    assert all(name in listed.out for name in sw.looks())
    shown = run("recipes", "archipelago")
    assert "islands" in shown.out
    assert "of the relief" in shown.out
    assert {look["name"] for look in run("recipes", "--json").json["recipes"]} == set(sw.looks())
    assert 'did you mean "mesas"' in run("recipes", "mesa").err


def test_demo_makes_a_landscape_of_the_library(run: Run, tmp_path: Path) -> None:
    words = ("demo", "--out", tmp_path, "--recipe", "archipelago", "--size", 48, "--steps", 8)
    done = run(*words, "--json")
    assert done.code == 0
    assert done.json["parameters"]["sea_level"] > 0
    assert (tmp_path / "view.png").exists()
    assert "name one only" in run(*words, "--preset", "landscape").err
    assert "steps is 0" in run(*words[:-1], 0).err
