"""One exception tree: `SlopewashError` is the base of every error the package raises on purpose."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SlopewashError(Exception):
    """Base of every error raised on purpose."""


class InvalidTerrain(SlopewashError, ValueError):
    """Layers, a cell size or a mask that do not form a valid terrain."""


class InvalidMesh(SlopewashError, ValueError):
    """Vertices and triangles that do not form a valid terrain mesh."""


class InvalidParameter(SlopewashError, ValueError):
    """A parameter or option outside its valid range, or unknown."""


class TooManySubsteps(InvalidParameter):
    """A time step so long that stability would need more sub-steps than a step may have."""


class UnknownName(SlopewashError, ValueError):
    """An unknown model, preset, generator, layer or option."""


class InvalidFile(SlopewashError, OSError):
    """A file that is missing, damaged, too large or not in the format of its suffix."""


class NotEnoughMemory(SlopewashError, MemoryError):
    """A grid, a mesh or a run that does not fit into the memory that is left."""


class InvalidRecipe(SlopewashError, ValueError):
    """A recipe file with a mistake in it; the message names the line and the key."""


class BackendUnavailable(SlopewashError, RuntimeError):
    """A backend that this machine or installation cannot run."""


class SimulationClosed(SlopewashError, RuntimeError):
    """Something was asked of a simulation after `close`."""


class CheckpointError(SlopewashError, OSError):
    """A checkpoint that cannot be written, or of which none can be read."""


class CheckpointWarning(UserWarning):
    """A damaged checkpoint was skipped for an older one, or one could not be written."""


class NotFinite(SlopewashError, ArithmeticError):
    """A run produced NaN or infinity; the message names step, layer and cell."""


class GeoreferenceWarning(UserWarning):
    """A CRS could not be kept, or not be written so that other programs find it."""


class StabilityWarning(UserWarning):
    """The time step exceeds a stability limit, so the simulation takes sub-steps."""


class RangeWarning(UserWarning):
    """Heights outside the range that was asked for a 16-bit file; they are written as black or white."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """Build the error for an unknown name, suggesting the closest known one.

    >>> print(unknown_name("preset", "jako", ["jako2011", "landscape"]))
    unknown preset "jako"; did you mean "jako2011"?
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5) or [n for n in names if n.startswith(name)]
    remedy = f'did you mean "{close[0]}"?' if close else f"choose one of {', '.join(names)}"
    return UnknownName(f'unknown {kind} "{name}"; {remedy}')
