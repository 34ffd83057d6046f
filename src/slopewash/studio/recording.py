"""What happened in a session, and the Python script that does it again to the same bits."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.studio.plan import Generated, Plan

MOST_PARTS = 200_000
"""Dabs, springs, emitters and values that are remembered: at most about 60 MB."""
MOST_ACTIONS = 50_000


@dataclass
class Recording:
    """Actions on one simulation since its start, in order."""

    plan: Plan
    backend: str
    model: Any
    actions: list[tuple[Any, ...]] = field(default_factory=list)
    parts: int = 0
    full: bool = False

    def add(self, *action: Any) -> None:
        """Remember an action; runs of steps are added up."""
        if self.full:
            return
        if action[0] == "run" and self.actions and self.actions[-1][0] == "run":
            self.actions[-1] = ("run", self.actions[-1][1] + action[1])
            return
        self.parts += _parts(action)
        if self.parts > MOST_PARTS or len(self.actions) >= MOST_ACTIONS:
            self.full = True
            self.actions.clear()
            return
        self.actions.append(action)

    def script(self) -> str:
        """Python that replays the session with the public API."""
        if self.full:
            raise InvalidParameter(
                f"this session has more than {MOST_ACTIONS} actions or {MOST_PARTS} dabs and springs, too many for a "
                "script; reset it and work in fewer"
            )
        lines = [
            f'"""A session of the slopewash studio (slopewash {sw.__version__}), to the same bits."""',
            "",
            "import slopewash as sw",
            "",
            f"terrain = {self._terrain()}",
            *self._strata(),
            f"model = {_model(self.model)}",
            f"simulation = sw.Simulation(terrain, model, backend={self.backend!r}, edges={self.plan.edges!r}, "
            f"seed={self.plan.seed})",
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

    def _terrain(self) -> str:
        source = self.plan.source
        if isinstance(source, Generated):
            options = {"size": source.size, "cell_size": source.cell_size, "seed": source.seed}
            if source.relief is not None:
                options["relief"] = source.relief
            return f"sw.generate({source.kind!r}, {_keywords(options | source.options)})"
        if source.script is None:
            raise InvalidParameter(
                "this simulation was made by your own program, which is where its script begins; record from there"
            )
        return source.script if source.size is None else f"{source.script}.resampled({source.size})"

    def _strata(self) -> list[str]:
        if self.plan.preset is None or sw.presets()[self.plan.preset].strata is None:
            return []
        return [
            "if terrain.strata is None and terrain.relief > 0:",
            f"    strata = sw.presets()[{self.plan.preset!r}].strata",
            "    terrain = terrain.replace(strata=strata.fitted(terrain.relief))",
        ]


def _model(model: Any) -> str:
    return f"sw.{type(model).__name__}({_keywords(model.changed())})"


def _parts(action: tuple[Any, ...]) -> int:
    """How much an action takes to remember."""
    kind, *rest = action
    return len(rest[0].points) if kind == "paint" else len(rest[0]) if kind in ("model", "sources", "emitters") else 0


def _lines(action: tuple[Any, ...]) -> list[str]:
    kind, *rest = action
    if kind == "run":
        return [f"simulation.run({rest[0]})"]
    if kind == "model":
        return [f"simulation.model = simulation.model.replace({_keywords(rest[0])})"]
    if kind == "paint":
        return _paint(*rest)
    if kind == "settle":
        stopped = "" if rest[2] is None else f", stop_after={rest[2]}"
        return [f"simulation.settle({rest[0]}, dry={rest[1]}{stopped})"]
    if kind == "sources":
        springs = [f"sw.WaterSource({_keywords(asdict(spring))})" for spring in rest[0]]
        return [f"simulation.set_sources({', '.join(_and_join(springs, rest[1]))})"]
    if kind == "emitters":
        emitters = [f"sw.Emitter({_keywords(asdict(emitter))})" for emitter in rest[0]]
        return [f"simulation.set_emitters({', '.join(_and_join(emitters, rest[1]))})"]
    return [f"simulation.{kind}()"]


def _paint(message: Any, join: bool) -> list[str]:
    points = ", ".join(f"({x!r}, {y!r})" for x, y in message.points)
    options = {"radius": message.radius, "strength": message.strength, "falloff": message.falloff}
    if join:
        options["join"] = True
    return [f"simulation.paint({message.tool!r}, points=[{points}], {_keywords(options)})"]


def _and_join(arguments: list[str], join: bool) -> list[str]:
    return [*arguments, "join=True"] if join else arguments


def _keywords(values: Any) -> str:
    return ", ".join(f"{name}={_literal(value)}" for name, value in values.items())


def _literal(value: Any) -> str:
    """Python for a value, exact for every finite number.

    >>> _literal(math.inf), _literal(0.1)
    ("float('inf')", '0.1')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)
