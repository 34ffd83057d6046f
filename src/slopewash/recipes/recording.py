"""What happened in a session, and the Python script that does it again to the same bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from slopewash.errors import InvalidParameter
from slopewash.recipes.definition import Recipe
from slopewash.recipes.sources import keywords

MOST_PARTS = 200_000
"""Dabs, water sources, emitters and values that are remembered: at most about 60 MB."""
MOST_ACTIONS = 50_000


@dataclass
class Recording:
    """Actions on one simulation since its start, in order; each is plain data, so that checkpoints can keep it."""

    recipe: Recipe
    backend: str
    actions: list[list[Any]] = field(default_factory=list)
    parts: int = 0
    full: bool = False

    def add(self, *action: Any) -> None:
        """Remember an action; runs of steps are added up."""
        if self.full:
            return
        if action[0] == "run" and self.actions and self.actions[-1][0] == "run":
            self.actions[-1] = ["run", self.actions[-1][1] + action[1]]
            return
        self.parts += _parts(action)
        if self.parts > MOST_PARTS or len(self.actions) >= MOST_ACTIONS:
            self.full = True
            self.actions.clear()
            return
        self.actions.append(list(action))

    def script(self) -> str:
        """Python that replays the session with the public API."""
        if self.full:
            raise InvalidParameter(
                f"this session has more than {MOST_ACTIONS} actions or {MOST_PARTS} dabs and water sources, too many "
                "for a script; reset it and work in fewer"
            )
        from slopewash import __version__

        stage = self.recipe.stage
        lines = [
            f'"""A session of the slopewash studio (slopewash {__version__}); the result is bit-identical."""',
            "",
            "import slopewash as sw",
            "",
            f"terrain = {self.recipe.source.script()}",
            *self._strata(),
            f"model = sw.{type(stage.model).__name__}({keywords(stage.model.changed())})",
            f"simulation = sw.Simulation(terrain, model, backend={self.backend!r}, edges={stage.edges!r}, "
            f"seed={self.recipe.seed})",
            "",
        ]
        for action in self.actions:
            lines += _lines(action)
        lines += [
            "",
            "eroded = simulation.terrain",
            'if __name__ == "__main__":',
            '    print(sw.write(eroded, "session.npz"))',
            "    print(simulation.budget)",
            "",
        ]
        return "\n".join(lines)

    def _strata(self) -> list[str]:
        if self.recipe.strata is None:
            return []
        return [f"terrain = sw.preset_beds({self.recipe.stage.preset!r}).under(terrain)"]


def _parts(action: tuple[Any, ...]) -> int:
    """How much an action takes to remember."""
    kind, *rest = action
    if kind == "paint":
        return len(rest[0]["points"])
    return len(rest[0]) if kind in ("model", "sources", "emitters") else 0


def _lines(action: list[Any]) -> list[str]:
    kind, *rest = action
    if kind == "run":
        return [f"simulation.run({rest[0]})"]
    if kind == "model":
        return [f"simulation.model = simulation.model.replace({keywords(rest[0])})"]
    if kind == "paint":
        return [f"simulation.paint({_paint(rest[0], rest[1])})"]
    if kind == "settle":
        stopped = "" if rest[2] is None else f", stop_after={rest[2]}"
        return [f"simulation.settle({rest[0]}, dry={rest[1]}{stopped})"]
    if kind in ("sources", "emitters"):
        name = "WaterSource" if kind == "sources" else "Emitter"
        discs = [f"sw.{name}({keywords(disc)})" for disc in rest[0]]
        return [f"simulation.set_{kind}({', '.join([*discs, *(['join=True'] if rest[1] else [])])})"]
    return [f"simulation.{kind}()"]


def _paint(stroke: dict[str, Any], join: bool) -> str:
    points = ", ".join(f"({x!r}, {y!r})" for x, y in stroke["points"])
    options = {name: stroke[name] for name in ("radius", "strength", "falloff")} | ({"join": True} if join else {})
    return f"{stroke['tool']!r}, points=[{points}], {keywords(options)}"
