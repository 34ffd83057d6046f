"""`simulation.view()`: the studio in the output cell of a notebook, attached to the user's own simulation."""

from __future__ import annotations

import html
import json
from typing import Any
from weakref import WeakKeyDictionary

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.studio.server import StudioServer

_servers: WeakKeyDictionary[sw.Simulation, StudioServer] = WeakKeyDictionary()

# SameSite=Strict cookies reach the frame only if notebook and studio have the same host name, so the script uses the
# notebook's.
_CELL = """<iframe id="{frame}" style="width: 100%; height: {height}px; border: 0" title="slopewash studio"></iframe>
<div><a href="{url}" target="_blank" rel="noopener">open in a separate window</a></div>
<script>
(() => {{
  const host = location.hostname === "localhost" ? "localhost" : "127.0.0.1";
  document.getElementById("{frame}").src = "http://" + host + {path};
}})();
</script>"""


def serve(simulation: sw.Simulation) -> StudioServer:
    """Make a server that shows this simulation, without starting it."""
    recipe = sw.Recipe(
        source=sw.FromTerrain(name="simulation", terrain=simulation.terrain),
        stages=(sw.Stage.of(simulation.model, edges=simulation.edges),),
        backend=simulation.backend,
    )
    return StudioServer(recipe, port=0, embedded=True, simulation=simulation)


class View:
    """What a notebook shows for `simulation.view()`."""

    def __init__(self, server: StudioServer, height: int) -> None:
        self.server = server
        self.height = height

    def _repr_html_(self) -> str:
        path = f":{self.server.port}/?token={self.server.gate.token}"
        return _CELL.format(
            frame=f"slopewash-{self.server.port}",
            height=self.height,
            url=html.escape(self.server.url),
            path=json.dumps(path),
        )

    def __repr__(self) -> str:
        return f"slopewash studio at {self.server.url}"


def view(simulation: sw.Simulation, *, height: int = 640) -> Any:
    """Show a simulation in the studio; all its views share one server."""
    if not 100 <= height <= 10_000:
        raise InvalidParameter(f"height is {height}; it must be within 100 .. 10000 pixels")
    if simulation not in _servers or not _servers[simulation].running:
        _servers[simulation] = serve(simulation).start()
    return View(_servers[simulation], height)
