"""Figures 2-4 of Bézin et al. 2010 and its frame rates: an adaptive mesh, streams down a mountain, a canyon.

python examples/papers/bezin2010.py          into out/papers/bezin2010
python examples/papers/bezin2010.py --only speed
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from PIL import Image

import slopewash as sw
from slopewash.rendering.colours import colour_table
from slopewash.rendering.mesh_view import FLOW_MAP

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.mesh_particles import measure
from examples.papers.look import CAMERA, gradient, sheet, views
from examples.papers.profiles import section, write
from examples.papers.record import Record, Row, options_of

CELL = 10.0
VIEW: dict[str, Any] = {**CAMERA, "pitch": 42.0}
MOUNTAIN_VIEW: dict[str, Any] = {**CAMERA, "azimuth": 190.0}
TIMED = {
    "figure 3: 130k particles over 80k triangles": (130_000, 80_000, "20, Quadro FX 3700M, drawing included"),
    "figure 4: 130k particles over 20k triangles": (130_000, 20_000, "0.11, 3 Tesla C1060, rendered offline"),
}
"""The scenes of which the paper gives frame rates: particles, triangles and frames per second."""
RADIUS = 0.24
"""Of the particles that are timed, in shortest edges: larger ones would not all fit on 20,000 triangles."""
CUTTING = 0.06
"""Erosion rate of the canyon: high, so that it is deep after few steps."""
MIDDLE = (0.24, 0.51)
"""Row and column in the middle of its close-ups, as fractions of the side."""
CLOSE: dict[str, Any] = {"zoom": 2.5, "sun": (255.0, 28.0)}
WHOLE: dict[str, Any] = {"azimuth": 155.0, "zoom": 1.05}
STREAMS = 7
SEED = 3


def canyon(size: int, seed: int) -> tuple[sw.Terrain, sw.Emitter]:
    """A shallow winding valley down a slope that flattens out, and a river at its head."""
    rows, columns = size, max(3, size * 2 // 3)
    y, x = np.mgrid[0:rows, 0:columns] * CELL
    length, width = rows * CELL, columns * CELL
    s = y / length
    middle = width * (0.5 + 0.12 * np.sin(2 * np.pi * s * 1.3) + 0.04 * np.sin(2 * np.pi * s * 3.1 + 1))
    slope = 0.2 * length * np.clip(1 - s / 0.82, 0, 1) ** 1.1 + 0.007 * length * (1 - s)
    valley = -0.026 * length * np.exp(-(((x - middle) / (0.062 * width)) ** 2)) * np.clip(1.3 - 1.4 * s, 0, 1)
    rough = sw.generate("fbm", size=size, cell_size=CELL, seed=seed, relief=0.01 * length)["elevation"][:, :columns]
    head = rows // 13
    river = sw.Emitter(
        x=float(middle[head, 0]), y=(head + 0.5) * CELL, radius=0.027 * width, rate=16, speed=4, direction=180
    )
    return sw.Terrain(slope + valley + rough + 10 * np.abs(x - middle) / width, cell_size=CELL), river


def mountain(size: int, seed: int) -> tuple[sw.Terrain, list[sw.Emitter]]:
    """A mountain with faint valleys all around, and an emitter at the head of each that faces the camera."""
    y, x = np.mgrid[0:size, 0:size] * CELL
    length = size * CELL
    top = (0.5 * length, 0.4 * length)
    r, turn = np.hypot(x - top[0], y - top[1]) / length, np.arctan2(y - top[1], x - top[0])
    bend = sw.generate("fbm", size=size, cell_size=CELL, seed=seed, relief=1.0)["elevation"]
    phase = STREAMS * turn + 5 * (bend - 0.5)
    height = 0.25 * length * np.exp(-((r / 0.23) ** 2))
    valleys = 0.16 * np.exp(1.5 * (np.cos(phase) - 1)) * np.clip(r / 0.06, 0, 1)
    ridges = sw.generate("ridged", size=size, cell_size=CELL, seed=seed, relief=0.03 * length)["elevation"]
    ground = height * (1 - valleys) + ridges * np.clip(height / (0.12 * length), 0.02, 1) + 0.01 * (length - y)
    emitters = []
    ring = np.abs(r - 0.1) < CELL / length
    for k in range(STREAMS):
        near = ring & (np.abs((turn - 2 * np.pi * k / STREAMS + np.pi) % (2 * np.pi) - np.pi) < np.pi / STREAMS)
        i, j = np.unravel_index(int(np.where(near, ground, np.inf).argmin()), ground.shape)
        if i * CELL > top[1] - 0.05 * length and 2 < j < size - 3:
            emitters.append(
                sw.Emitter(x=(int(j) + 0.5) * CELL, y=(int(i) + 0.5) * CELL, radius=2.5 * CELL, rate=12, speed=1)
            )
    return sw.Terrain(ground, cell_size=CELL), emitters


def draw_levels(terrain: sw.Terrain, out: Path, size: tuple[int, int]) -> None:
    """Figure 2: different levels of subdivision."""
    images, titles = [], []
    for budget in (1000, 4000, 16_000):
        mesh = sw.TriangleMesh.from_terrain(terrain, budget=budget, gradient_weight=24.0, depth_weight=4.0)
        images.append(sw.render_mesh(mesh, wireframe=True, size=size, **VIEW))
        titles.append(f"{len(mesh.triangles):,} triangles")
    sheet(images, titles, out / "bezin-levels.jpg")


def draw_streams(size: int, steps: int, seed: int, out: Path, picture: tuple[int, int]) -> list[float]:
    """Figure 3: streams down a mountain, and what they changed; before and after."""
    terrain, emitters = mountain(size, seed)
    model = sw.MeshParticles(triangles=80_000, depth_weight=2.0, erosion_rate=0.04, transport_time=1500, drag=0.8)
    simulation = sw.Simulation(terrain.replace(emitters=emitters), model)
    before = simulation.terrain.replace(wear=None, deposit=None, water=None)
    simulation.run(steps)
    mesh, particles = simulation.mesh, simulation.particles
    near = {**MOUNTAIN_VIEW, "zoom": 3.0}
    images = [
        sw.render_mesh(mesh, particles=particles, changes=True, size=picture, **MOUNTAIN_VIEW),
        sw.render_mesh(mesh, particles=particles, changes=True, wireframe=True, size=picture, **near),
    ]
    titles = [f"{len(particles):,} particles over {len(mesh.triangles):,} triangles", "purple: eroded or deposited"]
    sheet(images, titles, out / "bezin-streams.jpg")
    simulation.settle(0, dry=True)
    dry = simulation.terrain
    seen = views([before, dry], picture, water=False, azimuth=MOUNTAIN_VIEW["azimuth"])
    sheet(seen, ["before", f"after {steps} steps"], out / "bezin-before-after.jpg")
    change = sw.wear_and_deposit(dry, width=700)
    change.convert("RGB").save(out / "bezin-change.jpg", quality=86)
    return numbers(simulation, len(emitters), len(particles), dry)


def draw_canyon(size: int, steps: int, seed: int, out: Path, picture: tuple[int, int]) -> list[float]:
    """Figure 4: a canyon progressively deepened by a river."""
    terrain, source = canyon(size, seed)
    draw_levels(terrain, out, picture)
    model = sw.MeshParticles(triangles=40_000, erosion_rate=CUTTING, transport_time=2000, drag=0.3)
    simulation = sw.Simulation(terrain.replace(emitters=[source]), model)
    frame = simulation.mesh
    row, column = (int(share * n) for share, n in zip(MIDDLE, terrain.shape, strict=True))
    spot = ((column + 0.5) * CELL, (row + 0.5) * CELL, float(terrain["elevation"][row, column]))
    near: dict[str, Any] = {**VIEW, **CLOSE, "target": spot}
    ground: list[sw.Terrain] = []
    river: list[Image.Image] = []
    for part in range(4):
        simulation.run(steps * part // 3 - simulation.step)
        ground.append(simulation.terrain)
        shown: dict[str, Any] = {"wireframe": part == 0, "frame": frame, "size": picture}
        river.append(sw.render_mesh(simulation.mesh, particles=simulation.particles, **shown, **VIEW | WHOLE))
    after = [f"after {steps * part // 3} steps" for part in range(1, 4)]
    titles = ["upper valley, before", *after]
    titles += [f"whole: {len(frame.triangles):,} triangles", *(f"the river {t}" for t in after)]
    images = [*views(ground, picture, water=False, **near), *river]
    key = partial(gradient, table=colour_table(FLOW_MAP)[::-1], first="newest", last="oldest")
    sheet(images, titles, out / "bezin-canyon.jpg", columns=4, key=key)
    draw_section(ground, ["before", *after], out / "bezin-canyon-section.svg")
    return numbers(simulation, 1, len(simulation.particles), simulation.terrain)


def draw_section(stages: Sequence[sw.Terrain], names: Sequence[str], file: Path) -> None:
    """Draw the canyon in cross-section, in the row where the river has cut most by the end."""
    heights = np.stack([stage["elevation"] / CELL for stage in stages]).astype(np.float64)
    row = int((heights[0] - heights[-1]).sum(axis=1).argmax())
    x = np.arange(heights.shape[2], dtype=np.float64)
    lines = dict(zip(names, heights[:, row], strict=True))
    write([section("across the canyon", "cells from the west", x, lines, width=760)], file)


def numbers(simulation: sw.Simulation, emitters: int, particles: int, terrain: sw.Terrain) -> list[float]:
    """Of one scene: its size, how deep it was cut and filled, what was moved, and the error of the mass balance."""
    depths = [float(terrain[layer].max()) for layer in ("wear", "deposit")]
    moved = simulation.budget.solids_moved / 1e6
    return [emitters, particles, len(simulation.mesh.triangles), *depths, moved, simulation.budget.solids_drift]


def measure_speed(record: Record, *, quick: bool, backend: str) -> None:
    """Steps per second of the two scenes that the paper times, and where the time goes."""
    every = numba.get_num_threads()
    # Fewer than 20,000 would all have left the dome before the clock stops.
    cases = [(20_000, 8000)] if quick else [(20_000, 80_000), *(case[:2] for case in TIMED.values()), (500_000, 80_000)]
    found: dict[tuple[int, int, int], dict[str, Any]] = {}
    try:
        for threads in sorted({1, every} if not quick else {every}):
            numba.set_num_threads(threads)
            for particles, triangles in sorted(cases):
                found[particles, triangles, threads] = measure(particles, triangles, backend, radius=RADIUS)
    finally:
        numba.set_num_threads(every)
    scenes: list[Row] = []
    for (particles, triangles, threads), one in found.items():
        for name, (their_particles, their_triangles, published) in TIMED.items():
            if quick or (particles, triangles) == (their_particles, their_triangles):
                scenes.append((name, published, threads, one["steps_per_second"], one["wall_ms_per_step"]))
    record.table("speed", ("scene", "published, frames/s", "threads", f"{backend} here, steps/s", "ms/step"), scenes)
    phases = list(next(iter(found.values()))["split_ms"])
    rows: list[Row] = []
    for (particles, _, threads), one in found.items():
        costs = [one[key] for key in ("steps_per_second", "wall_ms_per_step", "cpu_ms_per_step", "cpu_ns_per_particle")]
        rows.append((particles, one["triangles"], threads, *costs, *(one["split_ms"][phase] for phase in phases)))
    columns = ("particles", "triangles", "threads", "steps/s", "ms/step", "CPU ms/step", "CPU ns/particle", *phases)
    record.table("phases", columns, rows)


def main(words: Sequence[str] | None = None) -> None:
    """Make the figures and measure the speed."""
    options = options_of("bezin2010", words, doc=__doc__)
    record = Record("bezin2010", quick=options.quick)
    size, steps = (40, 30) if options.quick else (193, 6000)
    if options.only != "speed":
        rows: list[Row] = [
            ("figure 3, streams", *draw_streams(size, steps, SEED, options.out, (900, 640))),
            ("figure 4, canyon", *draw_canyon(size, 2 * steps, SEED, options.out, (560, 520))),
        ]
        columns = (
            "scene", "emitters", "particles", "triangles", "deepest cut, m", "thickest deposit, m",
            "eroded and deposited, million m³", "solids gained or lost",
        )  # fmt: skip
        record.table("figures", columns, rows)
    if options.only != "figures":
        measure_speed(record, quick=options.quick, backend=options.backend)
    record.write(options.out)


if __name__ == "__main__":
    main()
