"""One exception tree: `SlopewashError` is the base of every error the package raises on purpose."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_STEERING = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Categories of Unicode without a sign to show: controls, directions, halves of pairs, and what is not assigned."""


def printable(text: str) -> str:
    r"""Text that a terminal only shows: what would steer it, or reverse its letters, is written as an escape.

    Names in files may be anyone's, and messages, titles and tables repeat them.

    >>> printable("\x1b[2Jhill 3 m²")
    '\\x1b[2Jhill 3 m²'
    """
    if text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if c not in "\n\t" and is_steering(c) else c for c in text)


def is_steering(character: str) -> bool:
    """Whether a character has no sign of its own, and may steer a terminal."""
    return unicodedata.category(character) in _STEERING


class SlopewashError(Exception):
    """Base of every error raised on purpose. Its message is `printable`, whatever names from files it repeats.

    >>> import slopewash as sw
    >>> try:
    ...     sw.read("missing.tif")
    ... except sw.SlopewashError as error:
    ...     print(error)
    missing.tif does not exist
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class InvalidTerrain(SlopewashError, ValueError):
    """Layers, a cell size or a mask that do not form a valid terrain.

    >>> import slopewash as sw
    >>> sw.Terrain([[0.0, 1.0]], cell_size=-1)
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidTerrain: ...
    """


class InvalidMesh(SlopewashError, ValueError):
    """Vertices and triangles that do not form a valid terrain mesh.

    >>> import slopewash as sw
    >>> sw.TriangleMesh([[0, 0, 0]], [[0, 1, 2]])
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidMesh: ...
    """


class InvalidParameter(SlopewashError, ValueError):
    """A parameter or option outside its valid range, or unknown.

    >>> import slopewash as sw
    >>> sw.VirtualPipes(time_step=-1)
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidParameter: time_step (Δt) is -1.0; it must be positive
    """


class TooManySubsteps(InvalidParameter):
    """A time step so long that stability would need more sub-steps than a step may have.

    >>> import slopewash as sw
    >>> sw.Simulation(sw.generate("hill", size=8), sw.VirtualPipes(time_step=100))
    Traceback (most recent call last):
        ...
    slopewash.errors.TooManySubsteps: ...
    """


class UnknownName(SlopewashError, ValueError):
    """An unknown model, preset, generator, layer or option.

    >>> import slopewash as sw
    >>> sw.preset("jako")
    Traceback (most recent call last):
        ...
    slopewash.errors.UnknownName: unknown preset "jako"; did you mean "jako2011"?
    """


class InvalidFile(SlopewashError, OSError):
    """A file that is missing, damaged, too large or not in the format of its suffix.

    >>> import slopewash as sw
    >>> sw.read("missing.tif")
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidFile: missing.tif does not exist
    """


class NotEnoughMemory(SlopewashError, MemoryError):
    """A grid, a mesh or a run that does not fit into the memory that is left.

    >>> import slopewash as sw
    >>> issubclass(sw.NotEnoughMemory, MemoryError)
    True
    """


class InvalidRecipe(SlopewashError, ValueError):
    """A recipe file with a mistake in it; the message names the line and the key.

    >>> import tempfile, slopewash as sw
    >>> with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
    ...     print("steps = many", file=file, flush=True)
    ...     sw.Recipe.read(file.name)
    Traceback (most recent call last):
        ...
    slopewash.errors.InvalidRecipe: ...
    """


class BackendUnavailable(SlopewashError, RuntimeError):
    """A backend that this machine or installation cannot run.

    >>> import slopewash as sw
    >>> issubclass(sw.BackendUnavailable, RuntimeError)
    True
    """


class SimulationClosed(SlopewashError, RuntimeError):
    """Something was asked of a simulation after `close`.

    >>> import slopewash as sw
    >>> with sw.Simulation(sw.generate("hill", size=8), sw.VirtualPipes(), backend="reference") as simulation:
    ...     simulation.run(1)
    >>> simulation.run(1)
    Traceback (most recent call last):
        ...
    slopewash.errors.SimulationClosed: ...
    """


class CheckpointError(SlopewashError, OSError):
    """A checkpoint that cannot be written, or of which none can be read.

    >>> import slopewash as sw
    >>> sw.Simulation.resume("empty.ckpt")
    Traceback (most recent call last):
        ...
    slopewash.errors.CheckpointError: ...
    """


class ForeignCheckpoint(CheckpointError):
    """A checkpoint or the store of a run on tiles without the user's seal; `trust=True` continues it.

    >>> import slopewash as sw
    >>> issubclass(sw.ForeignCheckpoint, sw.CheckpointError)
    True
    """


class CheckpointWarning(UserWarning):
    """A damaged checkpoint was skipped for an older one, or one could not be written.

    >>> import warnings, slopewash as sw
    >>> warnings.simplefilter("error", sw.CheckpointWarning)  # stop instead of going on from an older one
    """


class SealWarning(UserWarning):
    """No secret can be kept for this user, so later runs cannot recognise its files as its own.

    >>> import warnings, slopewash as sw
    >>> warnings.simplefilter("ignore", sw.SealWarning)  # where nothing is to be kept between runs
    """


class NotFinite(SlopewashError, ArithmeticError):
    """A run produced NaN or infinity; the message names step, layer and cell.

    >>> import slopewash as sw
    >>> issubclass(sw.NotFinite, ArithmeticError)
    True
    """


class MassNotConserved(SlopewashError, ArithmeticError):
    """A run lost or made water or solids that its model conserves: a fault of slopewash or of the machine.

    >>> import slopewash as sw
    >>> issubclass(sw.MassNotConserved, ArithmeticError)
    True
    """


class GeoreferenceWarning(UserWarning):
    """A CRS could not be kept, or not be written so that other programs find it.

    >>> import warnings, slopewash as sw
    >>> warnings.simplefilter("error", sw.GeoreferenceWarning)  # refuse to write files without their place
    """


class NodataWarning(UserWarning):
    """Heights of a file that most likely mark cells without data, though nothing in it says so; they count as ground.

    >>> import warnings, slopewash as sw
    >>> warnings.simplefilter("error", sw.NodataWarning)  # refuse such files
    """

    def __init__(self, message: str, value: float) -> None:
        super().__init__(message)
        self.value = value
        """The number, as it is stored in the file."""

    def __reduce__(self) -> tuple[type[NodataWarning], tuple[str, float]]:
        return type(self), (str(self), self.value)


class UnusualWarning(UserWarning):
    """What is given and has no effect, a parameter far from values that are typical, or a sea far from the ground.

    >>> import warnings, slopewash as sw
    >>> warnings.simplefilter("ignore", sw.UnusualWarning)  # such values are wanted
    """


class StabilityWarning(UserWarning):
    """The time step exceeds a stability limit, so the simulation takes sub-steps.

    >>> import warnings, slopewash as sw
    >>> warnings.simplefilter("ignore", sw.StabilityWarning)  # sub-steps are fine
    """


class RangeWarning(UserWarning):
    """Heights outside the range that was asked for a 16-bit file; they are written as black or white.

    >>> import warnings, slopewash as sw
    >>> warnings.simplefilter("error", sw.RangeWarning)  # refuse to clip heights
    """


LONGEST_NAME = 80
"""Characters of an unknown name that are shown, and compared with known ones."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """Build the error for an unknown name, suggesting the closest known one.

    >>> print(unknown_name("preset", "jako", ["jako2011", "landscape"]))
    unknown preset "jako"; did you mean "jako2011"?
    """
    names = sorted(known)
    name = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
    close = nearest(name, names)
    remedy = f"choose one of {', '.join(names)}" if close is None else f'did you mean "{close}"?'
    return UnknownName(f'unknown {kind} "{name}"; {remedy}')


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was most likely meant: one that begins so, or one with a wrong letter in three at most.

    >>> nearest("rain", ["train", "rain_rate"]), nearest("cup", ["gpu", "cpu"]), nearest("mountain", ["outerrain"])
    ('rain_rate', 'cpu', None)
    """
    known = list(names)
    begun = [each for each in known if name and each.startswith(name)]
    if begun:
        return min(begun, key=len)
    slips, close = min(((_slips(name, each), each) for each in known), key=lambda found: found[0], default=(1, ""))
    return close if slips <= max(1, len(name) // 3) else None


def _slips(typed: str, meant: str) -> int:
    """Letters to add, leave out, replace or swap with the next until two words are the same.

    >>> _slips("unrael", "unreal"), _slips("stratum", "strata")
    (1, 2)
    """
    before, row = [0] * (len(meant) + 1), list(range(len(meant) + 1))
    for i, letter in enumerate(typed, start=1):
        older, before, row = before, row, [i]
        for j, other in enumerate(meant, start=1):
            least = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and (letter, typed[i - 2]) == (meant[j - 2], other):
                least = min(least, older[j - 2] + 1)
            row.append(least)
    return row[-1]
