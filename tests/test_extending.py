"""Models and targets of one's own: made word for word as the guides do, then tested like the built-in ones."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.docs.following import nothing_stays_known
from tests.docs.pages import ROOT, blocks

import slopewash as sw
from slopewash import extending


def from_guide(name: str, folder: Path) -> ModuleType:
    """Save the file that a guide shows, and import it."""
    (block,) = [block for block in blocks(ROOT / f"docs/guides/{name}.md") if str(block.note("file")).endswith(".py")]
    file = folder / str(block.note("file"))
    file.write_text(block.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def creep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("model")
    with nothing_stays_known(folder):
        yield from_guide("own_model", folder)


@pytest.fixture
def three(tmp_path: Path) -> Iterator[ModuleType]:
    with nothing_stays_known(tmp_path):
        yield from_guide("own_target", tmp_path)


def test_names_are_sorted_and_all_there() -> None:
    assert all(hasattr(extending, name) for name in extending.__all__)
    assert len(set(extending.__all__)) == len(extending.__all__)


def test_the_model_has_sixty_lines(creep: ModuleType) -> None:
    """Counted without blank ones and without the four that make it a command."""
    assert creep.__file__ is not None
    lines = Path(creep.__file__).read_text(encoding="utf-8").split("if __name__")[0].splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 60


@pytest.mark.parametrize("edges", ["open", "closed", "periodic"])
def test_its_mass_is_conserved(creep: ModuleType, edges: str) -> None:
    rough = sw.generate("ridged", size=24, seed=3)
    nodata = np.zeros(rough.shape, bool)
    nodata[5:8, 4:9] = True
    simulation = sw.Simulation(rough.replace(nodata=nodata), creep.SoilCreep(), edges=edges)  # type: ignore[arg-type]
    simulation.run(50)
    assert simulation.budget.solids_moved > 0
    assert simulation.budget.solids_drift < 1e-12  # float64 fields


def test_it_diffuses_as_the_equation_says(creep: ModuleType) -> None:
    """A sine of wavelength n decays by 1 - 2K(1 - cos 2π/n) in each step."""
    n, rate, steps = 32, 0.1, 20
    wave = np.sin(2 * np.pi * (np.arange(n) + 0.5) / n)
    terrain = sw.Terrain(np.tile(100 + 10 * wave, (4, 1)), cell_size=10.0)
    simulation = sw.Simulation(terrain, creep.SoilCreep(creep_rate=rate), edges="periodic")
    simulation.run(steps)
    expected = (1 - 2 * rate * (1 - np.cos(2 * np.pi / n))) ** steps
    height = np.ptp(simulation.terrain["elevation"][0]) / np.ptp(terrain["elevation"][0])
    assert height == pytest.approx(expected, rel=1e-5)  # float32 layers


def test_a_mirrored_start_gives_the_mirrored_result(creep: ModuleType) -> None:
    terrain = sw.generate("ridged", size=20, seed=3)
    results = []
    for start in (terrain["elevation"], terrain["elevation"][:, ::-1]):
        simulation = sw.Simulation(sw.Terrain(start, cell_size=10.0), creep.SoilCreep(), edges="closed")
        simulation.run(10)
        results.append(simulation.terrain["elevation"])
    assert np.array_equal(results[0], results[1][:, ::-1])


def test_it_is_painted_undone_and_resumed_like_others(creep: ModuleType, tmp_path: Path) -> None:
    simulation = sw.Simulation(sw.generate("ridged", size=24, seed=3), creep.SoilCreep())
    before = simulation.terrain["elevation"]
    simulation.paint("raise", points=[(1000.0, 1000.0)], radius=800.0, strength=5.0)
    assert simulation.budget.solids_edited > 0
    assert simulation.budget.solids_drift < 1e-12
    simulation.undo()
    assert np.array_equal(simulation.terrain["elevation"], before)
    simulation.run(5)
    simulation.checkpoint(tmp_path / "run.ckpt")
    resumed = sw.Simulation.resume(tmp_path / "run.ckpt")
    for run in (simulation, resumed):
        run.run(5)
    assert np.array_equal(simulation.terrain["elevation"], resumed.terrain["elevation"])


def test_steps_beyond_its_limit_are_divided(creep: ModuleType) -> None:
    with pytest.warns(sw.StabilityWarning, match="2 sub-steps"):
        simulation = sw.Simulation(sw.generate("ridged", size=16, seed=3), creep.SoilCreep(creep_rate=0.4))
    simulation.run(20)
    assert np.isfinite(simulation.terrain["elevation"]).all()


def test_it_is_found_by_name_and_misspelt_parameters_are_noticed(creep: ModuleType) -> None:
    assert sw.find_model("soil_creep") is creep.SoilCreep
    with pytest.raises(sw.UnknownName, match="creep_rate"):
        creep.SoilCreep(**{"creep_rat": 1.0})
    assert "names no parameter" in creep.SoilCreep.sliders()[0].why_not(creep.SoilCreep())


def test_a_target_of_ones_own_checks_sizes_and_writes_a_card(three: ModuleType, tmp_path: Path) -> None:
    assert "three" in sw.target_names()
    terrain = sw.generate("dome", size=20, seed=3)
    done = sw.export(terrain, "three", tmp_path / "web")
    heights = np.fromfile(tmp_path / "web" / "heights.f32", "<f4").reshape(20, 20)
    assert np.array_equal(heights, terrain["elevation"].astype(np.float32))
    assert done.card["samples"] == (20, 20)
    assert {path.name for path in done.files} >= {"index.html", "colour.png", "import_card.txt", "import_card.json"}
    with pytest.raises(sw.InvalidParameter, match=r"three takes 2 \.\. 2048"):
        sw.export(terrain, "three", tmp_path / "large", size=4096, fit="resample")
    with pytest.raises(sw.UnknownName, match="three"):
        sw.export(terrain, "threee", tmp_path / "other")
