"""A regular grid of named layers in metres."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopewash.errors import InvalidTerrain, unknown_name
from slopewash.terrain.arrays import as_real, handed_over, is_ours, mask_of
from slopewash.terrain.emitters import Emitter
from slopewash.terrain.fields import ATTRIBUTES, LAYERS, RESERVED, layer_spec
from slopewash.terrain.sources import WaterSource
from slopewash.terrain.strata import Strata

if TYPE_CHECKING:
    import xarray

Layer = NDArray[np.float32]
_Default = TypeVar("_Default")
T = TypeVar("T")

LONGEST_CRS_SHOWN = 60
"""Characters of a CRS in a repr."""


class Terrain(Mapping[str, Layer]):
    """A height field with its layers: a mapping from layer name to a read-only float32 array.

    Arrays are indexed `[row, column]`, row 0 in the north. Any real array is accepted and copied; a single number fills
    a layer. Cells of `nodata` (a boolean mask) hold no ground, and nothing enters them. A terrain never changes:
    `replace` makes another.

    Parameters
    ----------
    elevation
        Height of the ground in metres.
    cell_size
        Side of a cell in metres.
    nodata
        True where there is no ground. Without it, NaN in any layer is an error. What a masked elevation masks counts
        as nodata, too; other layers may be masked only there.
    crs, transform
        Coordinate reference system (any text, such as "EPSG:32611") and the six numbers of the affine transform from
        (column, row) to world coordinates, carried along unchanged.
    south_up
        Whether the file it came from begins in the south. Arrays never do; GIS files are written so again.
    sources
        Water sources on the terrain.
    emitters
        Discs from which particles of water start, for models that have particles.
    strata
        Geological layers beneath the ground.
    own_layers
        Layers of your own by name, which are carried along untouched.
    layers
        Further layers by name, such as `water`, `suspended`, `erodibility`, `rainfall`.

    >>> terrain = Terrain(np.zeros((3, 4)), cell_size=5.0, water=1.0)
    >>> terrain["water"].shape, terrain.cell_size
    ((3, 4), 5.0)
    >>> terrain
    Terrain 4 x 3 cells of 5 m (20 x 15 m)
      elevation   0 .. 0 m
      water       1 .. 1 m
    """

    picture: ClassVar[Callable[[Terrain], bytes] | None] = None
    """Draws a PNG for notebooks; registered by the render package."""
    _is_made: bool = False
    needs_ground: ClassVar[bool] = True
    """Whether some cell must have ground; part of a terrain may have none."""

    def __init__(
        self,
        elevation: ArrayLike,
        *,
        cell_size: float = 1.0,
        nodata: ArrayLike | None = None,
        crs: str | None = None,
        transform: Sequence[float] | None = None,
        south_up: bool = False,
        sources: Sequence[WaterSource] = (),
        emitters: Sequence[Emitter] = (),
        strata: Strata | None = None,
        own_layers: Mapping[str, ArrayLike | None] | None = None,
        **layers: ArrayLike | None,
    ) -> None:
        ground = _as_grid(elevation)
        self.shape: tuple[int, int] = (ground.shape[0], ground.shape[1])
        self.cell_size = _checked_cell_size(cell_size)
        self.nodata = _as_mask(nodata, mask_of(elevation), self.shape, needs_ground=self.needs_ground)
        self.crs = _checked_crs(crs)
        self.transform = _checked_transform(transform)
        self.south_up = bool(south_up)
        self.sources = _checked_each("sources", sources, WaterSource)
        for source in self.sources:
            source.footprint(self.shape, self.cell_size)
        self.emitters = _checked_each("emitters", emitters, Emitter)
        for emitter in self.emitters:
            emitter.check_within(self.width, self.height)
        self._layers: dict[str, Layer] = {"elevation": self._checked_layer("elevation", ground)}
        own = {str(name): values for name, values in (own_layers or {}).items() if values is not None}
        for name in [*layers, *own]:
            _check_name(name, own)
        for name, values in [*layers.items(), *own.items()]:
            if values is not None:
                self._layers[name] = self._checked_layer(name, values)
        self.own_layers = frozenset(own)
        """Names of the layers that are the user's own."""
        self.strata = self._checked_strata(strata)
        self._is_made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_made:
            raise _unchangeable(name, f"{name}=...")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise _unchangeable(name, f"{name}=None")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the arrays of a copy or a pickle unchangeable again, which NumPy does not."""
        layers = {name: handed_over(layer) for name, layer in state["_layers"].items()}
        nodata = None if state["nodata"] is None else handed_over(state["nodata"])
        self.__dict__.update(state | {"_layers": layers, "nodata": nodata})

    def _checked_strata(self, strata: Strata | None) -> Strata | None:
        if strata is None:
            return None
        if not isinstance(strata, Strata):
            raise InvalidTerrain(f"strata is {strata!r}; it must be a Strata")
        elevation = self["elevation"]
        if self.nodata is not None:
            elevation = np.where(self.nodata, self.range("elevation")[0], elevation)
        return strata.on(elevation, self.cell_size)

    def _checked_layer(self, name: str, values: ArrayLike) -> Layer:
        given = as_real(f"layer {name}", values)
        if given.dtype == np.float32 and is_ours(given) and self.nodata is None:
            layer = given
        else:
            with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite and is reported below
                layer = np.array(given, dtype=np.float32, order="C", copy=True)
        if layer.ndim == 0:
            layer = np.full(self.shape, layer, dtype=np.float32)
        if layer.shape != self.shape:
            raise InvalidTerrain(
                f"layer {name} has shape {layer.shape}; it must be {self.shape}, as elevation is, or a single number"
            )
        masked = mask_of(values)
        bad = ~np.isfinite(layer)
        if masked is not None:
            bad |= masked
        if self.nodata is not None:
            layer[self.nodata] = 0.0
            bad &= ~self.nodata
        if bad.any():
            row, column = np.argwhere(bad)[0]
            is_masked = masked is not None and np.broadcast_to(masked, self.shape)[row, column]
            raise InvalidTerrain(
                f"layer {name} is {'masked' if is_masked else f'{layer[row, column]} as float32'} at row {row}, column "
                f"{column} ({int(bad.sum())} such {'cell' if bad.sum() == 1 else 'cells'}); fill them or mark them "
                "with nodata="
            )
        spec = layer_spec(name)
        if layer.min() < spec.lowest and math.isinf(spec.highest):
            raise InvalidTerrain(f"layer {name} has a value of {layer.min():g}; it must not be negative")
        if not (layer.min() >= spec.lowest and layer.max() <= spec.highest):
            raise InvalidTerrain(
                f"layer {name} spans {layer.min():g} .. {layer.max():g}; it must lie within "
                f"{spec.lowest:g} .. {spec.highest:g}: {spec.doc}"
            )
        return handed_over(layer)

    def __getitem__(self, name: str) -> Layer:
        """Return the layer of that name, read-only."""
        try:
            return self._layers[name]
        except KeyError:
            raise unknown_name("layer", str(name), self._layers) from None

    @overload
    def get(self, name: str, /) -> Layer | None: ...

    @overload
    def get(self, name: str, /, default: Layer | _Default) -> Layer | _Default: ...

    def get(self, name: str, /, default: Any = None) -> Any:
        """Return the layer of that name, or the default if there is none."""
        return self._layers.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._layers

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    @property
    def width(self) -> float:
        """Extent from west to east in metres."""
        return self.shape[1] * self.cell_size

    @property
    def height(self) -> float:
        """Extent from north to south in metres."""
        return self.shape[0] * self.cell_size

    @property
    def area(self) -> float:
        """Ground in square metres, nodata left out."""
        cells = self.shape[0] * self.shape[1] - (0 if self.nodata is None else int(self.nodata.sum()))
        return cells * self.cell_size**2

    @property
    def relief(self) -> float:
        """Difference between the highest and the lowest ground in metres."""
        low, high = self.range("elevation")
        return high - low

    def units(self, name: str) -> str:
        """Units of a layer, in which "time" is model time, not seconds; empty if it has none, or is not one of ours.

        >>> Terrain([[0.0, 1.0]], water=0.5).units("water")
        'm'
        """
        return layer_spec(name).units

    def range(self, name: str) -> tuple[float, float]:
        """Lowest and highest value of a layer, nodata cells left out."""
        layer = self[name]
        values = layer if self.nodata is None else layer[~self.nodata]
        return (float(values.min()), float(values.max())) if values.size else (math.nan, math.nan)

    def replace(self, **changes: Any) -> Terrain:
        """Return a copy with layers or attributes changed; None removes a layer.

        >>> Terrain(np.zeros((2, 2))).replace(water=0.5, cell_size=2.0)
        Terrain 2 x 2 cells of 2 m (4 x 4 m)
          elevation   0 .. 0 m
          water       0.5 .. 0.5 m
        """
        own = {name: self._layers[name] for name in self.own_layers} | dict(changes.pop("own_layers", None) or {})
        own |= {name: changes.pop(name) for name in own if name in changes}
        values: dict[str, Any] = {name: getattr(self, name) for name in ATTRIBUTES}
        values.update({name: layer for name, layer in self._layers.items() if name not in own})
        values.update(changes)
        if self.nodata is not None and "elevation" not in changes:
            _refuse_ground_in_voids(self.nodata, values["nodata"])
        return type(self)(**values, own_layers=own)

    def resampled(self, size: int) -> Terrain:
        """Return the same ground with `size` cells along its longer side, each the mean over its area.

        >>> Terrain(np.zeros((20, 40)), cell_size=3.0).resampled(10)
        Terrain 10 x 5 cells of 12 m (120 x 60 m)
          elevation   0 .. 0 m
        """
        from slopewash.terrain.resampling import resampled

        return resampled(self, size)

    def to_xarray(self) -> xarray.Dataset:
        """Return the layers as an xarray Dataset in the coordinates of the CRS (needs the xarray extra).

        `x` and `y` are those of cell centres, `spatial_ref` holds CRS and transform as rioxarray expects them, and
        nodata is NaN. A terrain without a transform lies with its south-west corner at the origin, in metres.
        """
        from slopewash.terrain.dataset import to_dataset

        return to_dataset(self)

    def _repr_png_(self) -> bytes | None:
        draw = type(self).picture
        return None if draw is None else draw(self)

    def __repr__(self) -> str:
        rows, columns = self.shape
        lines = [
            f"Terrain {columns} x {rows} cells of {self.cell_size:g} m ({self.width:g} x {self.height:g} m)"
            + (f", {_crs_name(self.crs)}" if self.crs else "")
            + (f", {int(self.nodata.sum())} cells without data" if self.nodata is not None else "")
            + (f", {len(self.sources)} water source{'s'[: len(self.sources) != 1]}" if self.sources else "")
            + (f", {len(self.emitters)} emitter{'s'[: len(self.emitters) != 1]}" if self.emitters else "")
            + (f", {len(self.strata.layers)} strata" if self.strata else "")
        ]
        for name in self._layers:
            low, high = self.range(name)
            lines.append(f"  {name:<11} {low:g} .. {high:g} {layer_spec(name).units}".rstrip())
        return "\n".join(lines)


def _check_name(name: str, own: Mapping[str, Any]) -> None:
    if name in own:
        if name in RESERVED:
            raise InvalidTerrain(f'own_layers holds "{name}", which is a reserved name; rename it')
        if name in LAYERS:
            raise InvalidTerrain(f'own_layers holds "{name}", which slopewash has a layer of; pass it as {name}=...')
    elif name not in LAYERS:
        error = unknown_name("layer", name, LAYERS)
        joint = " Layers" if str(error).endswith("?") else "; layers"
        raise type(error)(f'{error}{joint} of your own go into own_layers={{"{name}": ...}}')


def _checked_crs(crs: str | None) -> str | None:
    if crs is not None and not isinstance(crs, str):
        raise InvalidTerrain(
            f'crs is {crs!r}; it must be text, such as "EPSG:{crs if isinstance(crs, int) else 32611}"'
        )
    return crs


def _crs_name(crs: str) -> str:
    """Return a short text as it is, and the name in a well-known text, which fills a page."""
    if len(crs) <= LONGEST_CRS_SHOWN:
        return crs
    name = crs.split('"')[1] if crs.count('"') > 1 else crs
    return name if len(name) <= LONGEST_CRS_SHOWN else f"{name[: LONGEST_CRS_SHOWN - 3]}..."


def _as_grid(elevation: ArrayLike) -> NDArray[Any]:
    ground = as_real("layer elevation", elevation)
    if ground.ndim != 2:
        raise InvalidTerrain(f"elevation has {ground.ndim} dimensions; it must have two, rows and columns")
    if ground.size == 0:
        raise InvalidTerrain(f"elevation has shape {ground.shape}; it needs at least one cell")
    return ground


def _as_mask(
    nodata: ArrayLike | None, masked: NDArray[np.bool_] | None, shape: tuple[int, int], *, needs_ground: bool
) -> NDArray[np.bool_] | None:
    """Cells that the mask or the elevation's own mask names."""
    if nodata is None and masked is None:
        return None
    mask = np.zeros(shape, np.bool_) if nodata is None else np.array(as_real("nodata", nodata), np.bool_)
    if mask.shape != shape:
        raise InvalidTerrain(f"nodata has shape {mask.shape}; it must be a mask of {shape}, as elevation is")
    if nodata is not None and mask_of(nodata) is not None:
        raise InvalidTerrain("nodata is itself masked in places; fill it with .filled(True)")
    if masked is not None:
        mask |= masked
    if needs_ground and mask.all():
        raise InvalidTerrain("every cell is nodata; a terrain needs at least one cell of ground")
    return handed_over(mask) if mask.any() else None


def _refuse_ground_in_voids(voids: NDArray[np.bool_], nodata: ArrayLike | None) -> None:
    """Where there was no ground, a terrain holds 0 m, which is nobody's height."""
    left = np.zeros(voids.shape, np.bool_) if nodata is None else np.asarray(nodata, np.bool_)
    if left.shape == voids.shape and (bare := int((voids & ~left).sum())):
        raise InvalidTerrain(
            f"{bare} {'cell' if bare == 1 else 'cells'} without data would become ground, and no height is known "
            "there; give elevation=, too, with them filled"
        )


def _unchangeable(name: str, change: str) -> AttributeError:
    return AttributeError(f"{name} of a terrain cannot be set; make another terrain with terrain.replace({change})")


def _checked_cell_size(cell_size: float) -> float:
    try:
        value = float(cell_size)
    except (TypeError, ValueError):
        raise InvalidTerrain(f"cell_size is {cell_size!r}; it must be a number of metres") from None
    if not (math.isfinite(value) and value > 0):
        raise InvalidTerrain(f"cell_size is {value} m; it must be positive and finite")
    return value


def _checked_transform(transform: Sequence[float] | None) -> tuple[float, ...] | None:
    if transform is None:
        return None
    try:
        numbers = tuple(float(v) for v in transform)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) != 6 or not all(map(math.isfinite, numbers)):
        raise InvalidTerrain(f"transform is {transform!r}; it must be six finite numbers")
    return numbers


def _checked_each(name: str, given: Iterable[T], kind: type[T]) -> tuple[T, ...]:
    try:
        things = tuple(given)
    except TypeError:
        raise InvalidTerrain(f"{name} is {given!r}; it must be a sequence of {kind.__name__}") from None
    for thing in things:
        if not isinstance(thing, kind):
            raise InvalidTerrain(f"{name} holds {thing!r}; each must be of type {kind.__name__}")
    return things


def check_terrain(given: object, *others: type) -> None:
    """Refuse what is no terrain, nor of another type that will do, with what to pass instead."""
    if isinstance(given, (Terrain, *others)):
        return
    if hasattr(given, "terrain"):
        raise InvalidTerrain(f"a {type(given).__name__} is not a terrain; pass its .terrain")
    kind = "an array" if isinstance(given, np.ndarray) else f"of type {type(given).__name__}"
    raise InvalidTerrain(f"terrain is {kind}; wrap heights as Terrain(heights, cell_size=...)")
