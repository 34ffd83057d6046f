"""Where a state lives while it is stepped: memory, or a device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import numpy as np

from slopewash.models.state import Array, Domain, State, Window


class Backend(ABC):
    """Holds the state of one run and steps it. Backends know arrays and coefficients: no model, no terrain.

    What a device does not hold stays in `host`; subclasses override `read` and `write` for what it does.
    """

    def __init__(self, state: State, domain: Domain) -> None:
        self.domain = domain
        self.host: dict[str, Array] = dict(state.arrays)
        self._given = tuple(map(self.stored, state.arrays))
        self._scalars: dict[str, float | int] = dict(state.scalars)

    @abstractmethod
    def advance(self, coefficients: Any, iterations: int) -> None:
        """Take the state through some iterations."""

    @property
    def names(self) -> tuple[str, ...]:
        """Fields that make up the whole state: those it began with, and what was added on the host."""
        return tuple(dict.fromkeys((*self._given, *self.host)))

    @property
    def scalars(self) -> dict[str, float | int]:
        """Sums and counts, as they are now."""
        return self._scalars

    def scalar(self, name: str) -> float | int:
        """One of the sums and counts."""
        return self.scalars[name]

    def count(self, name: str, amount: float | int) -> None:
        """Add to a sum."""
        self._scalars[name] += amount

    def stored(self, name: str) -> str:
        """Name of the field that holds a layer."""
        return name

    def kept(self, name: str) -> str:
        """Name under which a layer is read and written to put it back to the bit, whatever else has changed since."""
        return self.stored(name)

    def read(self, name: str, window: Window | None = None) -> Array:
        """A field, or part of it: a view or a copy, valid until the next step."""
        return cut(self.host[name], window)

    def write(self, name: str, values: Array, window: Window | None = None) -> None:
        """Replace a field, or part of it."""
        if window is None:
            self.host[name] = np.array(values)
        else:
            self.host[name] = own(self.host[name])
            self.host[name][..., window[0], window[1]] = values

    @property
    def state(self) -> State:
        """The state; each field is read when it is asked for, and assigning to one writes it."""
        return State(_Fields(self), _Scalars(self))

    def traffic(self, coefficients: Any) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move, where the backend knows."""
        return {}

    def close(self) -> None:  # noqa: B027
        """Free the device's memory; the backend cannot be used afterwards."""


class HostBackend(Backend):
    """Steps a state in the machine's memory: `step(state, coefficients, domain)` replaces its arrays."""

    def __init__(self, state: State, domain: Domain, step: Callable[[State, Any, Domain], None]) -> None:
        super().__init__(state, domain)
        self._step = step

    def advance(self, coefficients: Any, iterations: int) -> None:
        """Take the state through some iterations."""
        state = State(self.host, self._scalars)
        for _ in range(iterations):
            self._step(state, coefficients, self.domain)


class _Fields(MutableMapping[str, Array]):
    """A backend's fields, read when they are asked for."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __getitem__(self, name: str) -> Array:
        return self._backend.read(name)

    def part(self, name: str, window: Window | None) -> Array:
        return self._backend.read(name, window)

    def __setitem__(self, name: str, values: Array) -> None:
        self._backend.write(name, values)

    def __delitem__(self, name: str) -> None:
        raise TypeError("a backend's fields cannot be removed")

    def __contains__(self, name: object) -> bool:
        return self._backend.stored(str(name)) in self._backend.names

    def __iter__(self) -> Iterator[str]:
        return iter(self._backend.names)

    def __len__(self) -> int:
        return len(self._backend.names)


class _Scalars(MutableMapping[str, float | int]):
    """A backend's sums and counts, read when they are asked for."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __getitem__(self, name: str) -> float | int:
        return self._backend.scalar(name)

    def __setitem__(self, name: str, value: float | int) -> None:
        self._backend.scalars[name] = value

    def __delitem__(self, name: str) -> None:
        raise TypeError("a backend's sums cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._backend.scalars)

    def __len__(self) -> int:
        return len(self._backend.scalars)


def own(array: Array) -> Array:
    """The array if it may be written to, else a copy."""
    return array if array.flags.writeable else array.copy()


def cut(array: Array, window: Window | None) -> Array:
    """Return a view of part of a field, or all of it."""
    return array if window is None else array[..., window[0], window[1]]
