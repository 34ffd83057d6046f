"""What to run: a preset or a model, with the user's changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from slopewash.cli.console import note
from slopewash.cli.options import Edges
from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Stage
    from slopewash.models import Model


def make_stage(
    *,
    preset: str | None = None,
    model: str | None = None,
    settings: Iterable[str] = (),
    edges: Edges | None = None,
    steps: int | None = None,
    strength: float | None = None,
    settle: bool | None = None,
    dry: bool = False,
    gullies: float | None = None,
) -> Stage:
    """Combine the options with the defaults of the preset; the default preset is landscape."""
    import slopewash as sw

    check_steps(steps)
    if dry and settle is False:
        raise InvalidParameter("--dry needs settling; leave out --no-settle")
    check_preset(preset)
    check_named(preset, model)
    chosen = sw.find_model(model)() if model is not None and preset is None else preset
    stage = sw.Stage.of(chosen, steps=steps, strength=strength, settle=settle, dry=dry, edges=edges, gullies=gullies)
    return stage.with_parameters(**parse_settings(stage.model, settings))


def check_preset(name: str | None) -> None:
    """Refuse a landscape of the library in the place of a preset."""
    import slopewash as sw

    if name is not None and name not in sw.presets() and name in sw.looks():
        raise InvalidParameter(
            f"{name} is a landscape of the library, not a preset; make it with slopewash demo --recipe {name}"
        )


def check_steps(steps: int | None) -> None:
    """Refuse a run of no steps."""
    if steps is not None and steps < 1:
        raise InvalidParameter(f"steps is {steps}; it must be 1 or more")


def check_named(preset: str | None, model: str | None) -> None:
    """Refuse a preset of another model; if both are named and match, note whose parameters are used."""
    import slopewash as sw

    if preset is None or model is None:
        return
    found = sw.find_preset(preset)
    found.check_model(model)
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
