"""What a session runs: where the terrain comes from, which model, how."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

import slopewash as sw
from slopewash.errors import InvalidParameter, SlopewashError
from slopewash.studio import messages

DEFAULT_PRESET = "landscape"
Edges = Literal["open", "closed", "periodic"]


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A terrain out of nothing."""

    kind: str = "dome"
    size: int = 512
    cell_size: float = 10.0
    seed: int = 7
    relief: float | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What to call it."""
        return self.kind

    def make(self) -> sw.Terrain:
        """Generate it."""
        own = sw.describe_generator(self.kind)[1]
        for name in self.options:
            if name not in own:
                known = f"its options are {', '.join(own)}" if own else "it takes none"
                raise InvalidParameter(f'generator "{self.kind}" has no option "{name}"; {known}')
        return sw.generate(
            self.kind, size=self.size, cell_size=self.cell_size, seed=self.seed, relief=self.relief, **self.options
        )

    def changed(self, wanted: messages.Generator) -> Generated:
        """Copy with what a message names; another kind begins with its own options."""
        given = wanted.model_dump(exclude_unset=True)
        named = {k: v for k, v in given.items() if v is not None or k == "relief"}  # no relief: what is usual
        if named.get("kind", self.kind) != self.kind:
            named.setdefault("options", {})
            named.setdefault("relief", None)
        return dataclasses.replace(self, **named)


@dataclass(frozen=True, kw_only=True, eq=False)
class Given:
    """A terrain from a file or from the caller, and how a script gets it again."""

    name: str
    terrain: sw.Terrain
    script: str | None
    """Python expression that makes it, or None if there is none."""
    size: int | None = None
    """Cells along the longer side, if it is to have another number of them."""

    def make(self) -> sw.Terrain:
        """Return it."""
        return self.terrain if self.size is None else self.terrain.resampled(self.size)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run, before it begins."""

    source: Generated | Given
    model: Any
    preset: str | None
    edges: Edges
    backend: str = "auto"
    seed: int = 0

    @property
    def usual_steps(self) -> int | None:
        """Steps that the preset is made for; None without one."""
        return None if self.preset is None else sw.presets()[self.preset].steps

    def usual_settling(self, steps: int) -> int | None:
        """Steps of settling that suit a run of so many steps; None without a preset."""
        return None if self.preset is None else sw.presets()[self.preset].settling(steps)

    def terrain(self) -> sw.Terrain:
        """Make the terrain, with the preset's strata where it has none of its own."""
        terrain = self.source.make()
        strata = None if self.preset is None else sw.presets()[self.preset].strata
        if strata is not None and terrain.strata is None and terrain.relief > 0:
            terrain = terrain.replace(strata=strata.fitted(terrain.relief))
        return terrain


def first_plan(
    *,
    preset: str | None = None,
    model: str | None = None,
    source: Generated | Given | None = None,
    size: int | None = None,
    seed: int | None = None,
    backend: str = "auto",
) -> Plan:
    """What the studio opens with: the landscape preset where nothing else is asked for."""
    if model is not None and preset is None:
        chosen, edges, kind, start = sw.find_model(model)(), sw.find_model(model).edges[0], "dome", {}
    else:
        found = sw.find_preset(preset or DEFAULT_PRESET)
        if model is not None:
            _check_belongs(found, sw.find_model(model).name)
        preset, chosen, edges = found.name, found.model, found.edges
        kind, start = found.generator, dict(found.start)
    check_side(size)
    if source is None:
        own = {k: start.pop(k) for k in ("size", "cell_size", "seed", "relief") if k in start}
        asked = {k: v for k, v in (("size", size), ("seed", seed)) if v is not None}
        source = Generated(kind=kind, options=start, **(own | asked))
    seeded = seed if seed is not None else source.seed if isinstance(source, Generated) else 0
    return Plan(source=source, model=chosen, preset=preset, edges=edges, backend=backend, seed=seeded)


def next_plan(plan: Plan, wanted: messages.Start, uploads: Any) -> Plan:
    """The plan after a `start` message; what it does not name stays."""
    source = plan.source
    if wanted.upload is not None and wanted.generator is not None:
        raise InvalidParameter("start names both an upload and a generator; name one")
    if wanted.upload is not None:
        source = uploads.find(wanted.upload)
    elif wanted.generator is not None:
        if isinstance(source, Given) and wanted.generator.kind is None:
            named = ", ".join(name for name, value in wanted.generator.model_dump().items() if value is not None)
            raise InvalidParameter(
                f"{source.name} was not generated, so it has no {named or 'generator'} to change; name the kind to "
                "leave it for a generated terrain"
            )
        source = (source if isinstance(source, Generated) else Generated()).changed(wanted.generator)
    if wanted.size is not None:
        source = dataclasses.replace(source, size=wanted.size)
    model, preset, edges = plan.model, plan.preset, plan.edges
    if wanted.preset is not None:
        found = sw.find_preset(wanted.preset)
        if wanted.model is not None:
            _check_belongs(found, wanted.model)
        model, preset, edges = found.model, found.name, found.edges
    elif wanted.model is not None and wanted.model != model.name:
        model, preset = sw.find_model(wanted.model)(), None
    model = model.replace(**wanted.parameters)
    edges = wanted.edges or (edges if edges in model.edges else model.edges[0])
    backend = wanted.backend or (plan.backend if plan.backend in ("auto", *model.backends) else "auto")
    seed = source.seed if isinstance(source, Generated) else plan.seed
    return Plan(source=source, model=model, preset=preset, edges=edges, backend=backend, seed=seed)


def _check_belongs(preset: Any, model: str) -> None:
    if preset.model.name != model:
        raise InvalidParameter(f"preset {preset.name} belongs to model {preset.model.name}, not {model}; name one only")


def fitted(name: str, terrain: sw.Terrain, script: str | None, size: int | None = None) -> Given:
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
        script = None if script is None else f"{script}.resampled({size})"
    return Given(name=name, terrain=terrain, script=script)


def check_side(size: int | None) -> None:
    """Refuse a number of cells that the studio does not take."""
    low, high = messages.SIZES
    if size is not None and not low <= size <= high:
        raise InvalidParameter(f"size is {size}; the studio takes {low} .. {high} cells per side")


def check_size(terrain: sw.Terrain, name: str) -> None:
    """Refuse what the studio cannot show at interactive speed."""
    low, high = messages.SIZES
    if not (low <= min(terrain.shape) and max(terrain.shape) <= high):
        raise SlopewashError(
            f"{name} has {terrain.shape[1]} x {terrain.shape[0]} cells; the studio takes {low} .. {high} per side"
        )
