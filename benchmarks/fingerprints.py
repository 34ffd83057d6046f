"""Hashes of what every preset gives on every backend: run it before and after a change that must not alter results.

    python benchmarks/fingerprints.py before.json
    python benchmarks/fingerprints.py after.json --against before.json

Hashes hold for one machine: the width of its vectors and its graphics driver decide the last digits of some sums.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import slopewash as sw

SIZES = (40, 72)
STEPS = {"virtual_pipes": 45, "steepest_talus": 60, "velocity_field": 6, "mesh_particles": 24}
SETTLE = {"virtual_pipes": 11, "steepest_talus": 0, "velocity_field": 3, "mesh_particles": 7}

Case = tuple[str, Callable[[str], sw.Simulation]]


def preset_case(name: str, size: int) -> Case:
    """A preset on the terrain it starts from."""
    preset = sw.find_preset(name)

    def run(backend: str) -> sw.Simulation:
        start = sw.generate(preset.generator, **{**preset.start, "size": size, "seed": 3})
        if preset.strata is not None:
            start = start.replace(strata=preset.strata.fitted(start.relief))
        model: Any = preset.model
        if model.name == "mesh_particles":
            model = model.replace(triangles=20 * size)
        simulation = sw.Simulation(start, model, backend=backend, edges=preset.edges, seed=5)
        simulation.run(STEPS[model.name])
        simulation.settle(SETTLE[model.name])
        return simulation

    return f"{name}/{size}", run


def eventful_case(name: str, size: int) -> Case:
    """A run with all that can happen: strata or a hole, sources, edits, undo, other parameters, a dry end."""
    preset = sw.find_preset(name)

    def run(backend: str) -> sw.Simulation:
        start = sw.generate("dome", size=size, cell_size=10.0, seed=4)
        model: Any = preset.model
        if model.name == "mesh_particles":
            model = model.replace(triangles=20 * size)
        else:
            start = (
                start.replace(strata=sw.strata_bands(count=7, dip=3.0, direction=120.0).fitted(start.relief))
                if size == SIZES[0]
                else with_hole(start)
            )
        simulation = sw.Simulation(start, model, backend=backend, edges="open", seed=5)
        simulation.run(STEPS[model.name] // 3)
        events(simulation, start)
        simulation.run(STEPS[model.name] // 3)
        simulation.settle(SETTLE[model.name], dry=True)
        return simulation

    return f"eventful {name}/{size}", run


def with_hole(start: sw.Terrain) -> sw.Terrain:
    """Take some cells of ground away."""
    rows, columns = start.shape
    hole = np.zeros(start.shape, bool)
    hole[rows // 4 : rows // 2, columns // 3 : columns // 2] = True
    hole[-3:, :5] = True
    return start.replace(nodata=hole)


def events(simulation: sw.Simulation, start: sw.Terrain) -> None:
    """Paint, add sources, take some of it back, change parameters."""
    model: Any = simulation.model
    editable = model.editable() if callable(model.editable) else model.editable
    x, y = 0.4 * start.width, 0.6 * start.height
    near = start.width / 6
    for tool in ("raise", "lower", "add_water", "rain", "soften"):
        brush = next(b for b in sw.brushes() if b.name == tool)
        if brush.layer in editable and not (brush.layer == "erodibility" and start.strata is not None):
            simulation.paint(tool, points=[(x, y), (x + near, y)], radius=near)
    if "elevation" in editable:
        simulation.paint("lower", points=[(0.0, y)], radius=near)  # below the base level of the edge
        simulation.paint("raise", points=[(x, 2 * near)], radius=near)
        simulation.undo()
    if model.name == "virtual_pipes":
        simulation.sources = [sw.WaterSource(x=x, y=near, radius=near / 2, rate=0.5)]
        simulation.model = model.replace(rain_rate=0.03, thermal_rate=0.5)
    if model.name == "steepest_talus":
        simulation.model = model.replace(talus_angle=25.0)
    if model.name == "velocity_field":
        simulation.model = model.replace(flow_erosion=1e-4)
    if model.name == "mesh_particles":
        simulation.set_emitters(sw.Emitter(x=x, y=y, radius=near, rate=400.0, speed=1.0, direction=90.0))
        simulation.model = model.replace(erosion_rate=2 * model.erosion_rate, triangles=16 * start.shape[0])


def cases() -> Iterator[Case]:
    """Everything that is run on every backend."""
    for size in SIZES:
        for name in sw.presets():
            yield preset_case(name, size)
        for name in ("single_grid", "jako2011", "outerrain", "chiba_fig3", "bezin2010"):
            if name in sw.presets():
                yield eventful_case(name, size)


def fingerprint(simulation: sw.Simulation) -> dict[str, str]:
    """Hash of each layer and of the budget."""
    terrain = simulation.terrain
    prints = {name: hashlib.sha256(terrain[name].tobytes()).hexdigest()[:16] for name in terrain}
    amounts = simulation.budget.as_dict()
    known = {name: amount for name, amount in amounts.items() if amount or not name.endswith(("_resampled", "_sea"))}
    budget = json.dumps(known, sort_keys=True)
    return prints | {"budget": hashlib.sha256(budget.encode()).hexdigest()[:16]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="JSON file to write")
    parser.add_argument("--against", type=Path, help="file of an earlier run to compare with")
    parser.add_argument("--backends", default=",".join(sw.available_backends()), help="comma-separated")
    parser.add_argument("--only", default="", help="part of a case's name")
    args = parser.parse_args()
    warnings.simplefilter("ignore", sw.StabilityWarning)
    prints: dict[str, dict[str, str]] = {}
    for name, run in cases():
        for backend in args.backends.split(","):
            if args.only not in name:
                continue
            with run(backend) as simulation:
                prints[f"{name} {backend}"] = fingerprint(simulation)
            print(f"{name} {backend}", file=sys.stderr)
    args.out.write_text(json.dumps(prints, indent=1, sort_keys=True) + "\n")
    if args.against is None:
        return 0
    before = json.loads(args.against.read_text())
    differ = {
        name: sorted(layer for layer in {*print_, *before[name]} if print_.get(layer) != before[name].get(layer))
        for name, print_ in prints.items()
        if name in before and print_ != before[name]
    }
    for name, layers in differ.items():
        print(f"{name}: {', '.join(layers)}")
    print(f"{len(prints) - len(differ)} of {len(prints)} the same")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
