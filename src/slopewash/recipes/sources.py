"""Where a recipe's terrain comes from."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slopewash.errors import InvalidParameter
from slopewash.generators import EXTENT, describe_generator, generate
from slopewash.generators.extent import cell_size_for
from slopewash.generators.registry import LARGER, LARGEST_SIDE
from slopewash.io import probe, read
from slopewash.models.maps import Map
from slopewash.remedies import by_place
from slopewash.terrain import Terrain

SAMPLE = 16
"""Cells of a side that are enough to find out whether a generator takes its options."""


def check_size(size: int) -> None:
    """Refuse a number of cells along a side that no terrain has."""
    if size < 1:
        raise InvalidParameter(f"size is {size}; it must be at least one cell")
    if size > LARGEST_SIDE:
        tiles = "sw.erode_tiled(sw.Generated(...), ...) makes a larger one tile by tile"
        raise InvalidParameter(
            f"size is {size}; a terrain that is made or resampled in one piece has at most {LARGEST_SIDE} cells along "
            f"a side; {by_place(python=tiles, command=LARGER)}"
        )


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A terrain made by a generator.

    >>> Generated(kind="cone", size=16).make().shape
    (16, 16)
    """

    kind: str = "dome"
    size: int = 512
    cell_size: float | None = None
    """Side of a cell in metres, instead of `extent`."""
    extent: float | None = None
    """Side of the ground in metres; 5120 m if neither is given, whatever the number of cells."""
    seed: int = 7
    relief: float | None = None
    """Height difference in metres; the generator's usual one if None."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What only this generator takes."""

    @property
    def name(self) -> str:
        """What to call it."""
        return self.kind

    @property
    def side(self) -> float:
        """Side of the ground in metres."""
        if self.extent is not None:
            return self.extent
        return EXTENT if self.cell_size is None else self.size * self.cell_size

    def resized(self, size: int) -> Generated:
        """Return the same ground with another number of cells.

        >>> Generated(size=64, cell_size=10.0).resized(128).make().cell_size
        5.0
        """
        return replace(self, size=size, cell_size=None, extent=self.side)

    def check(self) -> None:
        """Refuse values that the generator does not take, without the work of a whole terrain."""
        check_size(self.size)
        cell_size_for(self.size, cell_size=self.cell_size, extent=self.extent)
        self.resized(min(self.size, SAMPLE)).make()

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of its layers, known before it is made."""
        return ("elevation",)

    def make(self) -> Terrain:
        """Generate it."""
        own = describe_generator(self.kind)[1]
        for name in self.options:
            if name not in own:
                known = f"its options are {', '.join(own)}" if own else "it takes none"
                raise InvalidParameter(f'generator "{self.kind}" has no option "{name}"; {known}')
        return generate(
            self.kind, size=self.size, cell_size=self.cell_size, extent=self.extent, seed=self.seed, relief=self.relief,
            **self.options,
        )  # fmt: skip

    def script(self) -> str:
        """Python that makes it."""
        length = {"extent": self.side} if self.cell_size is None else {"cell_size": self.cell_size}
        facts: dict[str, Any] = {"size": self.size, **length, "seed": self.seed}
        if self.relief is not None:
            facts["relief"] = self.relief
        return f"sw.generate({self.kind!r}, {keywords(facts | dict(self.options))})"

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON and TOML can hold."""
        optional = {"cell_size": self.cell_size, "extent": self.extent, "relief": self.relief}
        return {
            "generator": self.kind, "size": self.size, "seed": self.seed,
            **{name: value for name, value in optional.items() if value is not None}, "options": dict(self.options),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FromFile:
    """A terrain read from a file.

    >>> import slopewash as sw
    >>> sw.FromFile(path="dem.tif").path.name
    'dem.tif'
    """

    path: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    """What `slopewash.read` takes besides the file."""
    size: int | None = None
    """Cells along the longer side, if it is to have another number of them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    @property
    def name(self) -> str:
        """What to call it."""
        return self.path.name

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of its layers, known before it is made."""
        return ("elevation",) if self.options.get("shape") else probe(self.path).layers

    def make(self) -> Terrain:
        """Read it."""
        terrain = read(self.path, **self.options)
        return terrain if self.size is None else terrain.resampled(self.size)

    def resized(self, size: int) -> FromFile:
        """Return the same ground with another number of cells along its longer side."""
        return replace(self, size=size)

    @property
    def longest(self) -> int:
        """Cells along the longer side, known before the file is decoded."""
        if self.size is not None:
            return self.size
        if (shape := self.options.get("shape")) is not None:
            return int(max(shape))
        info = probe(self.path)
        return max(info.width, info.height)

    def script(self) -> str:
        """Python that reads it."""
        code = read_call(str(self.path), self.options)
        return code if self.size is None else f"{code}.resampled({self.size})"

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON and TOML can hold."""
        facts = {"file": str(self.path), "options": {k: v for k, v in self.options.items() if v is not None}}
        return facts if self.size is None else {**facts, "size": self.size}


@dataclass(frozen=True, kw_only=True, eq=False)
class FromTerrain:
    """A terrain in memory.

    >>> import slopewash as sw
    >>> sw.FromTerrain(terrain=sw.generate("hill", size=16)).terrain.shape
    (16, 16)
    """

    name: str = "terrain"
    terrain: Terrain | None = None
    """None where only its name was kept."""
    code: str | None = None
    """Python expression that makes it, or None if there is none."""
    size: int | None = None
    """Cells along the longer side, if it is to have another number of them."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of its layers, known before it is made."""
        return () if self.terrain is None else tuple(self.terrain)

    def make(self) -> Terrain:
        """Return it."""
        if self.terrain is None:
            raise InvalidParameter(f"the recipe starts from {self.name}, a terrain in memory that was not kept")
        return self.terrain if self.size is None else self.terrain.resampled(self.size)

    def script(self) -> str:
        """Python that makes it."""
        if self.code is None:
            raise InvalidParameter(
                "this simulation was made by your own program, which is where its script begins; record from there"
            )
        return self.code if self.size is None else f"{self.code}.resampled({self.size})"

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON and TOML can hold: the terrain itself is not one."""
        facts = {"terrain": self.name, "code": self.code, "size": self.size}
        return {name: value for name, value in facts.items() if value is not None}


Source = Generated | FromFile | FromTerrain


def as_source(given: Any) -> Source:
    """Return a source; a terrain, or the path of a file, becomes one."""
    if isinstance(given, Generated | FromFile | FromTerrain):
        return given
    if isinstance(given, Terrain):
        return FromTerrain(terrain=given)
    if isinstance(given, str | Path):
        return FromFile(path=Path(given))
    raise InvalidParameter(
        f"source is {given!r}; pass a terrain, a file, Generated(...), FromFile(...) or FromTerrain(...)"
    )


def source_from(facts: Mapping[str, Any]) -> Source:
    """Source that `as_dict` described.

    >>> source_from(Generated(kind="cone").as_dict()) == Generated(kind="cone")
    True
    """
    if "generator" in facts:
        return Generated(kind=facts["generator"], **{k: v for k, v in facts.items() if k != "generator"})
    if "file" in facts:
        options: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in facts["options"].items()}
        if "nodata" in options:  # in JSON, NaN is null and infinity a text
            options["nodata"] = math.nan if options["nodata"] is None else float(options["nodata"])
        return FromFile(path=Path(facts["file"]), options=options, size=facts.get("size"))
    return FromTerrain(name=facts["terrain"], code=facts.get("code"), size=facts.get("size"))


def file_source(source: Source) -> Source:
    """Source that a recipe file can hold: a terrain in memory that was read from a file becomes that file.

    >>> file_source(FromTerrain(name="dem", code="sw.read('dem.png', height_range=(0.0, 90.0)).resampled(64)"))
    FromFile(path=...('dem.png'), options={'height_range': (0.0, 90.0)}, size=64)
    """
    if not isinstance(source, FromTerrain) or source.code is None:
        return source
    size, call = source.size, ast.parse(source.code, mode="eval").body
    while isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "resampled":
        size = ast.literal_eval(call.args[0]) if size is None else size
        call = call.func.value
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "read"):
        return source
    options = {str(word.arg): _literal(word.value) for word in call.keywords}
    return FromFile(path=Path(ast.literal_eval(call.args[0])), options=options, size=size)


def read_call(path: str, options: Mapping[str, Any]) -> str:
    """Return the Python call that reads a file.

    >>> read_call("dem.tif", {"nodata": math.nan, "cell_size": None})
    "sw.read('dem.tif', nodata=float('nan'))"
    """
    words = keywords({name: value for name, value in options.items() if value is not None})
    return f"sw.read({path!r}, {words})" if words else f"sw.read({path!r})"


def _literal(node: ast.expr) -> Any:
    """Value of what `keywords` writes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        return float(ast.literal_eval(node.args[0]))
    return ast.literal_eval(node)


def keywords(values: Mapping[str, Any]) -> str:
    """Keyword arguments of a call, exact for every number.

    >>> keywords({"limit": float("inf"), "rate": 0.1})
    "limit=float('inf'), rate=0.1"
    """

    def literal(value: Any) -> str:
        if isinstance(value, Map):
            return f"sw.{value!r}"
        endless = (isinstance(value, float) and value != value) or value in (float("inf"), -float("inf"))
        return f"float({str(value)!r})" if endless else repr(value)

    return ", ".join(f"{name}={literal(value)}" for name, value in values.items())
