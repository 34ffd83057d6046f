"""What notebooks show: a picture of a terrain, and a run in a frame."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

import slopewash as sw
from slopewash.studio.notebook import _servers

Page = Any


def test_a_terrain_draws_itself_though_nobody_imported_the_drawing() -> None:
    program = (
        "import sys, slopewash as sw; terrain = sw.generate('hill', size=16);"
        "assert 'slopewash.render' not in sys.modules;"
        "assert terrain._repr_png_().startswith(b'\\x89PNG')"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_a_view_is_attached_to_the_very_run(open_page: Any) -> None:
    simulation = sw.Simulation(sw.generate("dome", size=32), sw.VirtualPipes(), backend="reference")
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
