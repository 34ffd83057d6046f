"""Edits between steps: what a dab changes, what the mass budget counts, and how it is undone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.simulation.history import History
from slopewash.terrain import source_table

HILL = sw.generate("dome", size=32, seed=3, cell_size=5.0)
MODELS = [
    ("virtual_pipes", "reference", "open"),
    ("virtual_pipes", "reference", "periodic"),
    ("virtual_pipes", "cpu", "open"),
    ("virtual_pipes", "cpu", "periodic"),
    ("virtual_pipes", "gpu", "open"),
    ("virtual_pipes", "gpu", "periodic"),
    ("steepest_talus", "reference", "open"),
    ("steepest_talus", "cpu", "periodic"),
    ("steepest_talus", "gpu", "periodic"),
    ("velocity_field", "reference", "open"),
    ("velocity_field", "cpu", "open"),
    ("velocity_field", "gpu", "open"),
]
MIDDLE = [(80.0, 80.0)]


def run(model: str, backend: str, edges: Any = "open", terrain: sw.Terrain = HILL) -> sw.Simulation:
    return sw.Simulation(terrain, sw.find_model(model)(), backend=backend, edges=edges)


def usable(model: str) -> list[str]:
    return [brush.name for brush in sw.brushes() if brush.layer in sw.find_model(model).editable()]


def layers_of(simulation: sw.Simulation) -> dict[str, Any]:
    return dict(simulation.terrain)


@pytest.mark.parametrize(("model", "backend", "edges"), MODELS)
def test_undo_gives_every_layer_back_to_the_bit(model: str, backend: str, edges: str) -> None:
    simulation, untouched = run(model, backend, edges), run(model, backend, edges)
    for each in (simulation, untouched):
        each.run(3)
    for tool in usable(model):
        simulation.paint(tool, points=[(40.0, 60.0), (0.0, 0.0), (159.0, 90.0)], radius=22.0, falloff=0.7)
    for _ in usable(model):
        assert simulation.undo()
    assert not simulation.undo()
    for each in (simulation, untouched):
        each.run(5)
    for name, layer in layers_of(untouched).items():
        np.testing.assert_array_equal(layers_of(simulation)[name], layer, err_msg=name)


@pytest.mark.parametrize(("model", "backend", "edges"), MODELS)
def test_redo_gives_the_edits_back_to_the_bit(model: str, backend: str, edges: str) -> None:
    simulation = run(model, backend, edges)
    simulation.run(2)
    for tool in usable(model):
        simulation.paint(tool, points=MIDDLE, radius=30.0)
    painted = layers_of(simulation)
    while simulation.undo():
        pass
    while simulation.redo():
        pass
    for name, layer in painted.items():
        np.testing.assert_array_equal(layers_of(simulation)[name], layer, err_msg=name)


@pytest.mark.parametrize(("model", "backend", "edges"), MODELS)
def test_the_books_balance_through_edits(model: str, backend: str, edges: str) -> None:
    simulation = run(model, backend, edges)
    simulation.run(4)
    for tool in usable(model):
        simulation.paint(tool, points=[(50.0, 70.0), (60.0, 80.0)], radius=25.0)
    simulation.run(4)
    simulation.undo()
    simulation.run(4)
    budget = simulation.budget
    assert budget.water_drift < 1e-5  # float32 fields, float64 sums
    assert budget.solids_drift < 1e-5
    assert budget.solids_edited != 0


def test_what_is_painted_is_in_the_books() -> None:
    simulation = run("virtual_pipes", "reference")
    simulation.paint("raise", points=MIDDLE, radius=12.0, strength=2.0, falloff=0.0)
    raised = int((simulation.terrain["elevation"] - HILL["elevation"] > 1.0).sum())
    assert raised > 10
    assert simulation.budget.solids_edited == pytest.approx(raised * 2.0 * 25.0, rel=1e-5)
    simulation.paint("add_water", points=MIDDLE, radius=12.0, strength=3.0, falloff=0.0)
    assert simulation.budget.water_edited == pytest.approx(raised * 3.0 * 25.0, rel=1e-5)
    simulation.paint("remove_water", points=MIDDLE, radius=12.0, strength=100.0, falloff=0.0)
    assert simulation.budget.water_edited == pytest.approx(0.0, abs=1e-3)
    assert "edited" in repr(simulation.budget)
    assert "edited" not in repr(run("virtual_pipes", "reference").budget)


@pytest.mark.parametrize(
    ("tool", "layer", "sign"),
    [
        ("raise", "elevation", 1),
        ("lower", "elevation", -1),
        ("add_water", "water", 1),
        ("rain", "rainfall", 1),
        ("harden", "erodibility", -1),
        ("soften", "erodibility", 1),
    ],
)
@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
def test_a_tool_changes_its_own_layer_within_its_radius(backend: str, tool: str, layer: str, sign: int) -> None:
    terrain = HILL.replace(erodibility=0.5)
    simulation = run("virtual_pipes", backend, terrain=terrain)
    names = ("elevation", "water", "suspended", "erodibility", "rainfall")
    before = simulation.layers(*names)
    simulation.paint(tool, points=[(60.0, 90.0)], radius=20.0, strength=0.4)
    after = simulation.layers(*names)
    y, x = np.mgrid[:32, :32]
    inside = np.hypot((x + 0.5) * 5.0 - 60.0, (y + 0.5) * 5.0 - 90.0) < 20.0
    change = after[layer] - before[layer]
    assert (np.sign(change[inside]) == sign).all()
    np.testing.assert_array_equal(change[~inside], 0)
    for other in names:
        if other != layer:
            np.testing.assert_array_equal(after[other], before[other])


def test_smoothing_lowers_the_roughness_and_flattening_the_relief() -> None:
    simulation = run("virtual_pipes", "reference")
    area = np.s_[12:20, 12:20]
    rough = np.abs(np.diff(simulation.layers("elevation")["elevation"][area], 2)).mean()
    simulation.paint("smooth", points=MIDDLE * 4, radius=40.0, strength=1.0, falloff=0.2)
    smooth = simulation.layers("elevation")["elevation"]
    assert np.abs(np.diff(smooth[area], 2)).mean() < 0.5 * rough
    simulation.paint("flatten", points=MIDDLE, radius=40.0, strength=1.0, falloff=0.2)
    flat = simulation.layers("elevation")["elevation"][area]
    np.testing.assert_allclose(flat, smooth[16, 16], atol=1e-3)


def test_flatten_keeps_the_level_of_the_stroke_s_beginning() -> None:
    simulation = run("virtual_pipes", "reference")
    before = simulation.layers("elevation")["elevation"]
    level = before[4, 4]
    options: dict[str, Any] = {"radius": 12.0, "strength": 1.0, "falloff": 0.0}
    simulation.paint("flatten", points=[(22.0, 22.0)], **options)
    simulation.paint("flatten", points=[(90.0, 90.0)], join=True, **options)
    np.testing.assert_allclose(simulation.layers("elevation")["elevation"][17:19, 17:19], level, atol=1e-3)
    assert simulation.undo()
    assert not simulation.can_undo
    np.testing.assert_array_equal(simulation.layers("elevation")["elevation"], before)


def test_untouched_cells_keep_their_bits_far_above_the_sea() -> None:
    """At 5 km float32 metres are coarser than the cells above the datum that the kernels hold."""
    high = HILL.replace(elevation=HILL["elevation"] + 5000.0)
    simulation, other = run("virtual_pipes", "cpu", terrain=high), run("virtual_pipes", "cpu", terrain=high)
    for each in (simulation, other):
        each.run(10)
    before = np.array(simulation._state["elevation"])
    everywhere = (slice(0, 32), slice(0, 32))
    simulation._editor.overwrite(
        "elevation", everywhere, simulation.layers("elevation")["elevation"].astype(np.float64)
    )
    np.testing.assert_array_equal(simulation._state["elevation"], before)


def test_a_border_dug_below_its_base_level_stays_dug() -> None:
    model = sw.preset("single_grid").replace(rain_rate=0.0)
    simulation = sw.Simulation(HILL, model, backend="reference", edges="open")
    simulation.paint("lower", points=[(80.0, 2.0)], radius=8.0, strength=3.0, falloff=0.0)
    dug = simulation.layers("elevation")["elevation"][0, 16]
    simulation.run(1)
    assert simulation.layers("elevation")["elevation"][0, 16] == pytest.approx(dug, abs=0.5)


@pytest.mark.parametrize("model", ["virtual_pipes", "steepest_talus", "velocity_field"])
def test_ground_without_data_cannot_be_painted(model: str) -> None:
    gap = np.zeros(HILL.shape, bool)
    gap[14:18, 14:18] = True
    simulation = run(model, "reference", terrain=HILL.replace(nodata=gap))
    simulation.paint("raise", points=MIDDLE, radius=30.0, strength=4.0)
    terrain = simulation.terrain
    np.testing.assert_array_equal(terrain["elevation"][gap], 0)
    assert terrain["elevation"][12, 12] > HILL["elevation"][12, 12]
    simulation.run(2)
    assert simulation.budget.solids_drift < 1e-4  # relative to what little was moved


@pytest.mark.parametrize("backend", ["reference", "cpu", "gpu"])
def test_springs_can_be_placed_moved_and_removed_while_it_runs(backend: str) -> None:
    model = sw.VirtualPipes(rain_rate=0.0)
    simulation = sw.Simulation(HILL, model, backend=backend)
    simulation.run(2)
    assert simulation.budget.water_sources == 0
    simulation.sources = [sw.WaterSource(x=80, y=80, radius=10, rate=1.0)]
    simulation.run(5)
    fed = simulation.budget.water_sources
    assert fed > 0
    assert simulation.terrain.sources == simulation.sources
    simulation.sources = []
    simulation.run(5)
    assert simulation.budget.water_sources == fed
    assert simulation.budget.water_drift < 1e-5
    with pytest.raises(sw.InvalidTerrain, match="outside the terrain"):
        simulation.sources = [sw.WaterSource(x=800, y=80, radius=10, rate=1.0)]


def test_a_painted_rain_mask_steers_the_rain() -> None:
    simulation = sw.Simulation(HILL, sw.VirtualPipes(evaporation_rate=0.0), backend="cpu", edges="closed")
    simulation.run(1)
    even = simulation.budget.water_rain
    simulation.paint("rain", points=MIDDLE, radius=400.0, strength=1.0, falloff=0.0)
    simulation.run(1)
    assert simulation.budget.water_rain - even == pytest.approx(2 * even, rel=1e-5)
    assert simulation.terrain["rainfall"].min() == 2.0


@pytest.mark.parametrize("model", ["virtual_pipes", "steepest_talus", "velocity_field"])
def test_single_layers_are_those_of_the_whole_terrain(model: str) -> None:
    simulation = run(model, "reference")
    simulation.run(3)
    terrain = simulation.terrain
    computed = {name for name, spec in simulation.model.layers().items() if spec.role != "input"}
    assert computed - {"bedrock"} <= set(terrain)  # there are no strata
    for name, layer in simulation.layers(*terrain).items():
        np.testing.assert_array_equal(layer, terrain[name])
        assert layer.dtype == np.float32
    with pytest.raises(sw.UnknownName, match="unknown layer"):
        simulation.layers("lava")


@pytest.mark.parametrize(
    ("tool", "changes", "words"),
    [
        ("rise", {}, 'unknown tool "rise"; did you mean "raise"'),
        ("raise", {"points": []}, "points has 0"),
        ("raise", {"points": [(1.0,)]}, "each must be x and y"),
        ("raise", {"points": [(np.nan, 1.0)]}, "x is nan"),
        ("raise", {"radius": 0.0}, "radius is 0"),
        ("raise", {"strength": -1.0}, "strength of raise is -1"),
        ("smooth", {"strength": 2.0}, "strength of smooth is 2"),
        ("raise", {"falloff": 1.5}, "falloff is 1.5"),
        ("raise", {"strength": 1e300}, "they must be finite and within"),
    ],
)
def test_bad_strokes_are_refused(tool: str, changes: dict[str, Any], words: str) -> None:
    simulation = run("virtual_pipes", "reference")
    with pytest.raises(sw.SlopewashError, match=words):
        simulation.paint(tool, **{"points": MIDDLE, "radius": 10.0, **changes})
    assert not simulation.can_undo


def test_a_tool_the_model_has_no_layer_for_is_refused() -> None:
    with pytest.raises(sw.InvalidParameter, match="steepest_talus has no water to paint with add_water; its tools are"):
        run("steepest_talus", "reference").paint("add_water", points=MIDDLE, radius=10.0)
    with pytest.raises(sw.InvalidParameter, match="water sources"):
        run("steepest_talus", "reference").sources = [sw.WaterSource(x=8, y=8, radius=10, rate=1.0)]


def test_whole_heights_end_somewhere() -> None:
    with pytest.raises(sw.InvalidParameter, match="in this run it must stay within"):
        run("steepest_talus", "reference").paint("raise", points=MIDDLE, radius=10.0, strength=1e6)


def test_a_dab_beyond_the_terrain_does_nothing() -> None:
    simulation = run("virtual_pipes", "reference")
    simulation.paint("raise", points=[(-500.0, 80.0)], radius=10.0)
    assert not simulation.can_undo


def held_bytes(history: History) -> int:
    edits = [*history._undo, *history._redo]
    counted = sum(edit.nbytes for edit in edits)
    assert counted == sum(patch.values.nbytes for edit in edits for piece in edit.pieces for patch in piece)
    return counted


def test_a_stroke_without_end_stays_within_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slopewash.simulation.history.MOST_PIECES", 10)
    simulation = run("virtual_pipes", "reference")
    for k in range(35):
        simulation.paint("raise", points=[(4.0 * k, 80.0)], radius=10.0, strength=1.0, join=True)
    history = simulation._history
    remembered = sum(len(edit.pieces) for edit in history._undo)
    assert 0 < remembered <= 11
    while simulation.undo():
        pass
    assert sum(len(edit.pieces) for edit in history._redo) == remembered
    while simulation.redo():
        pass
    simulation.paint("raise", points=MIDDLE, radius=10.0)
    assert not simulation.can_redo
    assert held_bytes(history) > 0


def test_sources_are_counted_as_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = run("virtual_pipes", "reference")
    springs = [sw.WaterSource(x=8 + k, y=8, radius=10, rate=1.0) for k in range(5)]
    for count in (5, 2, 0, 3):
        simulation.sources = springs[:count]
    history, each = simulation._history, source_table(springs[:1]).nbytes
    assert held_bytes(history) == 7 * each  # what stood before each: 0, 5, 2 and 0
    while simulation.undo():
        pass
    assert held_bytes(history) == 10 * each  # what stood after each
    while simulation.redo():
        pass
    assert held_bytes(history) == 7 * each
    monkeypatch.setattr("slopewash.simulation.history.MOST_BYTES", 20 * each)
    for _ in range(20):
        simulation.sources = springs
    assert held_bytes(history) <= 20 * each


def overwritten(simulation: sw.Simulation) -> list[str]:
    """Fields that the last edit keeps something of."""
    return [patch.name for piece in simulation._history._undo[-1].pieces for patch in piece]


def test_an_edit_inside_keeps_no_copy_of_the_border() -> None:
    simulation = run("virtual_pipes", "reference")
    simulation.paint("lower", points=MIDDLE, radius=10.0, strength=1.0)
    assert overwritten(simulation) == ["elevation"]
    simulation.paint("lower", points=[(80.0, 0.0)], radius=10.0, strength=1.0)
    assert sorted(overwritten(simulation)) == ["base_north", "base_version", "elevation"]


def test_an_edit_keeps_the_bedrock_and_counts_it_as_memory() -> None:
    layered = HILL.replace(strata=sw.strata_bands(thickness=5.0))
    simulation = run("virtual_pipes", "reference", terrain=layered)
    simulation.paint("lower", points=MIDDLE, radius=10.0, strength=1.0)
    assert sorted(overwritten(simulation)) == ["bedrock", "elevation", "erodibility"]
    (edit,) = simulation._history._undo
    assert held_bytes(simulation._history) == 3 * edit.pieces[0][0].values.nbytes


def test_what_is_usual_follows_the_relief_of_the_ground() -> None:
    for relief in (5.0, 2000.0):
        terrain = sw.generate("cone", size=32, cell_size=10.0, relief=relief)
        simulation = sw.Simulation(terrain, sw.VirtualPipes(), backend="reference")
        simulation.paint("raise", points=[(160.0, 160.0)], radius=40.0)
        change = simulation.terrain["elevation"] - terrain["elevation"]
        assert change.max() == pytest.approx(0.01 * terrain.relief, rel=1e-3)


def test_flat_ground_is_raised_too() -> None:
    simulation = sw.Simulation(sw.Terrain(np.zeros((16, 16)), cell_size=4.0), sw.VirtualPipes(), backend="reference")
    simulation.paint("raise", points=[(32.0, 32.0)], radius=12.0)
    assert simulation.terrain["elevation"].max() > 0


def test_emitters_are_taken_back_and_placed_again() -> None:
    model = sw.MeshParticles(triangles=500)
    simulation = sw.Simulation(sw.generate("dome", size=33, cell_size=10.0), model, backend="reference")
    first = simulation.emitters
    moved = sw.Emitter(x=100.0, y=90.0, radius=20.0, rate=5.0, speed=2.0, direction=45.0)
    simulation.set_emitters(moved)
    simulation.set_emitters(moved, moved, join=True)
    assert simulation.emitters == (moved, moved)
    assert simulation.undo()
    assert simulation.emitters == first
    assert simulation.redo()
    assert simulation.emitters == (moved, moved)
    assert not simulation.redo()
