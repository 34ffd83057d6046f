"""A terrain taken apart into plain facts and arrays, for checkpoints and copies, and put together again to the bit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from numpy.typing import NDArray

from slopewash.terrain.emitters import emitter_table, emitters_of
from slopewash.terrain.sources import source_table, sources_of
from slopewash.terrain.strata import Strata, Stratum
from slopewash.terrain.terrain import Terrain

Facts = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def take_apart(terrain: Terrain) -> tuple[Facts, Arrays]:
    """Facts that JSON can hold, and arrays by name."""
    facts: Facts = {
        "cell_size": terrain.cell_size,
        "crs": terrain.crs,
        "transform": terrain.transform,
        "south_up": terrain.south_up,
        "layers": list(terrain),
        "own": sorted(terrain.own_layers),
    }
    arrays: Arrays = {f"layer.{name}": layer for name, layer in terrain.items()}
    arrays |= {"sources": source_table(terrain.sources), "emitters": emitter_table(terrain.emitters)}
    if terrain.nodata is not None:
        arrays["nodata"] = terrain.nodata
    if terrain.strata is not None:
        facts["strata"] = strata_facts(terrain.strata)
        if terrain.strata.top is not None:
            arrays["strata_top"] = terrain.strata.top
    return facts, arrays


def put_together(facts: Facts, arrays: Arrays) -> Terrain:
    """Make the terrain that `take_apart` took apart.

    >>> terrain = Terrain([[0, 1], [1, 0]], water=0.5)
    >>> put_together(*take_apart(terrain))
    Terrain 2 x 2 cells of 1 m (2 x 2 m)
      elevation   0 .. 1 m
      water       0.5 .. 0.5 m
    """
    layers = {name: arrays[f"layer.{name}"] for name in facts["layers"]}
    strata = None
    if "strata" in facts:
        strata = strata_from(facts["strata"], arrays.get("strata_top"))
    own = {name: layers.pop(name) for name in facts["own"]}
    return Terrain(
        **layers,
        cell_size=facts["cell_size"],
        nodata=arrays.get("nodata"),
        crs=facts["crs"],
        transform=facts["transform"],
        south_up=facts.get("south_up", False),
        sources=sources_of(arrays["sources"]),
        emitters=emitters_of(arrays["emitters"]),
        strata=strata,
        own_layers=own,
    )


def strata_facts(strata: Strata) -> Facts:
    """Layers and geometry of strata without their top."""
    return {
        "layers": [asdict(layer) for layer in strata.layers],
        "dip": strata.dip, "direction": strata.direction, "follow": strata.follow,
    }  # fmt: skip


def strata_from(facts: Facts, top: NDArray[Any] | None) -> Strata:
    """Strata of what `strata_facts` gave."""
    layers = [Stratum(**layer) for layer in facts["layers"]]
    return Strata(layers, dip=facts["dip"], direction=facts["direction"], follow=facts["follow"], top=top)
