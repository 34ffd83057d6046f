"""Errors against known answers, on every backend, written as a result file and as the table of the site.

Run it: python benchmarks/numerics.py [--table] (--table only writes docs/reference/numerics-table.md anew)
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import slopewash as sw

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.surroundings import facts

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).parent / "results" / "numerics.json"
TABLE = ROOT / "docs" / "reference" / "numerics-table.md"
BACKENDS = ("reference", "cpu", "gpu")
STILL = sw.VirtualPipes(rain_rate=0.0, evaporation_rate=0.0, processes="hydraulic", suspension_rate=0.0)
SLIDES = sw.VirtualPipes(processes="thermal", thermal_rate=10.0, talus_slope_range=0.0, talus_slope_bias=0.6)


def rough(size: int = 64) -> Any:
    return sw.generate("fbm", size=size, cell_size=1.0, relief=14.0, seed=3)["elevation"]


def lake_at_rest(backend: str) -> float:
    """Largest distance of the surface from its level, in units in the last place of the level."""
    bed, level = rough(), np.float32(7.0)
    water = np.maximum(level - bed, 0)
    simulation = sw.Simulation(sw.Terrain(bed, water=water), STILL, backend=backend, edges="closed")
    simulation.run(1000)
    surface = simulation.terrain["elevation"] + simulation.terrain["water"]
    return float(np.abs(surface - level)[water > 0].max() / np.spacing(level))


def rain_and_evaporation(backend: str) -> float:
    """Relative error of the mean depth against `w* (1 - (1 - Ke Δt)^n)` on eroding ground."""
    model = sw.VirtualPipes(rain_rate=0.05, evaporation_rate=0.5)
    simulation = sw.Simulation(sw.Terrain(rough()), model, backend=backend, edges="closed")
    simulation.run(500)
    limit = model.rain_rate * (1 / model.evaporation_rate - model.time_step)
    exact = limit * (1 - (1 - model.evaporation_rate * model.time_step) ** 500)
    return abs(float(simulation.terrain["water"].mean(dtype=np.float64)) / exact - 1)


def angle_of_repose(backend: str) -> float:
    """Relative excess of the steepest slope over the talus once a pile has come to rest."""
    pile = np.zeros((33, 33))
    pile[13:20, 13:20] = 8.0
    simulation = sw.Simulation(sw.Terrain(pile, erodibility=0.8), SLIDES, backend=backend, edges="closed")
    simulation.run(4000)
    b = simulation.terrain["elevation"].astype(np.float64)
    straight = max(np.abs(np.diff(b, axis=axis)).max() for axis in (0, 1))
    diagonal = max(np.abs(b[1:, 1:] - b[:-1, :-1]).max(), np.abs(b[1:, :-1] - b[:-1, 1:]).max()) / math.sqrt(2)
    return max(0.0, float(max(straight, diagonal) / 0.6 - 1))


def round_cone(backend: str) -> float:
    """Relative difference of the radius of a slid pile along an axis and along a diagonal (fall-line law)."""
    size = 65
    y, x = np.mgrid[:size, :size] - size // 2
    pile = np.where(np.hypot(x, y) < 8, 20.0, 0.0)
    model = SLIDES.replace(hillslope="fall_line")
    simulation = sw.Simulation(sw.Terrain(pile, erodibility=1.0), model, backend=backend, edges="closed")
    simulation.run(6000)
    b = simulation.terrain["elevation"].astype(np.float64)
    half = 0.5 * b.max()
    middle = size // 2
    axis = np.interp(-half, -b[middle, middle:], np.arange(size - middle))
    steps = np.arange(size - middle)
    diagonal = np.interp(-half, -b[middle + steps, middle + steps], steps * math.sqrt(2))
    return float(abs(axis / diagonal - 1))


def water_budget(backend: str) -> float:
    """Mass-balance error of the water of 1000 steps of `landscape`'s laws."""
    return _budget(backend).water_drift


def solids_budget(backend: str) -> float:
    """Mass-balance error of the solids of the same run."""
    return _budget(backend).solids_drift


def far_from_reference(backend: str) -> float:
    """Largest difference of the ground from the reference in float64, over its range, after 50 steps (A 1, Kc 0.1)."""
    model = sw.VirtualPipes(pipe_area=1.0, sediment_capacity=0.1)
    terrain = sw.Terrain(rough())
    exact, mine = (sw.Simulation(terrain, model, backend=name, edges="open", seed=1) for name in ("reference", backend))
    exact.run(50)
    mine.run(50)
    heights = exact.terrain["elevation"].astype(np.float64)
    return float(np.abs(mine.terrain["elevation"] - heights).max() / np.ptp(heights))


def _budget(backend: str) -> sw.Budget:
    terrain = sw.generate("dome", size=64, seed=7)
    simulation = sw.Simulation(terrain, sw.preset("landscape"), backend=backend, edges="open", seed=7)
    simulation.run(1000)
    return simulation.budget


CASES: dict[str, tuple[str, Callable[[str], float]]] = {
    "lake at rest over a rough bed, 1000 steps": ("ulp of the level", lake_at_rest),
    "mean depth under rain and evaporation, 500 steps": ("relative", rain_and_evaporation),
    "slope beyond the talus, pile at rest (eight pipes)": ("relative", angle_of_repose),
    "roundness of a slid pile (fall line)": ("relative", round_cone),
    "mass-balance error of water, `landscape`, 1000 steps": ("relative", water_budget),
    "mass-balance error of solids, the same run": ("relative", solids_budget),
    "ground against the reference, 50 steps": ("of the range", far_from_reference),
}


def measure() -> dict[str, Any]:
    """Run every case on every backend that works here."""
    working = [name for name in BACKENDS if name in sw.available_backends()]
    rows = [
        {"case": case, "unit": unit, **{backend: error(backend) for backend in working}}
        for case, (unit, error) in CASES.items()
    ]
    return {"date": datetime.now(UTC).date().isoformat(), **facts(), "rows": rows}


def table(result: dict[str, Any]) -> Iterator[str]:
    """Write the rows of the site's page."""
    backends = [name for name in BACKENDS if name in result["rows"][0]]
    yield "| known answer | error | " + " | ".join(backends) + " |"
    yield "|---|---|" + "---|" * len(backends)
    for row in result["rows"]:
        numbers = " | ".join("0" if row[name] == 0 else f"{row[name]:.2g}" for name in backends)
        yield f"| {row['case']} | {row['unit']} | {numbers} |"
    yield ""
    yield f"Measured on {result['date']}: {result['machine']}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="only write the table anew, from the last result")
    if not parser.parse_args().table:
        RESULT.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    TABLE.write_text("\n".join(table(json.loads(RESULT.read_text(encoding="utf-8")))) + "\n", encoding="utf-8")
    print(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
