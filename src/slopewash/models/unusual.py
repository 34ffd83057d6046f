"""Parameters that are valid and still most likely a slip: values far from those that are typical, or a sea far off.

`typical` is the range of a slider and never refuses; what lies far beyond it is questioned, once, where it is given.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from slopewash.errors import SlopewashError, UnusualWarning
from slopewash.models.maps import Map, Range, ends_of
from slopewash.models.parameters import Parameter

if TYPE_CHECKING:
    from slopewash.models.base import Model

FAR = 10.0
"""Factor beyond the typical range from which on a value is questioned.

Presets and recipes are within 2.7 times that range, and within 6.7 times with a slider of the studio at its end.
"""

_asked: ContextVar[bool] = ContextVar("asked", default=False)


@contextmanager
def asked() -> Iterator[None]:
    """Ask nothing meanwhile: whoever calls has asked already, of the whole run."""
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)


def unusual_values(model: Model, ranges: Callable[[str], Range] | None = None) -> dict[str, str]:
    """Sentences about parameters far from what is typical, by name; of maps, where `ranges` of their layers are known.

    >>> from slopewash.models import VirtualPipes
    >>> unusual_values(VirtualPipes(rain_rate=50))["rain_rate"]
    'rain_rate (K_r) is 50 cells/time, 1000 times the highest typical value; typical values are 0 .. 0.05'
    """
    found = {}
    for declared in model.parameters():
        for value in _values(model, declared, ranges):
            sentence = _sentence(declared, value)
            if sentence:
                found[declared.name] = sentence
    return found


def unusual_sea(model: Model, ground: Range) -> str:
    """Sentence about a sea that is far from ground with that lowest and highest elevation, or nothing.

    >>> from slopewash.models import VirtualPipes
    >>> unusual_sea(VirtualPipes(sea_level=3200), (0.0, 900.0))
    'sea_level is 3200 m and the ground 0 .. 900 m: all of it is under water'
    >>> unusual_sea(VirtualPipes(sea_level=100), (0.0, 900.0))
    ''
    """
    (low, high), level = ground, model.water_beyond
    if level == -math.inf or low > high:
        return ""
    whole = f"sea_level is {level:g} m and the ground {low:g} .. {high:g} m"
    if level >= high:
        return f"{whole}: all of it is under water"
    if level < low - (high - low):
        return f"{whole}: the sea is so far below that no river reaches it"
    return ""


def question(
    models: Iterable[Model], ground: Range, ranges: Callable[[str], Range] | None = None, *, stacklevel: int = 3
) -> None:
    """Warn once of each unusual value in the models of a run on that ground."""
    if _asked.get():
        return
    sentences: dict[str, None] = {}
    for model in models:
        sentences |= dict.fromkeys([*unusual_values(model, ranges).values(), unusual_sea(model, ground)])
    ask(sentences, stacklevel=stacklevel + 1)


def question_change(before: Model, after: Model, ground: Range, *, stacklevel: int = 3) -> None:
    """Warn of values that are unusual now, of parameters that were not before."""
    known = unusual_values(before)
    sentences = [sentence for name, sentence in unusual_values(after).items() if name not in known]
    if before.water_beyond != after.water_beyond:
        sentences.append(unusual_sea(after, ground))
    ask(sentences, stacklevel=stacklevel + 1)


def ask(sentences: Iterable[str], *, stacklevel: int) -> None:
    """Warn with each sentence that says something."""
    for sentence in sentences:
        if sentence and not _asked.get():
            warnings.warn(sentence, UnusualWarning, stacklevel=stacklevel)


def _values(model: Model, declared: Parameter, ranges: Callable[[str], Range] | None) -> tuple[float, ...]:
    value: Any = getattr(model, declared.name)
    if not isinstance(value, Map):
        return (value,)
    if value.layer is None or ranges is None:
        return ()
    try:
        return ends_of(model, declared.name, value, ranges(value.layer))
    except SlopewashError:  # one that a stage before makes, or that the run refuses
        return ()


def _sentence(declared: Parameter, value: Any) -> str:
    """What is unusual about a value; nothing about laws, none and no limit, and heights, which depend on the ground."""
    if declared.typical is None or declared.is_height or isinstance(value, str | bool) or not math.isfinite(value):
        return ""
    low, high = declared.typical
    most = max(abs(low), abs(high))
    symbol = f" ({declared.symbol})" if declared.symbol else ""
    units = f" {declared.units}" if declared.units else ""
    named, typical = f"{declared.name}{symbol} is {value:g}{units}", f"typical values are {low:g} .. {high:g}"
    if abs(value) > FAR * most:
        return f"{named}, {_factor(abs(value) / most)} times the highest typical value; {typical}"
    if 0 < value < low / FAR:
        return f"{named}, {_factor(low / value)} times less than the lowest typical value; {typical}"
    return ""


def _factor(ratio: float) -> str:
    """Two digits say how far it is off."""
    return f"{float(f'{ratio:.2g}'):g}"
