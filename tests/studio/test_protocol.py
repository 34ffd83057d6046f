"""Everything a page says and hears, over a real socket."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.studio import StudioServer
from slopewash.studio.frames import disassemble

Page = Any


def elevation(server: StudioServer) -> Any:
    return server.session.submit(lambda: server.session.terrain()["elevation"].copy()).result(60)


def test_a_page_is_welcomed_and_told_and_shown(page: Page) -> None:
    assert page.welcome["protocol"] == 1
    assert {model["name"] for model in page.welcome["models"]} == set(sw.model_names())
    state = page.until(lambda s: True)
    assert (state["step"], state["playing"], state["preset"]) == (0, False, "single_grid")
    header, fields = page.read("frame")
    assert (header["rows"], header["columns"], header["step"]) == (48, 48, 0)
    expected = sw.generate("dome", size=48, extent=480.0, seed=3)["elevation"]
    np.testing.assert_allclose(fields["elevation"], expected, atol=float(np.ptp(expected)) / 65535)
    assert "water" not in fields


def test_the_panel_is_made_of_what_models_declare(page: Page) -> None:
    (pipes,) = (m for m in page.welcome["models"] if m["name"] == "virtual_pipes")
    declared = {p.name: p for p in sw.VirtualPipes.parameters()}
    assert [p["name"] for p in pipes["parameters"]] == list(declared)
    for parameter in pipes["parameters"]:
        assert parameter["doc"] == declared[parameter["name"]].doc
        assert parameter["kind"] in ("number", "choice", "flag")
    (rate,) = (p for p in pipes["parameters"] if p["name"] == "rain_rate")
    assert (rate["symbol"], rate["units"], rate["typical"]) == ("K_r", "cells/time", [0, 0.05])
    assert {tool["name"] for tool in page.welcome["tools"]} == {brush.name for brush in sw.brushes()}
    dome = next(g for g in page.welcome["generators"] if g["name"] == "dome")
    assert dome["options"] == {"noise": 0.5, "persistence": 0.5}


def test_every_export_format_and_every_layer_is_in_the_welcome(page: Page) -> None:
    from slopewash.io.formats import FORMATS
    from slopewash.io.mesh_files import MESH_FORMATS

    assert {f["suffix"] for f in page.welcome["formats"]} == {*FORMATS, *MESH_FORMATS} - {
        ".asc",
        ".hgt",
    }  # maps: one has a side file
    for model in page.welcome["models"]:
        declared = sw.find_model(model["name"]).layers()
        assert {name: layer["unit"] for name, layer in model["layers"].items()} == {
            name: spec.units for name, spec in declared.items()
        }
        assert set(model["editable"]) <= set(declared)
        assert {layer["map"] for layer in model["layers"].values()} <= set(page.welcome["maps"])


def test_play_runs_and_pause_holds_the_step_count(page: Page) -> None:
    page.do("play")
    page.until(lambda s: s["step"] > 5)
    page.do("pause")
    state = page.until(lambda s: not s["playing"])
    held = state["step"]
    time.sleep(0.3)
    page.do("speed", steps_per_second=None)
    assert page.until(lambda s: True)["step"] == held


def test_a_step_is_exactly_one(page: Page) -> None:
    page.steps(1)
    assert page.state["step"] == 1
    page.steps(7)
    assert page.state["step"] == 8


def test_speed_limits_the_steps(page: Page) -> None:
    page.do("speed", steps_per_second=20)
    page.do("play")
    begin = time.monotonic()
    page.until(lambda s: s["step"] >= 10)
    page.do("pause")
    assert time.monotonic() - begin > 0.3  # ten steps at 20 a second, less the head start of one chunk


def test_every_parameter_reaches_the_simulation_and_comes_back(page: Page, server: StudioServer) -> None:
    for declared in sw.VirtualPipes.parameters():
        value: Any
        if declared.choices:
            value = declared.choices[-1]
        elif isinstance(declared.default, bool):
            value = True
        else:
            low, high = declared.typical or (0.1, 0.9)
            value = low + 0.37 * (high - low)
        page.do("parameters", values={declared.name: value})
        state = page.until(lambda s, n=declared.name, v=value: s["parameters"][n] == v)
        assert state["parameters"][declared.name] == value
        inside = server.session.submit(lambda: server.session.run.simulation.model).result(60)
        assert getattr(inside, declared.name) == value
        if declared.name == "pipes":  # eight do not go with the other transports and capacities
            page.do("parameters", values={"pipes": "four"})


def test_infinity_goes_both_ways_as_text(page: Page) -> None:
    page.do("parameters", values={"dig_limit": 0.5})
    page.until(lambda s: s["parameters"]["dig_limit"] == 0.5)
    page.do("parameters", values={"dig_limit": "inf"})
    page.until(lambda s: s["parameters"]["dig_limit"] == "inf")
    page.do("parameters", values={"sea_level": 1.0})
    page.until(lambda s: s["parameters"]["sea_level"] == 1.0)
    page.do("parameters", values={"sea_level": "-inf"})
    page.until(lambda s: s["parameters"]["sea_level"] == "-inf")


def test_sub_stepping_is_told(page: Page) -> None:
    page.do("parameters", values={"time_step": 0.2})
    page.do("pause")
    assert any("stability" in told["message"] for told in page.told)


@pytest.mark.parametrize(
    ("tool", "layer"),
    [
        ("raise", "elevation"),
        ("lower", "elevation"),
        ("smooth", "elevation"),
        ("flatten", "elevation"),
        ("add_water", "water"),
        ("remove_water", "water"),
        ("rain", "rainfall"),
        ("harden", "erodibility"),
        ("soften", "erodibility"),
        ("evaporation", "evaporation"),
        ("capacity", "capacity"),
        ("talus", "talus"),
        ("sliding", "sliding"),
    ],
)
def test_each_brush_changes_its_layer_and_undo_gives_it_back(
    page: Page, server: StudioServer, tool: str, layer: str
) -> None:
    def now() -> Any:
        return server.session.submit(lambda: server.session.run.simulation.layers(layer)[layer].copy()).result(60)

    page.steps(3)
    before = now()
    page.do("paint", tool=tool, points=[[200.0, 220.0], [230.0, 220.0]], radius=60.0, falloff=0.5)
    painted = now()
    assert (painted != before).any()
    page.until(lambda s: s["can_undo"])
    page.do("undo")
    np.testing.assert_array_equal(now(), before)
    page.do("redo")
    np.testing.assert_array_equal(now(), painted)
    assert page.ask("redo")["type"] == "error"


def test_messages_of_one_stroke_are_one_edit(page: Page, server: StudioServer) -> None:
    before = elevation(server)
    for k in range(4):
        page.do("paint", tool="raise", points=[[100.0 + 20 * k, 200.0]], radius=40.0, stroke=7)
    page.do("paint", tool="raise", points=[[300.0, 300.0]], radius=40.0, stroke=8)
    page.do("undo")
    page.do("undo")
    np.testing.assert_array_equal(elevation(server), before)
    assert page.ask("undo")["message"] == "there is no edit to undo"


def test_a_stroke_that_begins_beside_the_terrain_joins_nothing(page: Page, server: StudioServer) -> None:
    page.do("paint", tool="raise", points=[[200.0, 200.0]], radius=40.0, stroke=1)
    first = elevation(server)
    page.do("paint", tool="raise", points=[[-900.0, 200.0]], radius=40.0, stroke=2)
    page.do("paint", tool="raise", points=[[300.0, 300.0]], radius=40.0, stroke=2)
    page.do("undo")
    np.testing.assert_array_equal(elevation(server), first)


def test_water_sources_are_placed_and_removed(page: Page) -> None:
    source = {"x": 240.0, "y": 240.0, "radius": 30.0, "rate": 0.5}
    page.do("sources", sources=[source])
    assert page.until(lambda s: bool(s["sources"]))["sources"] == [source]
    page.steps(5)
    assert page.until(lambda s: s["budget"]["water_sources"] > 0)
    page.do("sources", sources=[])
    page.until(lambda s: not s["sources"])
    assert "outside" in page.ask("sources", sources=[{**source, "x": 1e5}])["message"]


def test_the_budget_is_live_and_balances(page: Page) -> None:
    page.steps(10)
    budget = page.state["budget"]
    assert budget["water_rain"] > 0
    assert budget["water_drift"] < 1e-5  # float32 fields, float64 sums
    assert budget["solids_drift"] < 1e-5


@pytest.mark.parametrize("model", ["steepest_talus", "velocity_field", "virtual_pipes"])
def test_the_model_can_be_switched(page: Page, model: str) -> None:
    page.do("start", model=model, generator={"size": 32, "seed": 5})
    state = page.until(lambda s: s["model"] == model and s["run"] > 1 and s["busy"] is None)
    assert (state["rows"], state["generator"]["seed"], state["step"]) == (32, 5, 0)
    page.steps(2)
    assert page.shown(2)[0]["run"] == state["run"]


def test_other_cells_are_the_same_ground_and_another_extent_is_not(page: Page) -> None:
    def started(**keys: Any) -> tuple[int, float, float]:
        run = page.state.get("run", 1)
        page.do("start", **keys)
        state = page.until(lambda s: s["run"] > run and s["busy"] is None)
        return state["rows"], state["cell_size"], state["generator"]["extent"]

    assert started(size=32) == (32, 15.0, 480.0)
    assert started(generator={"size": 64, "seed": 2}) == (64, 7.5, 480.0)
    assert started(generator={"extent": 1280.0}) == (64, 20.0, 1280.0)
    assert started(generator={"cell_size": 10.0}) == (64, 10.0, 640.0)
    assert started(size=32) == (32, 20.0, 640.0)
    own = next(p for p in page.welcome["presets"] if p["name"] == "chiba_fig2")["generator"]
    assert (own["size"], own["extent"]) == (128, 1280.0)
    own = next(p for p in page.welcome["presets"] if p["name"] == "outerrain")["generator"]
    assert started(preset="outerrain", generator=own) == (32, 160.0, 5120.0)
    answer = page.ask("start", generator={"extent": 900.0, "cell_size": 10.0})
    assert "give one of the two" in answer["message"]


def test_a_preset_brings_model_edges_and_strata(page: Page) -> None:
    generator = next(p for p in page.welcome["presets"] if p["name"] == "chiba_strata")["generator"]
    page.do("start", preset="chiba_strata", generator={**generator, "size": 32})
    state = page.until(lambda s: s["preset"] == "chiba_strata")
    assert (state["model"], state["generator"]["options"]) == ("velocity_field", generator["options"])
    assert generator["options"]
    while True:
        header, fields = page.read("frame")
        if header["run"] == state["run"]:
            break
    assert fields["strata"].shape == (5, 4, 32)
    block = next(b for b in header["blocks"] if b["name"] == "strata")
    assert "colours" not in block
    page.steps(1)
    np.testing.assert_allclose(fields["strata_top"][0], fields["strata"][0, 0], atol=0.01)
    assert (len(block["depths"]), block["depths"][0], len(block["hardness"])) == (5, 0.0, 5)
    assert "strata" not in page.shown(1)[1]


def test_overlays_show_any_layer_of_the_model(page: Page, server: StudioServer) -> None:
    page.steps(3)
    model = server.session.run.simulation.model
    for layer in ("slope", "velocity", "rainfall"):
        page.do("watch", overlay=layer, resolution=1024, before=False)
        while True:
            header, fields = page.read("frame")
            blocks = {b["name"]: b for b in header["blocks"]}
            if blocks.get("overlay", {}).get("layer") == layer:
                break
        truth = server.session.submit(lambda n=layer: server.session.run.simulation.layers(n)[n]).result(60)
        step = max(float(np.ptp(truth)), 1e-9) / 65535
        np.testing.assert_allclose(fields["overlay"], truth, atol=step)
        assert blocks["overlay"]["unit"] == model.layer(layer).units
    assert 'no layer "lava"' in page.ask("watch", overlay="lava")["message"]


def test_frames_can_be_smaller_than_the_terrain_and_bring_the_start_once(page: Page) -> None:
    page.do("watch", overlay=None, resolution=16, before=True)
    while True:
        _, fields = page.read("frame")
        if fields["elevation"].shape == (16, 16):
            break
    assert fields["before"].shape == (16, 16)
    page.steps(2)
    assert "before" not in page.shown(2)[1]


def test_a_frame_made_before_the_page_asked_for_another_does_not_count() -> None:
    from slopewash.studio.connection import Connection
    from slopewash.studio.messages import Watch
    from slopewash.studio.snapshot import Snapshot

    terrain = sw.generate("cone", size=32)
    snapshot = Snapshot(
        7, 1, 0, 0.0, 10.0, {"elevation": terrain["elevation"]}, {"elevation": "m"}, terrain, (0.0, 1.0)
    )
    nobody: Any = None
    connection = Connection(nobody, nobody)
    old = connection.views(snapshot)
    connection.watch = Watch(type="watch", resolution=16)  # while the frame is being encoded
    connection.set_frames(snapshot, old, [b""])
    assert connection.seen == 0
    connection.set_frames(snapshot, connection.views(snapshot), [b""])
    assert connection.seen == 7
    connection.watch = Watch(type="watch", overlay="slope")  # while the snapshot is on its way
    connection.set_frames(snapshot, connection.views(snapshot), [b""])
    assert connection.seen == 0
    snapshot = dataclasses.replace(snapshot, asked=frozenset({"slope"}))
    connection.set_frames(snapshot, connection.views(snapshot), [b""])
    assert connection.seen == 7


def test_at_most_two_frames_are_ever_unacknowledged(server: StudioServer, open_page: Any) -> None:
    page = open_page(server)
    page.send("play")
    frames = []
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        received = page.socket.recv(timeout=20)
        if isinstance(received, bytes):
            frames.append(received)
    assert len(frames) == 2
    page.close()


@pytest.mark.parametrize("suffix", [".exr", ".npy", ".npz", ".png", ".r16", ".raw", ".tif", ".tiff"])
def test_every_format_is_exported(page: Page, server: StudioServer, suffix: str, tmp_path: Any) -> None:
    page.steps(2)
    answer = page.get(f"/export/island{suffix}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="island{suffix}"'
    file = tmp_path / f"island{suffix}"
    file.write_bytes(answer.content)
    if suffix in (".r16", ".raw"):
        side = page.get(f"/export/island{suffix}.json")
        (tmp_path / f"island{suffix}.json").write_bytes(side.content)
    truth = elevation(server)
    step = float(np.ptp(truth)) / 65535
    np.testing.assert_allclose(sw.read(file)["elevation"], truth, atol=step)


@pytest.mark.parametrize("suffix", [".glb", ".obj", ".ply", ".stl"])
def test_the_ground_is_exported_as_triangles(page: Page, server: StudioServer, suffix: str, tmp_path: Any) -> None:
    file = tmp_path / f"island{suffix}"
    file.write_bytes(page.get(f"/export/island{suffix}").content)
    mesh = sw.read_mesh(file)
    truth = elevation(server)
    assert len(mesh.triangles) == 2 * 47 * 47
    assert mesh.vertices[:, 2].max() == pytest.approx(truth.max(), rel=1e-6)  # STL and text keep float32


def test_particles_start_from_emitters_and_the_mesh_is_shown(page: Page, server: StudioServer, tmp_path: Any) -> None:
    page.do("start", model="mesh_particles", generator={"size": 32})
    state = page.until(lambda s: s["model"] == "mesh_particles" and s["busy"] is None)
    assert len(state["emitters"]) == 1  # the model's own
    emitter = {"x": 160.0, "y": 150.0, "radius": 30.0, "rate": 60.0, "speed": 1.0, "direction": 90.0}
    page.do("emitters", emitters=[emitter])
    assert page.until(lambda s: s["emitters"] == [emitter])
    page.steps(20)
    assert page.state["budget"]["water_sources"] > 0
    _, fields = page.shown(20)
    assert {"elevation", "particles", "vertices"} <= set(fields)
    assert fields["particles"].shape[1] == 4
    assert "triangles" not in fields  # they came with an earlier frame, and have not changed
    mesh = server.session.submit(lambda: server.session.run.ground()).result(60)
    np.testing.assert_array_equal(fields["vertices"], mesh.vertices.astype(np.float32))
    file = tmp_path / "ground.ply"
    file.write_bytes(page.get("/export/ground.ply").content)
    assert len(sw.read_mesh(file).triangles) == len(mesh.triangles)
    assert "it takes no edits" in page.ask("paint", tool="raise", points=[[100, 100]], radius=20)["message"]
    assert "simulation.set_emitters(sw.Emitter(x=160.0" in page.get("/script").text


def test_a_message_that_would_paint_for_minutes_is_refused(page: Page, server: StudioServer) -> None:
    before = elevation(server)
    page.do("start", generator={"size": 512})
    answer = page.ask("paint", tool="raise", points=[[100.0, 100.0]] * 4000, radius=1e6)
    assert "4000 dabs of radius 1e+06 m touch 1e+09 cells" in answer["message"]
    page.do("paint", tool="raise", points=[[100.0, 100.0]] * 4000, radius=20.0, strength=1e-3)
    page.do("start", generator={"size": 48})
    np.testing.assert_array_equal(elevation(server), before)


def test_an_unknown_format_is_told(page: Page) -> None:
    answer = page.get("/export/island.doc")
    assert answer.status_code == 404
    assert "known are .exr" in answer.json()["message"]


def test_emitters_are_edits(page: Page) -> None:
    start = {"kind": "dome", "size": 33}
    page.do("start", preset="bezin2010", backend="reference", generator=start, parameters={"triangles": 500})
    before = page.until(lambda s: s["model"] == "mesh_particles" and s["busy"] is None)["emitters"]
    place = {"x": 160.0, "y": 150.0, "radius": 30.0, "rate": 60.0, "speed": 1.0, "direction": 90.0}
    page.do("emitters", emitters=[place], stroke=3)
    page.do("emitters", emitters=[place | {"x": 170.0}], stroke=3)
    page.until(lambda s: s["emitters"] == [place | {"x": 170.0}])
    page.do("undo")
    page.until(lambda s: s["emitters"] == before)


def test_a_second_page_sees_the_same_run_and_a_returning_one_goes_on(server: StudioServer, open_page: Any) -> None:
    first, second = open_page(server), open_page(server)
    first.steps(4)
    second.until(lambda s: s["step"] == 4)
    first.close()
    again = open_page(server)
    assert again.until(lambda s: True)["step"] == 4
    assert again.read("frame")[0]["step"] == 4
    for page in (second, again):
        page.close()


def test_health_answers(page: Page) -> None:
    assert page.get("/health").text == "ok"


def test_frames_bring_what_the_simulation_did_to_the_ground_if_asked(page: Page, server: StudioServer) -> None:
    page.steps(3)
    page.do("watch", overlay=None, resolution=1024, ground=True)
    while True:
        header, fields = page.read("frame")
        if "flow" in fields:
            break
    truth = server.session.submit(lambda: server.session.run.simulation.layers("wear", "deposit", "flow")).result(60)
    for name, layer in truth.items():
        np.testing.assert_allclose(fields[name], layer, atol=max(float(np.ptp(layer)), 1e-9) / 65535)
    units = {block["name"]: block.get("unit") for block in header["blocks"]}
    assert (units["wear"], units["flow"]) == ("m", server.session.run.simulation.model.layer("flow").units)
    page.do("watch", overlay=None, resolution=1024)
    page.steps(1)
    assert "wear" not in page.shown(4)[1]


def test_frames_bring_the_soil_where_the_run_knows_its_bedrock(page: Page, server: StudioServer) -> None:
    page.do("start", preset="chiba_strata", generator={"kind": "noisy_cylinder", "size": 32})
    page.until(lambda s: s["preset"] == "chiba_strata")
    page.do("watch", overlay=None, resolution=1024, ground=True)
    page.steps(4)
    while True:
        header, fields = page.read("frame")
        if header["step"] == 4 and "soil" in fields:
            break
    layers = server.session.submit(lambda: server.session.run.simulation.layers("elevation", "bedrock")).result(60)
    soil = np.maximum(layers["elevation"] - layers["bedrock"], 0)
    assert soil.any()
    np.testing.assert_allclose(fields["soil"], soil, atol=float(np.ptp(soil)) / 65535)


def test_rivers_to_look_at_come_as_a_frame(page: Page, server: StudioServer) -> None:
    page.steps(2)
    _, fields = disassemble(page.get("/rivers").content)
    watered = sw.add_water(server.session.submit(server.session.terrain).result(60))
    truth = np.maximum(watered["river"], watered["lake"])
    np.testing.assert_allclose(fields["water"], truth, atol=max(float(np.ptp(truth)), 1e-9) / 65535)


def test_the_welcome_has_the_colours_of_every_country(page: Page) -> None:
    palettes = page.welcome["palettes"]
    assert list(palettes) == [name for name, palette in sw.palettes().items() if not palette.plain]
    assert palettes["desert"]["colours"]["sand"] == "#d2b083"
    assert palettes["desert"]["snow_line"] is None
