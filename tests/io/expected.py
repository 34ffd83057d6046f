"""What a file of a matrix of metadata means, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

import slopewash as sw

US_FOOT = 1200 / 3937


@dataclass
class Expected:
    """What a case means, or why it means nothing."""

    layers: dict[str, NDArray[np.float32]]
    nodata: NDArray[np.bool_]
    cell_size: float
    crs: str | None
    transform: tuple[float, ...] | None
    refused: bool

    def check_values(self, terrain: sw.Terrain, where: str) -> None:
        """Compare layers and nodata."""
        assert set(terrain) == set(self.layers), where
        for name, layer in self.layers.items():
            assert_array_equal(terrain[name], layer, err_msg=f"{name}, {where}")
        nodata = np.zeros(terrain.shape, bool) if terrain.nodata is None else terrain.nodata
        assert_array_equal(nodata, self.nodata, err_msg=where)


def told(case: Mapping[str, str], usual: Mapping[str, str]) -> str:
    """What is special about a case."""
    return ", ".join(f"{name} {level}" for name, level in case.items() if level != usual[name]) or "the usual"
