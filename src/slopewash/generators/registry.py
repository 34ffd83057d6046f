"""The table of generators, and `generate`, which calls them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter, unknown_name
from slopewash.generators import checks
from slopewash.generators.extent import cell_size_for
from slopewash.needs import Cost, Needs
from slopewash.patience import in_parts
from slopewash.remedies import by_place
from slopewash.terrain import Terrain
from slopewash.terrain.arrays import handed_over

Heights: TypeAlias = NDArray[np.floating[Any]]

LARGEST_SIDE = 16384
"""Default limit of cells per side: 1 GiB for each float32 layer."""
LARGER = "larger ground is read from a file: slopewash erode FILE --tiles 2048"
"""What a command can do beyond it."""

BANDED = Cost(13, 200e-9, fixed=55e6)
"""Of heights made by bands: float64 ones and the layer that they become."""

BAND_CELLS = 1 << 19
"""Cells of a band that is generated at a time."""

# Float32 heights lose detail long before this; beyond it they would overflow to infinity.
LARGEST_RELIEF = 1e30


@dataclass(frozen=True)
class Grid:
    """The cells a generator fills, and the seed it fills them from; they may be part of a larger grid."""

    rows: int
    columns: int
    cell_size: float
    seed: int
    origin: tuple[int, int] = (0, 0)
    """Row and column of the first cell in the whole."""
    whole: tuple[int, int] | None = None
    """Rows and columns of the whole, if this is a part."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, the shape of an array."""
        return self.rows, self.columns

    @property
    def full(self) -> tuple[int, int]:
        """Rows and columns of the whole."""
        return self.whole or self.shape

    @property
    def side(self) -> float:
        """The longer side of the whole in metres."""
        return max(self.full) * self.cell_size

    @property
    def numbers(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of its rows and columns in the whole."""
        (row, column), (rows, columns) = self.origin, self.shape
        return np.arange(row, row + rows), np.arange(column, column + columns)

    def part(self, window: tuple[slice, slice]) -> Grid:
        """Some rows and columns of it."""
        rows, columns = window
        return replace(
            self, rows=rows.stop - rows.start, columns=columns.stop - columns.start, origin=(rows.start, columns.start),
            whole=self.full,
        )  # fmt: skip


@dataclass(frozen=True)
class GeneratorOption:
    """An option that only one kind of terrain has, as its function declares it."""

    name: str
    default: float | int | None
    """None stands for what the generator works out itself."""
    whole: bool
    """Whether it is a whole number."""
    doc: str


@dataclass(frozen=True)
class Generator:
    """A registered function from a grid to raw heights."""

    name: str
    heights: Callable[..., Heights]
    world_option: str | None
    """Option in metres which, if given, anchors the heights to the world instead of fitting them to the grid."""
    by_position: bool
    """Whether heights depend on the position alone, so that a part can be made without the rest."""
    cost: Cost
    """Memory and time of each cell."""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the keyword options, as the function declares them."""
        parameters = inspect.signature(self.heights).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


_GENERATORS: dict[str, Generator] = {}


def generator(
    name: str, *, world_option: str | None = None, by_position: bool = True, cost: Cost = BANDED
) -> Callable[[Callable[..., Heights]], Callable[..., Heights]]:
    """Register a function `(grid, *, options) -> raw heights`.

    Raw heights have any range: `generate` fits them to the relief. With a `world_option` they must nominally span
    0 .. 1, because once that option is given they are multiplied by the relief and otherwise left alone. A function
    that must see the whole grid at once is not `by_position`.
    """

    def register(function: Callable[..., Heights]) -> Callable[..., Heights]:
        _GENERATORS[name] = Generator(name, function, world_option, by_position, cost)
        return function

    return register


def generator_names() -> tuple[str, ...]:
    """Return the names that `generate` accepts, sorted.

    >>> "diamond_square" in generator_names()
    True
    """
    return tuple(sorted(_GENERATORS))


def generator_cost(kind: str) -> Cost:
    """Memory and time of each cell that a generator makes.

    >>> generator_cost("diamond_square").memory
    16
    """
    return _find(kind).cost


def describe_generator(kind: str) -> tuple[str, dict[str, Any]]:
    """Return a one-sentence description of a generator, and its options with their defaults.

    >>> describe_generator("dome")[1]
    {'noise': 0.5, 'persistence': 0.5}
    """
    heights = _find(kind).heights
    parameters = inspect.signature(heights).parameters
    options = {name: parameters[name].default for name in _find(kind).options}
    return (inspect.getdoc(heights) or "").partition("\n\n")[0].replace("\n", " "), options


def generator_options(kind: str) -> tuple[GeneratorOption, ...]:
    """Return the options of a generator, each with its default and meaning.

    >>> [(option.name, option.default) for option in generator_options("dome")]
    [('noise', 0.5), ('persistence', 0.5)]
    """
    chosen = _find(kind)
    parameters, meanings = inspect.signature(chosen.heights).parameters, _meanings(chosen.heights)
    for name, text in meanings.items():
        if like := re.fullmatch(r"As for `(\w+)`\.", text):
            meanings[name] = _meanings(_find(like[1]).heights).get(name, "")
    return tuple(
        GeneratorOption(
            name, parameters[name].default, str(parameters[name].annotation).startswith("int"), meanings.get(name, "")
        )
        for name in chosen.options
    )


def _meanings(function: Callable[..., Heights]) -> dict[str, str]:
    """What the docstring says of each parameter, in one line."""
    section = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")[2]
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line.startswith("    "):
            meanings |= {name: f"{meanings.get(name, '')} {line.strip()}".strip() for name in names}
        elif line:
            names = [name.strip() for name in line.split(",")]
        else:
            break
    return meanings


def generate(
    kind: str,
    *,
    size: int | tuple[int, int] = 512,
    cell_size: float | None = None,
    extent: float | None = None,
    seed: int = 0,
    relief: float | None = None,
    maximum_size: int = LARGEST_SIDE,
    **options: Any,
) -> Terrain:
    """Make a starting terrain; the same arguments give the same heights on every run.

    Parameters
    ----------
    kind
        One of `generator_names()`.
    size
        Cells per side, or (rows, columns): more of them are the same ground, finer.
    cell_size
        Side of a cell in metres, instead of `extent`: more cells are then more ground.
    extent
        Longer side of the ground in metres; the default is 5120 m. The cell size follows from it: 10 m for 512 cells.
    seed
        Random seed, any whole number. Shapes without noise ignore it.
    relief
        Metres between the lowest and the highest ground. The default is a quarter of the longer side: 1280 m.
    maximum_size
        Largest side allowed; raise it to make terrains beyond 16384 cells.
    options
        Options of this kind of terrain, such as `feature_size`, `octaves` and `persistence` of `fbm`.

    Notes
    -----
    Heights are *framed*: the landscape is fitted to the grid, its lowest cell is 0 and its highest is `relief`. More
    cells with the same seed show the same landscape in finer detail. The mean over the smaller cells within a larger
    one agrees with its height up to a scale and an offset, since the finer grid has slightly lower and higher extremes.

    Give `fbm` or `ridged` a `feature_size` in metres and they are *anchored* to the world instead: a grid is a window
    on an endless landscape with its north-west corner at the origin. A larger extent then shows more of the same
    landscape, smaller cells show it in finer detail, and cells of the same size have identical heights where two
    windows overlap. `relief` is then the nominal range of the endless landscape (default half of `feature_size`): a
    window shows part of it, and its lowest point is not 0.

    >>> generate("cone", size=(64, 96), extent=480.0, relief=100.0)
    Terrain 96 x 64 cells of 5 m (480 x 320 m)
      elevation   0 .. 100 m
    >>> near = generate("fbm", size=32, cell_size=10.0, feature_size=400.0, relief=200.0, seed=7)
    >>> far = generate("fbm", size=64, cell_size=10.0, feature_size=400.0, relief=200.0, seed=7)
    >>> bool((far["elevation"][:32, :32] == near["elevation"]).all())
    True
    """
    planned = plan(
        kind, size=size, cell_size=cell_size, extent=extent, seed=seed, relief=relief, maximum_size=maximum_size,
        **options,
    )  # fmt: skip
    return Terrain(planned.heights(), cell_size=planned.grid.cell_size)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A terrain to be generated, whole or in parts: raw heights first, then fitted to the relief."""

    grid: Grid
    generator: Generator
    options: Mapping[str, Any]
    relief: float
    anchored: bool
    """Whether heights are multiplied by the relief and otherwise left alone."""

    def heights(self) -> Heights:
        """Heights of all cells in metres; by bands where the generator allows it, which limits memory."""
        rows, columns = self.grid.shape
        height = max(1, BAND_CELLS // columns)
        if not self.generator.by_position or rows <= height:
            raw = self.raw()
            self.fit(raw, raw.min(), raw.max())
            return raw
        bands = [np.s_[top : min(top + height, rows), 0:columns] for top in range(0, rows, height)]
        raw = np.empty(self.grid.shape, self.raw(np.s_[0:1, 0:1]).dtype)
        for band in in_parts(bands, f"generating {self.generator.name}"):
            raw[band] = self.raw(band)
        low, high = raw.min(), raw.max()
        heights = raw if raw.dtype == np.float32 else np.empty(raw.shape, np.float32)
        for band in bands:
            self.fit(raw[band], low, high)
            heights[band] = raw[band]
        return handed_over(heights)

    def raw(self, window: tuple[slice, slice] | None = None) -> Heights:
        """Raw heights of all cells, or of some rows and columns."""
        if window is not None and not self.generator.by_position:
            raise InvalidParameter(
                f'generator "{self.generator.name}" must see all of its ground at once; generate it to a file first, '
                "or take one that is a function of position, such as fbm, ridged or dome"
            )
        return self.generator.heights(self.grid if window is None else self.grid.part(window), **self.options)

    def fit(self, raw: Heights, low: Any, high: Any) -> None:
        """Fit raw heights to the relief, in place; the lowest and the highest are those of the whole."""
        if self.anchored:
            raw *= self.relief
        else:
            _fit(raw, self.relief, low, high)


def plan(
    kind: str,
    *,
    size: int | tuple[int, int] = 512,
    cell_size: float | None = None,
    extent: float | None = None,
    seed: int = 0,
    relief: float | None = None,
    maximum_size: int = LARGEST_SIDE,
    **options: Any,
) -> Planned:
    """Check what `generate` was asked for."""
    chosen = _find(kind)
    _check_options(chosen, options)
    rows, columns = _checked_size(size, checks.integer("maximum_size", maximum_size))
    needs = Needs([chosen.cost.part(f"generating {kind}", rows * columns)])
    needs.check(f"a terrain of {columns} x {rows} cells", "use fewer cells")
    cell_size = cell_size_for(max(rows, columns), cell_size=cell_size, extent=extent)
    grid = Grid(rows, columns, cell_size, checks.integer("seed", seed))
    feature_size = options.get(chosen.world_option) if chosen.world_option else None
    if relief is None:
        # Half, because a framed landscape has features of half the side and a relief of a quarter.
        relief = (
            0.25 * grid.side
            if feature_size is None
            else 0.5 * checks.positive(str(chosen.world_option), feature_size, "m")
        )
    relief = checks.number(
        "relief",
        relief,
        f"positive and at most {LARGEST_RELIEF:g}",
        low=0.0,
        high=LARGEST_RELIEF,
        open_low=True,
        units="m",
    )
    return Planned(
        grid=grid, generator=chosen, options=options, relief=relief, anchored=feature_size is not None,
    )  # fmt: skip


def _fit(heights: Heights, relief: float, low: Any, high: Any) -> None:
    heights -= low
    highest = high - low  # as the highest cell is rounded
    if highest > 0:
        # Divided first, so that the highest cell is exactly 1 and then exactly the relief.
        heights /= highest
        heights *= relief


def _find(kind: str) -> Generator:
    try:
        return _GENERATORS[kind]
    except (KeyError, TypeError):
        raise unknown_name("generator", str(kind), _GENERATORS) from None


def _check_options(chosen: Generator, options: dict[str, Any]) -> None:
    for name in options:
        if name not in chosen.options:
            known = f"its options are {', '.join(chosen.options)}" if chosen.options else "it takes none"
            raise InvalidParameter(f'generator "{chosen.name}" has no option "{name}"; {known}')


def _checked_size(size: int | tuple[int, int], maximum: int) -> tuple[int, int]:
    sides = tuple(size) if isinstance(size, tuple | list) else (size, size)
    if len(sides) != 2:
        raise InvalidParameter(f"size is {size!r}; it must be one whole number or two, rows and columns")
    rows, columns = (checks.integer("size", side) for side in sides)
    for side in (rows, columns):
        if side < 1:
            raise InvalidParameter(f"size is {side}; it must be at least one cell")
        if side > maximum:
            beyond = by_place(
                python=f"for more than {maximum} cells per side set maximum_size={side}",
                command=f"at most {maximum} cells per side are generated; {LARGER}",
            )
            raise InvalidParameter(f"size is {side}; {beyond}")
    return rows, columns
