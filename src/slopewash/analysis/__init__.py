"""Measurements of a terrain: slope, flow, catchments, stream orders, and the laws of real landscapes beside it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from slopewash.analysis.isotropy import axis_preference
from slopewash.analysis.relief import local_minima, local_minima_mask, slope
from slopewash.analysis.statistics import LayerStatistics, statistics

if TYPE_CHECKING:
    from slopewash.analysis.breaching import breach_depressions
    from slopewash.analysis.drainage import drainage_area, fill_depressions
    from slopewash.analysis.flow import Flow, catchments, flow_accumulation, flow_directions, stream_orders
    from slopewash.analysis.landforms import Hypsometry, StreamOrders, hack_law, horton_ratios, hypsometry, slope_area
    from slopewash.analysis.power_law import PowerLaw
    from slopewash.analysis.survey import PUBLISHED, Finding, Survey, analyse
    from slopewash.analysis.trunks import trunk_agreement, trunk_channels

_COMPILED = {
    "breaching": ("breach_depressions",),
    "drainage": ("drainage_area", "fill_depressions"),
    "flow": ("Flow", "catchments", "flow_accumulation", "flow_directions", "stream_orders"),
    "landforms": ("Hypsometry", "StreamOrders", "hack_law", "horton_ratios", "hypsometry", "slope_area"),
    "power_law": ("PowerLaw",),
    "survey": ("PUBLISHED", "Finding", "Survey", "analyse"),
    "trunks": ("trunk_agreement", "trunk_channels"),
}
"""What is imported on first use: it needs compiled kernels, and `statistics` does not."""
_HOME_OF = {name: module for module, names in _COMPILED.items() for name in names}

__all__ = [
    "PUBLISHED",
    "Finding",
    "Flow",
    "Hypsometry",
    "LayerStatistics",
    "PowerLaw",
    "StreamOrders",
    "Survey",
    "analyse",
    "axis_preference",
    "breach_depressions",
    "catchments",
    "drainage_area",
    "fill_depressions",
    "flow_accumulation",
    "flow_directions",
    "hack_law",
    "horton_ratios",
    "hypsometry",
    "local_minima",
    "local_minima_mask",
    "slope",
    "slope_area",
    "statistics",
    "stream_orders",
    "trunk_agreement",
    "trunk_channels",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'slopewash.analysis' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"slopewash.analysis.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
