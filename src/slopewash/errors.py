"""One exception tree: catch `SlopewashError` and you catch everything the package raises on purpose."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SlopewashError(Exception):
    """Base of every error raised on purpose."""


class InvalidTerrain(SlopewashError, ValueError):
    """Layers, cell size or mask that cannot make a terrain."""


class InvalidMesh(SlopewashError, ValueError):
    """Vertices and triangles that cannot make a terrain's mesh."""


class InvalidParameter(SlopewashError, ValueError):
    """A parameter or option outside its valid range, or unknown."""


class UnknownName(SlopewashError, ValueError):
    """A model, preset, generator, layer or option nobody registered."""


class InvalidFile(SlopewashError, OSError):
    """A file that is missing, damaged, too large or not what its suffix says."""


class BackendUnavailable(SlopewashError, RuntimeError):
    """A backend that this machine or installation cannot run."""


class SimulationClosed(SlopewashError, RuntimeError):
    """Something was asked of a simulation after `close`."""


class CheckpointError(SlopewashError, OSError):
    """A checkpoint that cannot be written, or of which none can be read."""


class CheckpointWarning(UserWarning):
    """A damaged checkpoint was passed over for an older one."""


class NotFinite(SlopewashError, ArithmeticError):
    """A run produced NaN or infinity; the message names step, layer and cell."""


class StabilityWarning(UserWarning):
    """The time step exceeds a stability limit, so the simulation sub-steps."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """Build the error for a name nobody registered, with the nearest known one suggested.

    >>> print(unknown_name("preset", "jako", ["jako2011", "landscape"]))
    unknown preset "jako"; did you mean "jako2011"?
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5) or [n for n in names if n.startswith(name)]
    remedy = f'did you mean "{close[0]}"?' if close else f"choose one of {', '.join(names)}"
    return UnknownName(f'unknown {kind} "{name}"; {remedy}')
