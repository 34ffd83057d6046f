"""The steps of a recipe, with what each needs, for people and for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slopewash.cli.console import add_row, console, make_table, show
from slopewash.memory import gib
from slopewash.needs import duration, slowness
from slopewash.recipes.needs import planned

if TYPE_CHECKING:
    from slopewash import Recipe


def plan_facts(recipe: Recipe) -> list[dict[str, Any]]:
    """Each step: the level it belongs to, its grid, how often the model is stepped, bytes and seconds."""
    facts = []
    for item, part in planned(recipe):
        seconds = slowness() * part.seconds
        facts.append({
            "stage": item.stage.name or item.stage.preset or item.stage.model.name, "step": item.step.words,
            "shape": list(item.shape), "steps": item.step.steps, "memory": round(part.memory),
            "seconds": None if seconds != seconds else float(f"{seconds:.2g}"),
        })  # fmt: skip
    return facts


def print_plan(recipe: Recipe) -> None:
    """Print a table of the same."""
    table = make_table("step", "stage", "cells", "steps", "memory", "time")
    for fact in plan_facts(recipe):
        rows, columns = fact["shape"]
        seconds = float("nan") if fact["seconds"] is None else fact["seconds"]
        add_row(
            table, fact["step"], fact["stage"], f"{columns} x {rows}", str(fact["steps"] or ""), gib(fact["memory"]),
            "under 1 s" if seconds < 1 else duration(seconds),
        )  # fmt: skip
    console().print(table)
    show(f"With source and outputs, {recipe.needs()}.")
