"""A session saved as Python replays to the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.recipes import recording
from slopewash.studio import StudioServer
from slopewash.studio.recipes import first_recipe
from slopewash.studio.run import Run

Page = Any
Replay = Callable[[str], sw.Terrain]


def now(server: StudioServer) -> dict[str, Any]:
    terrain = server.session.submit(server.session.terrain).result(60)
    return {name: np.array(layer) for name, layer in terrain.items()}


def assert_same(replayed: sw.Terrain, layers: dict[str, Any]) -> None:
    for name, layer in layers.items():
        np.testing.assert_array_equal(replayed[name], layer, err_msg=name)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_lively_session_replays_to_the_same_bits(
    backend: str, tmp_path: Path, open_page: Any, replay: Replay
) -> None:
    with StudioServer(first_recipe(size=40, extent=400.0, seed=9, backend=backend), port=0) as server:
        page = open_page(server)
        page.steps(3)
        page.do("parameters", values={"rain_rate": 0.07, "dig_limit": "inf", "processes": "both"})
        page.do("paint", tool="raise", points=[[120.3, 200.7], [150.1, 210.9]], radius=61.7, strength=7.3, stroke=1)
        page.do("paint", tool="raise", points=[[180.1, 220.9]], radius=61.7, strength=7.3, stroke=1)
        page.do("play")
        page.until(lambda s: s["step"] > 8)
        page.do("paint", tool="add_water", points=[[250.0, 250.0]], radius=50.0, falloff=1.0)
        page.do("sources", sources=[{"x": 100.0, "y": 120.5, "radius": 25.0, "rate": 0.4}])
        page.until(lambda s: s["step"] > 16)
        page.do("undo")
        page.do("sources", sources=[{"x": 100.0, "y": 100.0, "radius": 25.0, "rate": 0.4}], stroke=5)
        page.do("sources", sources=[{"x": 110.0, "y": 100.0, "radius": 25.0, "rate": 0.4}], stroke=5)
        page.do("paint", tool="soften", points=[[250.0, 250.0]], radius=80.0)
        page.do("undo")
        page.do("redo")
        page.do("paint", tool="rain", points=[[90.0, 300.0]], radius=80.0, strength=-0.5)
        page.do("pause")
        page.do("sources", sources=[])
        page.do("settle", steps=5, dry=False)
        page.steps(2)
        page.send("settle", id="long", steps=90_000)
        page.until(lambda s: s["settling"] and "settling, " in (s["busy"] or ""))
        page.do("pause")
        page.send("settle", id="short", steps=20)
        page.do("pause")
        page.steps(2)
        script = page.get("/script")
        assert "stop_after=" in script.text
        assert script.headers["content-type"].startswith("text/x-python")
        layers = now(server)
        page.close()
    assert "import slopewash as sw" in script.text
    assert_same(replay(script.text), layers)


def test_an_upload_replays_beside_its_file(tmp_path: Path, page: Page, server: StudioServer, replay: Replay) -> None:
    file = sw.write(sw.generate("ridged", size=36, seed=2, relief=90.0), tmp_path / "own.png")
    answer = page.post("/upload?name=own.png&low=0&high=90", file.read_bytes()).json()
    page.do("start", upload=answer["upload"], preset="jako2011")
    page.steps(4)
    assert_same(replay(page.get("/script").text), now(server))


def test_an_upload_with_other_cells_replays(tmp_path: Path, page: Page, server: StudioServer, replay: Replay) -> None:
    file = sw.write(sw.generate("ridged", size=36, seed=2, relief=90.0), tmp_path / "own.npy")
    key = page.post("/upload?name=own.npy", file.read_bytes()).json()["upload"]
    page.do("start", upload=key, size=50)
    page.steps(3)
    assert_same(replay(page.get("/script").text), now(server))


def test_a_side_file_beside_the_script_changes_nothing(
    tmp_path: Path, page: Page, server: StudioServer, replay: Replay
) -> None:
    terrain = sw.generate("ridged", size=36, cell_size=5.0, seed=2, relief=90.0)
    file = sw.write(terrain, tmp_path / "own.r16")
    assert (tmp_path / "own.r16.json").exists()  # says 5 m; the upload alone is taken as 1 m
    answer = page.post("/upload?name=own.r16&low=0&high=90", file.read_bytes()).json()
    assert answer["cell_size"] == 1.0
    page.do("start", upload=answer["upload"], preset="jako2011")
    page.steps(2)
    assert_same(replay(page.get("/script").text), now(server))


def test_flat_ground_replays_without_the_strata_it_has_no_room_for(
    tmp_path: Path, page: Page, server: StudioServer, replay: Replay
) -> None:
    np.save(tmp_path / "flat.npy", np.zeros((24, 24), np.float32))
    answer = page.post("/upload?name=flat.npy", (tmp_path / "flat.npy").read_bytes()).json()
    page.do("start", upload=answer["upload"], preset="chiba_strata")
    page.steps(1)
    assert_same(replay(page.get("/script").text), now(server))


@pytest.mark.parametrize("preset", ["chiba_strata", "salamin"])
def test_presets_replay_with_their_strata_and_starts(
    tmp_path: Path, page: Page, server: StudioServer, preset: str, replay: Replay
) -> None:
    generator = next(p for p in page.welcome["presets"] if p["name"] == preset)["generator"]
    page.do("start", preset=preset, generator={**generator, "size": 24})
    page.steps(2)
    page.do("paint", tool="lower", points=[[60.0, 60.0]], radius=30.0)
    page.steps(2)
    layers = now(server)
    replayed = replay(page.get("/script").text)
    np.testing.assert_array_equal(replayed["elevation"], layers["elevation"])


def test_a_run_of_one_s_own_has_no_script(open_page: Any) -> None:
    terrain = sw.generate("cone", size=32)
    simulation = sw.Simulation(terrain, sw.VirtualPipes(), backend="reference")
    from slopewash.studio.notebook import serve

    with serve(simulation) as server:
        page = open_page(server)
        answer = page.get("/script")
        assert answer.status_code == 409
        assert "your own program" in answer.json()["message"]
        page.steps(2)
        assert simulation.step == 2
        page.close()


def test_a_recording_stays_within_its_memory(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_PARTS", 10)
    springs = [{"x": 100.0 + k, "y": 100.0, "radius": 25.0, "rate": 0.4} for k in range(4)]
    page.do("sources", sources=springs)
    page.do("parameters", values={"rain_rate": 0.05, "evaporation_rate": 0.01})
    page.do("sources", sources=springs)
    assert page.get("/script").text.count("sw.WaterSource(x=100.0, y=100.0, radius=25.0, rate=0.4)") == 2
    page.do("sources", sources=springs[:1])
    answer = page.get("/script")
    assert answer.status_code == 409
    assert "too many for a script; reset it" in answer.json()["message"]


def test_a_run_saved_at_the_last_step_of_settling_replays_with_its_sediment_deposited() -> None:
    run = Run(first_recipe(source=sw.Generated(kind="hill", size=64), backend="reference"))
    run.advance(20)
    saved: list[Any] = []
    run.settle(40, dry=False, look=lambda: saved.append(run.parts()))
    assert len(saved) == 2
    for facts, arrays in saved:
        restored = sw.Simulation.from_parts(facts, arrays)
        replayed: dict[str, Any] = {"__name__": "session"}
        exec(sw.Recording.from_parts(facts["recipe"], arrays, restored.start).script(), replayed)
        assert_same(replayed["eroded"], restored.layers("elevation", "water", "suspended"))
