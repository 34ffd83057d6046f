"""The five sliders of one run: where they stand, and what they ask for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.recipes.levels import expanded

STAGED = "the stages of a recipe have their own number of steps"
FINE = 1_000_000
"""Parts of the age of a run from coarse to fine."""
AGED = "a run from coarse to fine has its age from the start; reset the run to change it"
ENDLESS = "without a preset, a run goes on until you pause it"


class Place(NamedTuple):
    """Where a recipe is: the number of its stage or level, and whether its flood has receded."""

    level: int
    low_water: bool


class Sliders:
    """Their middle is the preset, or what the recipe has on the level under way and, at its end, for low water.

    Low water may carry nothing: then every other position is a share of what was carried before it. `usual` is the
    recipe without what was typed into the run before this one, whose parameters this one has.
    """

    def __init__(self, recipe: sw.Recipe, running: sw.Running | None, usual: sw.Recipe | None = None) -> None:
        self._stage = recipe.stage
        self.given = recipe.stages if usual is None else usual.stages
        """Stages as the recipe has them, whatever was changed in this run and in those before it."""
        self.strength = recipe.stage.strength if recipe.stage.levels and len(recipe.stages) == 1 else None
        """Share of the steps that the levels of a preset ask for, which is their age; None where there is none."""
        self._levels: list[sw.Stage] | None = None
        """The same with each level of them a stage of its own."""
        if running is not None:
            lowest = running.origin.range("elevation")[0]
            levels = (expanded(stage.anchored(lowest), running.start) for stage in self.given)
            self._levels = list(running.stages) if usual is None else list(itertools.chain.from_iterable(levels))
        self.steps: int | None = None
        """Steps that the age asks for; None for those of the preset."""

    def parts(self) -> dict[str, Any]:
        """What a checkpoint keeps of them."""
        levels = None if self._levels is None else [level.as_dict() for level in self._levels]
        return {"steps": self.steps, "levels": levels, "stages": [stage.as_dict() for stage in self.given]}

    def take(self, parts: Mapping[str, Any] | None, running: sw.Running | None) -> None:
        """Take what `parts` returned; older checkpoints have nothing."""
        kept = parts or {}
        self.steps = kept.get("steps")
        if "stages" in kept:
            self.given = tuple(sw.Stage.from_dict(stage) for stage in kept["stages"])
        if running is not None:
            levels = kept.get("levels")
            self._levels = list(running.stages) if levels is None else [sw.Stage.from_dict(level) for level in levels]

    def follow(self, before: Sliders) -> None:
        """Keep the age of the run before, if it has the same preset."""
        if before._stage.preset == self._stage.preset:
            self.steps = before.steps

    def values(self, name: str, position: float, now: sw.Model, place: Place) -> dict[str, float]:
        """Parameters that a slider stands for at a position; the age notes its steps instead."""
        slider = next((s for s in now.sliders() if s.name == name), None)
        if slider is None:
            raise InvalidParameter(f'there is no slider "{name}"; there are {", ".join(s.name for s in now.sliders())}')
        if name != "age":
            usual, flood = self.usual(now, place), self._flood(slider, now, place)
            if flood is None:
                return slider.values(usual, position)
            values = slider.values(flood, position)
            return {moved: getattr(usual, moved) for moved in values} if position == 0 else values
        usual = self._stage.usual_steps
        if usual is None or self._ageless:
            raise InvalidParameter(f"age cannot be moved: {self._ageless}")
        if self.strength is not None:
            own = self._own_strength
            self.strength = own if position == 0 else slider.steps(round(FINE * own), position) / FINE
            return {}
        self.steps = None if position == 0 else slider.steps(usual, position)
        return {}

    def states(self, now: sw.Model, place: Place) -> dict[str, float | str]:
        """Where each one stands, or why it cannot be moved."""
        usual, steps = self.usual(now, place), self._stage.usual_steps
        states: dict[str, float | str] = {}
        for slider in now.sliders():
            flood = self._flood(slider, now, place)
            reason = self._ageless if slider.name == "age" else slider.why_not(flood or usual)
            if reason:
                states[slider.name] = reason
            elif slider.name == "age" and self.strength is not None:
                states["age"] = slider.age(round(FINE * self.strength), round(FINE * self._own_strength))
            elif slider.name == "age":
                states["age"] = 0.0 if self.steps is None or steps is None else slider.age(self.steps, steps)
            elif flood is None:
                states[slider.name] = slider.position(now, usual)
            else:
                untouched = all(getattr(now, moved) == getattr(usual, moved) for moved in slider.moves)
                states[slider.name] = 0.0 if untouched else slider.position(now, flood)
        return states

    def usual(self, now: sw.Model, place: Place) -> sw.Model:
        """The model as it is where nobody moved or typed anything."""
        if self._levels is not None:
            stage = self._levels[place.level]
            return stage.receding(stage.model) if place.low_water else stage.model
        preset = self._stage.preset
        return type(now)() if preset is None else sw.find_preset(preset).model

    def usual_values(self, now: sw.Model, place: Place) -> dict[str, float | str | bool]:
        """Where that model differs from the defaults; a number that follows from a map is the one in force."""
        changed = self.usual(now, place).changed()
        return {name: getattr(now, name) if isinstance(value, sw.Map) else value for name, value in changed.items()}

    def _flood(self, slider: Any, now: sw.Model, place: Place) -> sw.Model | None:
        """The model before low water, where that has nothing left that the slider could multiply; None elsewhere."""
        if self._levels is None or not place.low_water or slider.name == "age":
            return None
        flood = self._levels[place.level].model
        return flood if slider.why_not(self.usual(now, place)) and not slider.why_not(flood) else None

    @property
    def _own_strength(self) -> float:
        """That of the recipe, whatever was changed."""
        return self.given[0].strength or 1.0

    @property
    def _ageless(self) -> str:
        """Why the run has no age, if so."""
        if self._levels is not None and self.strength is None:
            return STAGED
        return ENDLESS if self._stage.preset is None else ""
