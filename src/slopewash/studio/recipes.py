"""Recipes of a session: the first one, and the next one that a page asks for."""

from __future__ import annotations

import dataclasses
from typing import Any

import slopewash as sw
from slopewash.errors import InvalidParameter, SlopewashError, unknown_name
from slopewash.studio import messages


def first_recipe(
    *,
    preset: str | None = None,
    model: str | None = None,
    source: sw.Generated | sw.FromTerrain | None = None,
    size: int | None = None,
    seed: int | None = None,
    extent: float | None = None,
    backend: str = "auto",
    levels: bool = False,
) -> sw.Recipe:
    """The first recipe: the landscape preset, if nothing else is named; with `levels`, from coarse to fine."""
    if model is not None and preset is None:
        chosen = sw.find_model(model)
        stage = sw.Stage.of(chosen(), edges=chosen.edges()[0])
    else:
        stage = _stage_of(preset, levels=levels)
        if model is not None:
            sw.find_preset(stage.preset or "").check_model(model)
    check_side(size)
    if source is None and stage.preset is not None:
        source = sw.preset_source(stage.preset, size=size, seed=seed, extent=extent)
    elif source is None:
        usual = sw.Generated()
        source = sw.Generated(size=size or usual.size, extent=extent, seed=usual.seed if seed is None else seed)
    seeded = seed if seed is not None else source.seed if isinstance(source, sw.Generated) else 0
    return sw.Recipe(source=source, strata=sw.preset_beds(stage.preset), stages=(stage,), backend=backend, seed=seeded)


def next_recipe(recipe: sw.Recipe, wanted: messages.Start, uploads: Any) -> sw.Recipe:
    """Recipe after a `start` message; what it does not name stays."""
    if wanted.look is not None:
        return _landscape(wanted.look, recipe, wanted)
    source: Any = recipe.source
    if wanted.upload is not None and wanted.generator is not None:
        raise InvalidParameter("start names both an upload and a generator; name one")
    if wanted.upload is not None:
        source = uploads.find(wanted.upload)
    elif wanted.generator is not None:
        source = _changed(source, wanted.generator)
    if wanted.size is not None:
        source = _resized(source, wanted.size)
    stage = recipe.stage
    if wanted.preset is not None:
        stage = _stage_of(wanted.preset, levels=bool(stage.levels) if wanted.levels is None else wanted.levels)
        if wanted.model is not None:
            sw.find_preset(wanted.preset).check_model(wanted.model)
    elif wanted.model is not None and wanted.model != stage.model.name:
        stage = sw.Stage.of(sw.find_model(wanted.model)(), edges=_edges(wanted.model, stage.edges))
    elif wanted.levels is not None and wanted.levels != bool(stage.levels):  # else it stays, with the stages after it
        stage = _with_levels(stage) if wanted.levels else stage.on_one_grid()
    others = recipe.stages[1:] if stage is recipe.stage else ()
    model = stage.model.replace(**wanted.parameters)
    stage = stage.replace(model=model, edges=wanted.edges or stage.edges)
    own = wanted.preset is None and type(stage.model) is type(recipe.stage.model)
    backend = wanted.backend or (recipe.backend if recipe.backend in ("auto", *model.backends) else "auto")
    return sw.Recipe(
        source=source, layers=recipe.layers if wanted.upload is None else {}, **_discs(recipe, stage.model, wanted),
        strata=recipe.strata if own else sw.preset_beds(stage.preset), stages=(stage, *others),
        backend=backend, seed=source.seed if isinstance(source, sw.Generated) else recipe.seed, outputs=recipe.outputs,
    )  # fmt: skip


def untyped(wanted: messages.Start) -> messages.Start:
    """The same message without the parameters that somebody typed."""
    return wanted.model_copy(update={"parameters": {}}) if wanted.parameters else wanted


def _landscape(name: str, recipe: sw.Recipe, wanted: messages.Start) -> sw.Recipe:
    """A named landscape on as many cells as the terrain before it."""
    others = wanted.model_fields_set - {"type", "id", "look", "size", "backend"}
    if others:
        raise InvalidParameter(
            f'start names the landscape "{name}" and also {", ".join(sorted(others))}, which it sets; leave that out'
        )
    known = sw.looks()
    if name not in known:
        raise unknown_name("landscape", name, known)
    size = wanted.size or (recipe.source.size if isinstance(recipe.source, sw.Generated) else None)
    return known[name].recipe(size=size, backend=wanted.backend or recipe.backend)


def _stage_of(preset: str | None, *, levels: bool) -> sw.Stage:
    """The stage of a preset: from coarse to fine if it can, or on one grid."""
    stage = sw.Stage.of(preset)
    return stage if levels and stage.levels else stage.on_one_grid()


def _with_levels(stage: sw.Stage) -> sw.Stage:
    """A stage on one grid from coarse to fine, with the parameters that differ from its preset's."""
    whole = None if stage.preset is None else sw.Stage.of(stage.preset)
    if whole is None or not whole.levels:
        raise InvalidParameter(
            f"{stage.preset or stage.model.name} has no levels; choose a preset that goes from coarse to fine, such as "
            "landscape"
        )
    usual = whole.model.values()
    changed = {name: value for name, value in stage.model.values().items() if value != usual[name]}
    return whole.replace(edges=stage.edges).with_parameters(**changed)


def _discs(recipe: sw.Recipe, model: sw.Model, wanted: messages.Start) -> dict[str, Any]:
    """Water sources and emitters of the recipe, where they still have a place: same ground, and a model for them."""
    other = wanted.upload is not None or wanted.generator is not None
    return {
        "water_sources": recipe.water_sources if model.has_sources() and not other else (),
        "emitters": recipe.emitters if model.particles and not other else (),
    }


def _edges(model: str, before: Any) -> Any:
    usual = sw.find_model(model).edges()
    return before if before in usual else usual[0]


def resized(recipe: sw.Recipe, size: int) -> sw.Recipe:
    """The same recipe on the same ground with another number of cells along its longer side."""
    return recipe.replace(source=_resized(recipe.source, size))


def _resized(source: Any, size: int) -> Any:
    """Source of the same ground with another number of cells."""
    return source.resized(size) if isinstance(source, sw.Generated) else dataclasses.replace(source, size=size)


def _changed(source: Any, wanted: messages.Generator) -> sw.Generated:
    """Source with what a message names; another kind begins with its own options."""
    if not isinstance(source, sw.Generated):
        if wanted.kind is None:
            named = ", ".join(name for name, value in wanted.model_dump().items() if value is not None)
            raise InvalidParameter(
                f"{source.name} was not generated, so it has no {named or 'generator'} to change; name the kind to "
                "use a generated terrain instead"
            )
        source = sw.Generated()
    given = wanted.model_dump(exclude_unset=True)
    changes = {k: v for k, v in given.items() if v is not None or k == "relief"}  # no relief: what is usual
    if changes.get("kind", source.kind) != source.kind:
        changes.setdefault("options", {})
        changes.setdefault("relief", None)
    if "cell_size" in changes or "extent" in changes:
        source = dataclasses.replace(source, cell_size=None, extent=None)  # one takes the place of the other
    elif "size" in changes:
        source = source.resized(changes["size"])
    return dataclasses.replace(source, **changes)


def fitted(name: str, terrain: sw.Terrain, code: str | None, size: int | None = None) -> sw.FromTerrain:
    """A terrain from a file or a caller, with `size` cells along its longer side, or as many as the studio takes."""
    low, high = messages.SIZES
    longest = max(terrain.shape)
    size = min(longest, high) if size is None else size
    if size * min(terrain.shape) < low * longest:
        rows, columns = terrain.shape
        raise SlopewashError(
            f"{name} has {columns} x {rows} cells; the studio takes {low} .. {high} per side, and this would have "
            f"{size * min(terrain.shape) // longest} along its shorter one"
        )
    if size != longest:
        terrain = terrain.resampled(size)
        code = None if code is None else f"{code}.resampled({size})"
    return sw.FromTerrain(name=name, terrain=terrain, code=code)


def check_side(size: int | None) -> None:
    """Refuse a number of cells that the studio does not take."""
    low, high = messages.SIZES
    if size is not None and not low <= size <= high:
        raise InvalidParameter(f"size is {size}; the studio takes {low} .. {high} cells per side")


def check_size(terrain: sw.Terrain, name: str) -> None:
    """Refuse a terrain that the studio cannot show at interactive speed."""
    low, high = messages.SIZES
    if not (low <= min(terrain.shape) and max(terrain.shape) <= high):
        raise SlopewashError(
            f"{name} has {terrain.shape[1]} x {terrain.shape[0]} cells; the studio takes {low} .. {high} per side"
        )
