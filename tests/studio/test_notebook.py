"""What notebooks show: a picture of a terrain, and a run in a frame."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import pytest

import slopewash as sw
from slopewash.studio.notebook import _servers, serve

Page = Any


def test_a_terrain_draws_itself_though_nobody_imported_the_drawing() -> None:
    program = (
        "import sys, slopewash as sw; terrain = sw.generate('hill', size=16);"
        "assert 'slopewash.rendering' not in sys.modules;"
        "assert terrain._repr_png_().startswith(b'\\x89PNG')"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_a_view_is_attached_to_the_very_run(open_page: Any) -> None:
    simulation = sw.Simulation(sw.generate("dome", size=32, cell_size=10.0), sw.VirtualPipes(), backend="reference")
    view = simulation.view(height=400)
    server = _servers[simulation]
    try:
        shown = view._repr_html_()
        assert "<iframe" in shown
        assert "height: 400px" in shown
        assert f":{server.port}/?token=" in shown
        assert simulation.view().server is server
        page = open_page(server)
        page.steps(3)
        assert simulation.step == 3
        page.do("paint", tool="raise", points=[[100.0, 100.0]], radius=50.0)
        assert simulation.can_undo
        simulation.run(4)  # from a cell of the notebook
        page.until(lambda state: state["step"] == 7)
    finally:
        server.stop()


def test_a_start_that_fails_leaves_the_page_with_the_run(open_page: Any) -> None:
    simulation = sw.Simulation(sw.generate("dome", size=32), sw.VirtualPipes(), backend="reference")
    with serve(simulation) as server:
        page = open_page(server)
        assert page.ask("start", generator={"kind": "dome", "options": {"teeth": 3}})["type"] == "error"
        assert server.session._idle_for() <= 0.1  # it still looks whether the run went on by itself
        simulation.run(2)
        page.until(lambda state: state["step"] == 2)
        page.close()


def test_a_view_is_shown_again_after_its_server_was_stopped() -> None:
    simulation = sw.Simulation(sw.generate("dome", size=32), sw.VirtualPipes(), backend="reference")
    first = simulation.view().server
    first.stop()
    second = simulation.view().server
    try:
        assert second is not first
        assert second.running
    finally:
        second.stop()


def test_cell_and_page_take_turns(open_page: Any) -> None:
    """Both step the same run: no step is lost, and the books still balance."""
    simulation = sw.Simulation(sw.generate("dome", size=32), sw.VirtualPipes(), backend="reference")
    simulation.view()
    server = _servers[simulation]
    try:
        page = open_page(server)
        page.do("play")
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            simulation.run(1)
        page.do("pause")
        assert simulation.budget.water_drift < 1e-5
        assert simulation.budget.solids_drift < 1e-5
    finally:
        server.stop()


def test_a_silly_height_is_refused() -> None:
    simulation = sw.Simulation(sw.generate("dome", size=32), sw.VirtualPipes(), backend="reference")
    with pytest.raises(sw.InvalidParameter, match="height is 3"):
        simulation.view(height=3)


def test_a_cell_that_runs_is_not_ended_with_the_page_s_settling(open_page: Any) -> None:
    simulation = sw.Simulation(sw.generate("hill", size=32), sw.VirtualPipes(), backend="reference")
    with serve(simulation) as server:
        page = open_page(server)
        page.send("settle", id="long", steps=50_000)
        page.until(lambda s: s["settling"] and "settling, " in (s["busy"] or ""))
        cell = threading.Thread(target=simulation.run, args=(400,))
        cell.start()
        page.do("pause")
        cell.join(60)
        assert simulation.step == 400
        page.close()


def test_a_run_whose_sides_differ_is_shown_and_replayed(open_page: Any) -> None:
    sides = sw.Sides(north="open", south="open", west="closed", east="closed")
    simulation = sw.Simulation(sw.generate("dome", size=32), sw.VirtualPipes(), backend="reference", edges=sides)
    with serve(simulation) as server:
        page = open_page(server)
        state = page.until(lambda state: state["busy"] is None)
        assert state["edges"] == {"north": "open", "south": "open", "west": "closed", "east": "closed"}
        page.close()
    stage = sw.Stage.of(sw.VirtualPipes(), edges=sides)
    recipe = sw.Recipe(source=sw.Generated(kind="dome", size=32), stages=(stage,))
    replayed: dict[str, Any] = {"__name__": "session"}
    exec(sw.Recording(recipe, "reference").script(), replayed)
    assert replayed["simulation"].edges == sides
