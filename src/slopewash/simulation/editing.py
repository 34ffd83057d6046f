"""Edits between two steps: patches are written to a backend, and what was there is kept for undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slopewash.errors import InvalidParameter
from slopewash.models.backend import Backend
from slopewash.models.base import Model
from slopewash.models.state import Domain, Patch, Window
from slopewash.terrain import Layer


@dataclass(frozen=True)
class Editor:
    """Edits the state of one run as it is now."""

    device: Backend
    model: Model
    domain: Domain

    def swap(self, patches: Sequence[Patch]) -> list[Patch]:
        """Write patches, count what they add, and return what was there, to the bit."""
        device, state = self.device, self.device.state
        layer_of = {device.kept(name): name for name in self.model.editable()}
        names = [device.kept(patch.name) for patch in patches]
        # All of it before anything is written: writing one field may change how another is stored.
        overwritten = [
            Patch(name, np.array(device.read(name, patch.window)), patch.window)
            for name, patch in zip(names, patches, strict=True)
        ]
        for name, patch in zip(names, patches, strict=True):
            layer = layer_of.get(name)
            mass = None if layer is None else self.model.layer(layer).mass
            before = 0 if mass is None else self._mass(layer, patch.window)
            device.write(patch.name, patch.values, patch.window)
            if mass is not None:
                device.count(f"{mass}_edited", self._mass(layer, patch.window) - before)
            for follower in self.model.follow(patch.name, patch.window, state, self.domain):
                device.write(follower.name, follower.values, follower.window)
        return overwritten

    def _mass(self, layer: str | None, window: Window | None) -> float | int:
        """Sum of part of a layer without nodata: exact for whole numbers, in float64 for others."""
        values, state = self.device.read(str(layer), window), self.device.state
        if "nodata" in state:
            values = values[~state.part("nodata", window)]
        return int(values.sum(dtype=np.int64)) if values.dtype.kind in "iu" else float(values.sum(dtype=np.float64))

    def in_metres(self, layer: str, window: Window) -> Layer:
        """Part of a layer as users see it; an input that the state lacks is worked out first."""
        state = self.device.state
        if layer not in state:
            self.device.write(layer, self.model.fill(layer, state, self.domain))
        return self.model.metres(layer, state.part(layer, window), window, state, self.domain)

    def overwrite(self, layer: str, window: Window, metres: NDArray[np.float64]) -> list[Patch]:
        """Replace part of a layer; cells whose value is the one users see stay as they are to the bit."""
        low, high = self.model.layer(layer).painted
        if not (np.isfinite(metres).all() and metres.min() >= low and metres.max() <= high):
            raise InvalidParameter(
                f"values for {layer} span {metres.min():g} .. {metres.max():g}; "
                f"they must be finite and within {low:g} .. {high:g}"
            )
        state = self.device.state
        kept = metres.astype(np.float32) == self.in_metres(layer, window)
        if "nodata" in state:
            kept |= state.part("nodata", window)
        now, units = state.part(layer, window), self.model.units(layer, metres, window, state, self.domain)
        patch = Patch(layer, np.where(kept, now, units.astype(now.dtype)), window)
        # What goes with it first: it may be what the edit is counted from.
        return self.swap([*self.model.edit(patch, state, self.domain), patch])
