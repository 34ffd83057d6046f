"""What to run: a preset or a model, with the user's changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slopewash.cli.console import note
from slopewash.cli.options import Edges
from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Strata
    from slopewash.models import Model

DEFAULT_PRESET = "landscape"
STEPS_WITHOUT_PRESET = 1000
EDGES_WITHOUT_PRESET: Edges = "open"


@dataclass(frozen=True)
class Plan:
    """A model and how to run it."""

    preset: str | None
    model: Model
    edges: Edges
    steps: int
    settle: int
    """Steps in which water and load come to rest, as the preset asks for; 0 for none."""
    strata: Strata | None = None
    """Layers the preset suggests for a terrain without, as shares of its relief."""

    def as_dict(self) -> dict[str, Any]:
        """Facts for a report."""
        return {
            "model": self.model.name,
            "preset": self.preset,
            "parameters": {p.name: getattr(self.model, p.name) for p in self.model.parameters()},
            "edges": self.edges,
        }


def make_plan(
    *,
    preset: str | None = None,
    model: str | None = None,
    settings: Iterable[str] = (),
    edges: Edges | None = None,
    steps: int | None = None,
    settle_in_full: bool = False,
) -> Plan:
    """Combine what was asked for with what the preset suggests; the landscape preset when nothing was named.

    A run shorter than the preset's own settles for less, unless `settle_in_full`.
    """
    import slopewash as sw

    if steps is not None and steps < 1:
        raise InvalidParameter(f"steps is {steps}; it must be 1 or more")
    check_named(preset, model)
    if model is not None and preset is None:
        chosen = sw.find_model(model)()
        plan = Plan(None, chosen, EDGES_WITHOUT_PRESET, STEPS_WITHOUT_PRESET, 0)
    else:
        found = sw.find_preset(preset or DEFAULT_PRESET)
        settle = found.settle if settle_in_full else found.settling(steps or found.steps)
        plan = Plan(found.name, found.model, found.edges, found.steps, settle, found.strata)
    return Plan(
        plan.preset,
        plan.model.replace(**parse_settings(plan.model, settings)),
        edges or plan.edges,
        steps or plan.steps,
        plan.settle,
        plan.strata,
    )


def check_named(preset: str | None, model: str | None) -> None:
    """Refuse a preset of another model; where a preset is named beside its own, say whose parameters count."""
    import slopewash as sw

    if preset is None or model is None:
        return
    found = sw.find_preset(preset)
    if not isinstance(found.model, sw.find_model(model)):
        raise InvalidParameter(f"preset {found.name} belongs to model {found.model.name}, not {model}; name one only")
    note(
        f"note: the parameters are those of preset {found.name}, not the defaults of model {found.model.name}; "
        "name one only"
    )


def parse_settings(model: Model, settings: Iterable[str]) -> dict[str, float | str | bool]:
    """Read `name=value` pairs as the model declares them."""
    values: dict[str, float | str | bool] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise InvalidParameter(
                f'--set {setting} is not a setting; write --set name=value, such as "rain_rate=0.02"'
            )
        declared = model.parameter(name.strip().replace("-", "_"))
        values[declared.name] = declared.parse(text)
    return values
