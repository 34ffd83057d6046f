"""What was done to a run, and the Python script that repeats it to a bit-identical result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pprint import pformat
from typing import Any

import numpy as np

from slopewash.errors import InvalidParameter
from slopewash.models.state import Edges, Sides
from slopewash.recipes.definition import Recipe, Stage, preset_beds
from slopewash.recipes.sources import FromTerrain, file_source, keywords
from slopewash.recipes.writing import recipe_text
from slopewash.terrain import Terrain
from slopewash.terrain.parts import Arrays, put_together, strata_facts, take_apart

MOST_PARTS = 200_000
"""Dabs, water sources, emitters and values that are remembered: at most about 60 MB."""
MOST_ACTIONS = 50_000
WORDS = {
    "paint": "brush strokes", "sources": "water sources", "emitters": "emitters", "undo": "undone edits",
    "redo": "undone edits",
}  # fmt: skip
"""Actions that a recipe file cannot hold."""


@dataclass
class Recording:
    """Actions on one simulation since its start, in order; each is plain data that is never changed.

    >>> import slopewash as sw
    >>> sw.Recording(recipe=sw.recipe("jako2011", size=16), backend="reference").actions
    []
    """

    recipe: Recipe
    backend: str
    actions: list[list[Any]] = field(default_factory=list)
    amount: int = 0
    """Dabs, sources, emitters and values remembered so far."""
    full: bool = False
    _lines: list[str] = field(default_factory=list, repr=False)
    """Actions as JSON, as far as they were encoded already."""

    @property
    def has_edits(self) -> bool:
        """Whether anything was painted or placed, undone or not."""
        return self.full or any(kind in WORDS for kind, *_ in self.actions)

    def add(self, *action: Any) -> None:
        """Remember an action; runs of steps are added up."""
        if self.full:
            return
        if action[0] == "run" and self.actions and self.actions[-1][0] == "run":
            self.actions[-1] = ["run", self.actions[-1][1] + action[1]]
            return
        self.amount += amount(action)
        if self.amount > MOST_PARTS or len(self.actions) >= MOST_ACTIONS:
            self.full = True
            self.actions.clear()
            self._lines.clear()
            return
        self.actions.append(list(action))

    def parts(self, start: Terrain | None, *, then: Iterable[list[Any]] = ()) -> tuple[dict[str, Any], Arrays]:
        """Facts and arrays for a checkpoint of the run; `then` is what is not over yet.

        A `start` that the checkpoint holds already is left out.
        """
        facts: dict[str, Any] = {"recipe": self.recipe.as_dict(), "backend": self.backend, "full": self.full}
        arrays: Arrays = {"recording.actions": np.frombuffer("\n".join(self._encoded(then)).encode(), np.uint8)}
        source = self.recipe.source
        if isinstance(source, FromTerrain) and source.terrain is not None and source.terrain is not start:
            facts["terrain"], terrain = take_apart(source.terrain)  # before it was resampled or got strata
            arrays |= {f"recording.terrain.{name}": array for name, array in terrain.items()}
        return facts, arrays

    def _encoded(self, then: Iterable[list[Any]]) -> list[str]:
        """Encode the actions as lines of JSON, those of the last time no second time: there may be many."""
        if self.full:
            return []
        self._lines += [json.dumps(action) for action in self.actions[len(self._lines) : -1]]  # the last may still grow
        return self._lines + [json.dumps(action) for action in [*self.actions[-1:], *then]]

    def lines(self) -> list[str] | None:
        """The actions, one line of JSON each; None if there were too many to remember."""
        return None if self.full else self._encoded(())

    @classmethod
    def from_parts(cls, facts: Mapping[str, Any], arrays: Arrays, start: Terrain | None) -> Recording:
        """Make the recording that `parts` described."""
        recipe = Recipe.from_dict(facts["recipe"])
        if isinstance(recipe.source, FromTerrain):
            prefix = "recording.terrain."
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            terrain = put_together(facts["terrain"], own) if "terrain" in facts else start
            recipe = recipe.replace(source=replace(recipe.source, terrain=terrain))
        recording = cls(recipe, facts["backend"])
        for line in arrays["recording.actions"].tobytes().decode().splitlines():
            recording.add(*json.loads(line))
        recording.full |= facts["full"]
        return recording

    def script(self) -> str:
        """Python that replays the session with the public API."""
        if self.full:
            raise InvalidParameter(
                f"this session has more than {MOST_ACTIONS} actions or {MOST_PARTS} dabs and water sources, too many "
                "for a script; reset it and work in fewer"
            )
        from slopewash import __version__

        stage, staged = self.recipe.stage, self.recipe.is_staged
        lines = [
            f'"""A session of the slopewash studio (slopewash {__version__}); the result is bit-identical."""',
            "",
            "import slopewash as sw",
            "",
            f"terrain = {self.recipe.source.script()}",
            *self._layers(),
            *self._discs(),
            *self._strata(),
            *(self._staged() if staged else self._alone(stage)),
            "",
        ]
        for action in self.actions:
            lines += _staged_lines(action) if staged else _lines(action)
        lines += [
            "",
            f"eroded = {'running.result()' if staged else 'simulation'}.terrain",
            'if __name__ == "__main__":',
            '    print(sw.write(eroded, "session.npz"))',
            f"    print({'running.result()' if staged else 'simulation'}.budget)",
            "",
        ]
        return "\n".join(lines)

    def _alone(self, stage: Stage) -> list[str]:
        return [
            f"model = sw.{type(stage.model).__name__}({keywords(stage.model.changed())})",
            f"simulation = sw.Simulation(terrain, model, backend={self.backend!r}, edges={_edges(stage.edges)}, "
            f"seed={self.recipe.seed})",
        ]

    def _staged(self) -> list[str]:
        facts = self.recipe.replace(backend=self.backend, outputs=()).as_dict()
        return [
            f"recipe = sw.Recipe.from_dict({pformat(facts, width=118, sort_dicts=False)})",
            "running = sw.Running(recipe, terrain)",
        ]

    def recipe_text(self, now: Recipe) -> str:
        """Recipe file of the session, given its recipe with the parameters as they are.

        It holds source, layers, strata and stages; of a run on one grid, all steps so far. Runs of one parameter set,
        settled at the end or not, are repeated to the bit; a comment names what is missing.
        """
        if self.recipe.is_staged:
            return self._text(now.stages, [], "# A recipe, saved by the slopewash studio.")
        kinds = [action[0] for action in self.actions]
        settled = [action for action in self.actions if action[0] == "settle"]
        steps = sum(action[1] for action in self.actions if action[0] == "run")
        stage = self.recipe.stage.on_one_grid().replace(
            model=now.stage.model, steps=steps or self.recipe.stage.steps,
            settle=settled[-1][1] if settled else None, dry=bool(settled and settled[-1][2]),
        )  # fmt: skip
        early = len(settled) > 1 or (settled and kinds[-1] != "settle")
        missing = ["settling before the end"] if early else []
        return self._text((stage,), missing, "# A session of the slopewash studio on one grid.")

    def _text(self, stages: tuple[Stage, ...], missing: list[str], title: str) -> str:
        kinds = [action[0] for action in self.actions]
        recipe = self.recipe.replace(source=file_source(self.recipe.source), stages=stages)
        missing = [*sorted({WORDS[kind] for kind in kinds if kind in WORDS}), *missing]
        if "model" in kinds[kinds.index("run") :] if "run" in kinds else False:
            missing.append("changes of parameters under way")
        if self.full:
            missing = ["what was done: there was too much to remember"]
        notes = [title]
        if missing:
            notes.append(f"# Not in it: {', '.join(missing)}; save it as a Python script to repeat those.")
        return "\n".join([*notes, "", recipe_text(recipe, None)])

    def _layers(self) -> list[str]:
        return [
            f"terrain = terrain.replace({name}={layer!r})" if isinstance(layer, float) else
            f"terrain = terrain.replace({name}=sw.LayerFile(path={str(layer.path)!r}, range={layer.range!r})"
            f".values({name!r}, terrain))"
            for name, layer in self.recipe.layers.items()
        ]  # fmt: skip

    def _discs(self) -> list[str]:
        placed = {"sources": self.recipe.water_sources, "emitters": self.recipe.emitters}
        return [
            f"terrain = terrain.replace({name}=[{', '.join(f'sw.{disc!r}' for disc in discs)}])"
            for name, discs in placed.items()
            if discs
        ]

    def _strata(self) -> list[str]:
        beds, preset = self.recipe.strata, self.recipe.stage.preset
        if beds is None:
            return []
        usual = preset_beds(preset)
        if usual is not None and strata_facts(usual.strata) == strata_facts(beds.strata):
            return [f"terrain = sw.preset_beds({preset!r}).under(terrain)"]
        facts = strata_facts(beds.strata)
        layers = ", ".join(f"sw.Stratum({keywords(layer)})" for layer in facts.pop("layers"))
        options = keywords({"shares": beds.shares, "replace": beds.replace})
        return [f"terrain = sw.Beds(sw.Strata([{layers}], {keywords(facts)}), {options}).under(terrain)"]


def _edges(edges: Edges | Sides) -> str:
    return f"sw.{edges!r}" if isinstance(edges, Sides) else repr(edges)


def amount(action: tuple[Any, ...]) -> int:
    """How much an action takes to remember."""
    kind, *rest = action
    if kind == "paint":
        return len(rest[0]["points"])
    return len(rest[0]) if kind in ("model", "sources", "emitters") else 0


def _lines(action: list[Any]) -> list[str]:
    kind, *rest = action
    if kind == "run":
        return [f"simulation.run({rest[0]})"]
    if kind == "interrupted":
        return [f"simulation.run(1, stop_after={rest[0]})"]
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


def _staged_lines(action: list[Any]) -> list[str]:
    """The same of a recipe under way: steps and parameters are those of its stages, edits of its simulation."""
    kind, *rest = action
    if kind == "run":
        return [f"running.advance({rest[0]})"]
    if kind == "interrupted":
        return [f"running.advance(1, stop_after={rest[0]})"]
    if kind == "model":
        return [f"running.set_parameters({keywords(rest[0])})"]
    return [f"running.{line}" for line in _lines(action)]


def _paint(stroke: dict[str, Any], join: bool) -> str:
    points = ", ".join(f"({x!r}, {y!r})" for x, y in stroke["points"])
    options = {name: stroke[name] for name in ("radius", "strength", "falloff")} | ({"join": True} if join else {})
    return f"{stroke['tool']!r}, points=[{points}], {keywords(options)}"
