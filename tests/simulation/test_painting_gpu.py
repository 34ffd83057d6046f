"""Painting on a card moves the painted rows, not the field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.backends.gpu.layout import GROUP

pytestmark = pytest.mark.gpu

SIZE = 512
RADIUS = 8
HILL = sw.generate("dome", size=SIZE, seed=3, cell_size=1.0)
INSIDE, NORTH, WEST = (200.0, 300.0), (200.0, 0.0), (0.0, 300.0)
ROWS = 2 * RADIUS + 3
"""Rows of a dab, those half covered included."""
CELL = 16
"""Bytes per cell of the widest field."""


class Traffic:
    """Bytes that went to a device and came from it, and the largest piece."""

    def __init__(self, queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.up: list[int] = []
        self.down: list[int] = []
        read, write = queue.read_buffer, queue.write_buffer

        def read_buffer(buffer: Any, *place: Any) -> Any:
            data = read(buffer, *place)
            self.down.append(len(data))
            return data

        def write_buffer(buffer: Any, offset: int, data: Any) -> None:
            self.up.append(data.nbytes)
            write(buffer, offset, data)

        monkeypatch.setattr(queue, "read_buffer", read_buffer)
        monkeypatch.setattr(queue, "write_buffer", write_buffer)


@pytest.fixture(params=["plain", "strata"])
def simulation(request: pytest.FixtureRequest) -> Iterator[sw.Simulation]:
    terrain = HILL.replace(strata=sw.strata_bands(thickness=9.0)) if request.param == "strata" else HILL
    with sw.Simulation(terrain, sw.preset("single_grid"), backend="gpu") as run:
        run.run(2)
        yield run


@pytest.mark.parametrize(
    ("tool", "where"),
    [
        ("raise", INSIDE), ("lower", INSIDE), ("smooth", INSIDE), ("add_water", INSIDE), ("harden", INSIDE),
        ("lower", NORTH), ("lower", WEST),
    ],
)  # fmt: skip
def test_a_dab_moves_no_more_than_its_rows(
    simulation: sw.Simulation, monkeypatch: pytest.MonkeyPatch, tool: str, where: tuple[float, float]
) -> None:
    layered = simulation.terrain.strata is not None
    if tool == "harden" and layered:
        pytest.skip("strata decide the erodibility")
    below_base = tool == "lower" and where != INSIDE
    strength = 30.0 if tool in ("raise", "lower") else None
    simulation.paint(tool, points=[(400.0, 50.0)], radius=RADIUS, strength=strength)  # what run() looked at is stale
    simulation._device._rows.clear()  # type: ignore[attr-defined]
    work = simulation._device._work  # type: ignore[attr-defined]
    traffic = Traffic(work.device.handle.queue, monkeypatch)
    simulation.paint(tool, points=[where], radius=RADIUS, strength=strength)
    rows = ROWS * -(-SIZE // GROUP) * GROUP
    assert max(traffic.up + traffic.down) <= rows * CELL
    # Each field that an edit changes comes down and goes up once; where the level of the border moves, once more.
    fields = CELL + (8 if layered else 0)  # ground, water, sediment and erodibility; bedrock and the top of the strata
    assert sum(traffic.down) <= rows * fields
    # With strata the edit writes ground, bedrock and erodibility one after another.
    writes = 1 + below_base
    assert sum(traffic.up) <= writes * rows * (2 * fields + 4 if layered else fields + 4 * below_base)
    simulation.undo()
    assert max(traffic.up + traffic.down) <= rows * CELL


def test_painted_rain_moves_its_rows_once_there_is_a_map(monkeypatch: pytest.MonkeyPatch) -> None:
    with sw.Simulation(HILL, sw.preset("single_grid"), backend="gpu") as simulation:
        simulation.paint("rain", points=[INSIDE], radius=RADIUS)
        work = simulation._device._work  # type: ignore[attr-defined]
        traffic = Traffic(work.device.handle.queue, monkeypatch)
        simulation.paint("rain", points=[INSIDE], radius=RADIUS)
        assert 0 < sum(traffic.up) <= ROWS * SIZE * 8
        assert traffic.down == []
        monkeypatch.undo()
        simulation.run(1)
        one = simulation.layers("water")["water"]
    with sw.Simulation(HILL, sw.preset("single_grid"), backend="cpu") as other:
        for _ in range(2):
            other.paint("rain", points=[INSIDE], radius=RADIUS)
        other.run(1)
        np.testing.assert_allclose(
            one, other.layers("water")["water"], rtol=1e-4, atol=1e-8
        )  # float32 depths of 1e-3 m


def test_looking_at_a_layer_leaves_the_mass_budget_on_the_card(
    simulation: sw.Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = simulation._device._work  # type: ignore[attr-defined]
    simulation.run(1)
    asked: list[str] = []
    units = work.sums.units

    def counted() -> Any:
        asked.append("units")
        return units()

    monkeypatch.setattr(work.sums, "units", counted)
    simulation.layers("elevation", "water", "flow")
    simulation.paint("raise", points=[INSIDE], radius=RADIUS)
    assert simulation.budget.solids_drift < 1e-4  # little has moved after three steps
    assert asked == []  # the run asked when it ended, whether its budget closes
    simulation.run(1)
    assert asked == ["units"]
