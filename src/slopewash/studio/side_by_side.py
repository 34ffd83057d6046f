"""Side by side: two or four runs from one terrain, each with its own model or parameters, that go on together."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import slopewash as sw
from slopewash.errors import InvalidParameter, SlopewashError
from slopewash.plain import plain
from slopewash.studio import messages, protocol
from slopewash.studio.recipes import next_recipe, resized, untyped
from slopewash.studio.run import Run
from slopewash.studio.snapshot import Snapshot

MOST_CELLS = {2: 256, 4: 192}
"""Along the longer side of a pane, by their number: together less than a run of 512 x 512 cells."""
FIRST_OFFER = ("single_grid", "landscape", "outerrain", "chiba_fig2")
"""Presets beside the present settings, in this order: those that suit most terrains, then other models."""
ENDLESS = 1_000_000
"""Times its usual length that a run beyond its end may go on."""


def first_recipes(recipe: sw.Recipe, count: int) -> list[sw.Recipe]:
    """Recipes of so many panes on the ground of this one: the present settings, then other presets and models."""
    return filled_up([recipe], count)


def filled_up(recipes: Sequence[sw.Recipe], count: int) -> list[sw.Recipe]:
    """So many recipes: these, then what they lack of the first offer, on the same ground."""
    first = recipes[0]
    presets = {recipe.stage.preset for recipe in recipes}
    models = {recipe.stage.model.name for recipe in recipes} - {"virtual_pipes"}  # whose presets differ most
    offer = [sw.find_preset(name) for name in FIRST_OFFER if name not in presets]
    others = [_with_preset(first, preset) for preset in offer if preset.model.name not in models]
    return [*recipes, *others, first, first][:count]


def _with_preset(recipe: sw.Recipe, preset: Any) -> sw.Recipe:
    """The same ground with a preset, on one grid; the edges stay where its model takes them, as part of the ground."""
    edges: Any = recipe.stage.edges if recipe.stage.edges in preset.model.edges() else None
    start = messages.Start(type="start", preset=preset.name, levels=False, edges=edges)
    return _with_own_strata(next_recipe(recipe, start, None), recipe)


def _with_own_strata(recipe: sw.Recipe, before: sw.Recipe) -> sw.Recipe:
    """With the strata of the recipe before, unless its preset suggested them: they are part of the ground."""
    if before.strata is None:
        return recipe
    suggested = before.replace(strata=sw.preset_beds(before.stage.preset))
    is_own = before.as_dict()["strata"] != suggested.as_dict()["strata"]  # strata from a file are other objects
    return recipe.replace(strata=before.strata) if is_own else recipe


def at_most(recipe: sw.Recipe, cells: int) -> sw.Recipe:
    """The recipe on its ground with no more than so many cells along the longer side.

    A long and narrow terrain has more, so that its shorter side has as many as the studio takes at the least.
    """
    shape = _shape(recipe)
    cells = max(cells, math.ceil(messages.SIZES[0] * max(shape) / min(shape)))
    return recipe if max(shape) <= cells else resized(recipe, cells)


def _shape(recipe: sw.Recipe) -> tuple[int, int]:
    source = recipe.source
    return (source.size, source.size) if isinstance(source, sw.Generated) else recipe.terrain().shape


class Leg:
    """The way of all panes from where they are to where each one goes: in proportion, so that all arrive together."""

    def __init__(self, steps: Sequence[int], goals: Sequence[int]) -> None:
        self._begins = list(steps)
        self._ways = [goal - begin for begin, goal in zip(steps, goals, strict=True)]
        self.length = max(self._ways)
        """In steps of the pane that takes the most."""
        self.tick = 0
        """How far all of them are to go now."""
        self.last = self.length
        """Where it ends; earlier after a pause."""

    def goal(self, pane: int) -> int:
        """Step that a pane is to reach now.

        >>> leg = Leg([0, 0], [4000, 200])
        >>> leg.tick = 1000
        >>> leg.goal(0), leg.goal(1)
        (1000, 50)
        """
        return self._begins[pane] + self._ways[pane] * self.tick // self.length

    def end(self, pane: int) -> int:
        """Step at which a pane will be in the end."""
        return self._begins[pane] + self._ways[pane]


class Pane:
    """One run, and what a step of it costs."""

    def __init__(self, run: Run, wanted: sw.Recipe) -> None:
        self.run = run
        self._wanted = wanted
        """Its recipe, maybe on more cells."""
        self.seconds_per_step: float | None = None

    @property
    def recipe(self) -> sw.Recipe:
        """The recipe with the parameters as they are now, on all the cells that its ground is wanted with."""
        return self.run.next_recipe.replace(source=self._wanted.source)

    @property
    def usual_recipe(self) -> sw.Recipe:
        """The same with the parameters as they were before somebody changed them."""
        return self.run.usual_recipe.replace(source=self._wanted.source)

    def advance(self, steps: int, stop: Callable[[], bool], *, timed: bool) -> None:
        """Take steps; those that also compile kernels are not `timed`."""
        before, begin = self.run.step, time.monotonic()
        self.run.advance(steps, stop=stop)
        done = self.run.step - before
        if done > 0 and timed:
            each, known = (time.monotonic() - begin) / done, self.seconds_per_step
            self.seconds_per_step = each if known is None else 0.8 * known + 0.2 * each

    def facts(self, first: Run) -> protocol.PaneState:
        """What it is, what differs from the first pane, and what it did to the ground."""
        run, model = self.run, self.run.simulation.model
        other = model.values() if run is first else _compared_with(run, first).values()
        ground = np.asarray(run.shown_layers("elevation")["elevation"], np.float64)
        start = run.start if run.start.shape == ground.shape else run.origin
        change = ground - start["elevation"]
        if start.nodata is not None:
            change = change[~start.nodata]
        lower = np.minimum(change, 0)
        return {
            "run": run.number,
            "model": model.name,
            "preset": (run.recipe.stage if run.running is None else run.running.stage).preset,
            "stage": None if run.running is None else run.running.place or "one stage",
            "step": run.step,
            "usual_steps": run.usual_steps,
            "differs": plain({name: value for name, value in model.values().items() if other.get(name) != value}),
            "milliseconds": None if self.seconds_per_step is None else 1000 * self.seconds_per_step,
            "eroded": -float(lower.sum()) * start.cell_size**2,
            "mean_erosion": -float(lower.mean()),
            "highest_deposit": max(float(change.max()), 0.0),
        }


def _compared_with(run: Run, first: Run) -> sw.Model:
    """What the parameters of a pane are compared with: those of the first pane, or its own preset's."""
    if type(run.simulation.model) is type(first.simulation.model):
        return first.simulation.model
    preset = run.recipe.stage.preset
    return type(run.simulation.model)() if preset is None else sw.find_preset(preset).model


class Panes:
    """All panes, the run before them, and how far they are on their way.

    `notice` is called with warnings that a person should see.
    """

    def __init__(
        self,
        home: Run,
        recipes: Sequence[sw.Recipe],
        notice: Callable[[str], None],
        usual: Sequence[sw.Recipe] | None = None,
    ) -> None:
        self.home = home
        """The run that was there before, as it was."""
        self._notice = notice
        self._panes: list[Pane] = []
        self.chosen = 0
        self.leg: Leg | None = None
        self._round = (0, 0.0)
        """Steps of the longest pane that all of them are to take in turn, and the seconds that it took so far."""
        self._wanted_cells = 0
        """Along the longer side, if there were only one run."""
        self.begin_again(recipes, [home], usual)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._panes)

    @property
    def run(self) -> Run:
        """The run of the pane that is chosen."""
        return self._panes[self.chosen].run

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the runs of all panes."""
        return tuple(pane.run.number for pane in self._panes)

    @property
    def recipes(self) -> list[sw.Recipe]:
        """Recipes of all panes with the parameters as they are now."""
        return [pane.recipe for pane in self._panes]

    @property
    def usual_recipes(self) -> list[sw.Recipe]:
        """The same with the parameters as they were before somebody changed them."""
        return [pane.usual_recipe for pane in self._panes]

    def begin_again_with(self, message: messages.Reset | messages.CopyPane | messages.Start, uploads: Any) -> None:
        """Start all panes again as a message asks for: another terrain is for all, the rest for the chosen one."""
        recipes, usual, earlier = self.recipes, self.usual_recipes, [pane.run for pane in self._panes]
        if isinstance(message, messages.CopyPane):
            self._check_number(message.pane)
            recipes[self.chosen], usual[self.chosen] = recipes[message.pane], usual[message.pane]
            earlier[self.chosen] = earlier[message.pane]
        elif isinstance(message, messages.Start):
            recipes = self._started(recipes, message, uploads)
            usual = self._started(usual, untyped(message), uploads)
        self.begin_again(recipes, earlier, usual)

    def _started(self, recipes: list[sw.Recipe], message: messages.Start, uploads: Any) -> list[sw.Recipe]:
        if message.generator is not None or message.upload is not None or message.size is not None:
            ground = messages.Start(type="start", generator=message.generator, upload=message.upload, size=message.size)
            recipes = [next_recipe(recipe, ground, uploads) for recipe in recipes]
        rest = message.model_copy(update={"generator": None, "upload": None, "size": None})
        before = recipes[self.chosen]
        recipes[self.chosen] = _with_own_strata(next_recipe(before, rest, uploads), before)
        return recipes

    def begin_again(
        self,
        recipes: Sequence[sw.Recipe],
        earlier: Sequence[Run] | None = None,
        usual: Sequence[sw.Recipe] | None = None,
    ) -> None:
        """Start all panes from these recipes, together; if one cannot be made, all stay as they are.

        Each keeps the age and the view of an earlier run: without them, of the pane in its place. `usual` has the
        recipes without what was typed.
        """
        made: list[Pane] = []
        wanted_cells = max(_shape(recipes[0]))
        try:
            for number, (recipe, untouched) in enumerate(zip(recipes, usual or recipes, strict=True), 1):
                shown = at_most(recipe, MOST_CELLS[len(recipes)])
                run = Run(shown, notice=self._notice_of(number), usual=untouched)
                made.append(Pane(run, recipe))
                self._check_ground(run, made[0].run)
        except BaseException:
            for pane in made:
                pane.run.close()
            raise
        for pane, run in zip(made, earlier or [pane.run for pane in self._panes], strict=False):
            pane.run.sliders.follow(run.sliders)
            pane.run.view = run.view
        self.close()
        self._panes, self.leg, self._wanted_cells = made, None, wanted_cells
        self.chosen = min(self.chosen, len(made) - 1)

    def _notice_of(self, number: int) -> Callable[[str], None]:
        return lambda sentence: self._notice(f"Pane {number}: {sentence}")

    @staticmethod
    def _check_ground(run: Run, first: Run) -> None:
        if run.origin.shape != first.origin.shape:
            raise InvalidParameter("all panes stand on one terrain; start side by side again to change it")

    def choose(self, number: int) -> None:
        """Choose a pane."""
        self._check_number(number)
        self.chosen = number

    def _check_number(self, number: int) -> None:
        if number >= len(self._panes):
            raise InvalidParameter(f"pane is {number}; there are {len(self._panes)} panes, counted from 0")

    def close(self, keep: Run | None = None) -> None:
        """Free the memory of all panes, except for one that is kept."""
        for pane in self._panes:
            if pane.run is not keep:
                pane.run.close()

    # Going on.

    def go(self, message: messages.Play | messages.Step | messages.RunTo) -> None:
        """Begin to go on, as a message asks for."""
        if isinstance(message, messages.Step):
            self._go([pane.run.step + message.count for pane in self._panes])
        elif isinstance(message, messages.RunTo):
            self._go([max(pane.run.step, message.step) for pane in self._panes])
        else:
            self._go(self._ends())

    def _ends(self) -> list[int]:
        """Where to go: the end of each preset or recipe, or beyond it on and on, if all can."""
        runs = [pane.run for pane in self._panes]
        known = next((run.usual_steps for run in runs if run.usual_steps), None)
        lengths = [run.usual_steps or known or 1 for run in runs]
        unfinished = any(run.step < length for run, length in zip(runs, lengths, strict=True))
        if known is not None and (unfinished or any(run.running is not None for run in runs)):
            return [max(run.step, length) for run, length in zip(runs, lengths, strict=True)]
        return [run.step + ENDLESS * length for run, length in zip(runs, lengths, strict=True)]

    def _go(self, goals: Sequence[int]) -> None:
        steps = [pane.run.step for pane in self._panes]
        ends = [pane.run.usual_steps if pane.run.running is not None else None for pane in self._panes]
        goals = [goal if end is None else min(goal, end) for goal, end in zip(goals, ends, strict=True)]
        if all(goal <= step for goal, step in zip(goals, steps, strict=True)):
            raise InvalidParameter(f"all panes are there already, at step {max(steps)}; reset them to go back")
        self.leg = Leg(steps, goals)

    def pause(self) -> bool:
        """Stop as soon as all panes are level; at once if they are, or if it is asked for twice. Returns whether."""
        leg = self.leg
        if leg is None or leg.last <= leg.tick or self.behind is None:
            self.leg = None
            return True
        leg.last = leg.tick
        return False

    @property
    def behind(self) -> Pane | None:
        """The first pane that is not as far as it is to go now."""
        return None if (number := self._behind()) is None else self._panes[number]

    def _behind(self) -> int | None:
        leg = self.leg
        if leg is None:
            return None
        numbers = (n for n, pane in enumerate(self._panes) if pane.run.step < leg.goal(n) and not pane.run.finished)
        return next(numbers, None)

    def next_round(self, ticks: int) -> Pane | None:
        """The pane whose turn it is; if all are level, they are to go further by so much."""
        leg = self.leg
        if leg is not None and self.behind is None:
            before, leg.tick = leg.tick, min(leg.tick + ticks, leg.last)
            self._round = (leg.tick - before, 0.0)
        return self.behind

    def advance(self, stop: Callable[[], bool], *, timed: bool) -> tuple[int, float] | None:
        """Take the turn of the pane that is behind; if that ends the round, returns its steps and its seconds."""
        number, leg = self._behind(), self.leg
        assert leg is not None
        if number is not None:
            pane, begin = self._panes[number], time.monotonic()
            try:
                pane.advance(leg.goal(number) - pane.run.step, stop, timed=timed)
            except SlopewashError as error:
                raise SlopewashError(f"pane {number + 1}: {error}") from error
            self._round = (self._round[0], self._round[1] + time.monotonic() - begin)
        return self._round if self.behind is None else None

    @property
    def is_over(self) -> bool:
        """Whether all are where they were to go."""
        return self.leg is None or (self.leg.tick >= self.leg.last and self.behind is None)

    @property
    def target(self) -> int | None:
        """Step at which the pane that is chosen will pause; None where it goes on and on."""
        usual = self.run.usual_steps or 1
        end = None if self.leg is None else self.leg.end(self.chosen)
        return end if end is None or end < ENDLESS * usual else None

    # What pages see.

    def facts(self) -> protocol.SideBySideState:
        """What a `state` message holds of them."""
        first = self._panes[0].run
        return {
            "panes": [pane.facts(first) for pane in self._panes],
            "chosen": self.chosen,
            "cells": max(first.origin.shape),
            "cells_before": self._wanted_cells,
        }

    def snapshot(self, version: int, wanted: frozenset[str]) -> Snapshot:
        """What a frame of each pane is made of: that of the chosen one, with the others beside it."""
        snapshots = [
            dataclasses.replace(pane.run.snapshot(version, wanted), pane=number)
            for number, pane in enumerate(self._panes)
        ]
        chosen = snapshots.pop(self.chosen)
        return dataclasses.replace(chosen, others=tuple(snapshots))
