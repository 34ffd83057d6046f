"""Where a state lives while it is stepped: memory, or a device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from slopewash.interrupts import Stopped
from slopewash.models.state import Array, Domain, State, Window

T = TypeVar("T")


Memory = Callable[[int], NDArray[np.uint8]]
"""Whom to ask for so many bytes, which may hold anything."""


@dataclass(frozen=True)
class Ready:
    """Room for a state that is yet to be read: each field's place, and how to begin when all are filled.

    A backend otherwise copies what it is given.
    """

    places: Mapping[str, Array]
    begin: Callable[[State], Backend]
    """Takes a state with those very places as its arrays."""


class Backend(ABC):
    """Holds the state of one run and steps it. Backends know arrays and coefficients: no model, no terrain.

    What a device does not hold stays in `host`; subclasses override `read` and `write` for what it does. The arrays it
    is given may belong to other runs too, and stay as they are.
    """

    adds_into: ClassVar[tuple[str, ...]] = ()
    """Fields on the host that steps add into; other arrays they replace."""
    unused: ClassVar[tuple[str, ...]] = ()
    """Inputs that no step looks at."""

    def __init__(self, state: State, domain: Domain) -> None:
        self.domain = domain
        self.host: dict[str, Array] = {
            name: np.array(array) if name in self.adds_into else array for name, array in state.arrays.items()
        }
        self._shared = set(state.arrays)
        """Fields on the host that may still be the arrays that were given."""
        self._given = tuple(map(self.stored, state.arrays))
        self._scalars: dict[str, float | int] = dict(state.scalars)

    @classmethod
    def room(cls, components: Mapping[str, int], domain: Domain, memory: Memory) -> Ready | None:
        """Room in some memory for fields with so many values in each cell; None from a backend that always copies."""
        return None

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
            if name in self._shared or not self.host[name].flags.writeable:
                self.host[name] = np.array(self.host[name])
            self.host[name][..., window[0], window[1]] = values
        self._shared.discard(name)

    @property
    def state(self) -> State:
        """The state; each field is read when it is asked for, and assigning to one writes it."""
        return _BackendState(self)

    def owns(self, array: Array) -> bool:
        """Whether an array is one of its own, or a view that may be of one: the next step may change it."""
        return not array.flags.owndata or any(array is field for field in self.host.values())

    def forget(self) -> None:  # noqa: B027
        """Drop what was downloaded from a device; whoever looks next downloads it again."""

    def traffic(self, coefficients: Any) -> dict[str, int]:
        """Bytes per cell that each kernel of one iteration must move, where the backend knows."""
        return {}

    @contextmanager
    def forgotten_if_stopped(self, done: int) -> Iterator[None]:
        """Let an iteration that is left at a safe point, after `done` others, not have begun."""
        fields = self.host | {name: self.host[name].copy() for name in self.adds_into}
        scalars = dict(self._scalars)
        try:
            yield
        except Stopped as early:
            self.host.clear()
            self.host.update(fields)
            self._scalars.update(scalars)
            early.done = done
            raise

    def close(self) -> None:  # noqa: B027
        """Free the device's memory; the backend cannot be used afterwards."""


class HostBackend(Backend):
    """Steps a state in the machine's memory: `step(state, coefficients, domain)` replaces its arrays.

    A step that is left at a safe point has not begun.
    """

    def __init__(self, state: State, domain: Domain, step: Callable[[State, Any, Domain], None]) -> None:
        super().__init__(state, domain)
        self._step = step

    def advance(self, coefficients: Any, iterations: int) -> None:
        """Take the state through some iterations."""
        state = State(self.host, self._scalars)
        for done in range(iterations):
            with self.forgotten_if_stopped(done):
                self._step(state, coefficients, self.domain)


class _BackendState(State):
    """The state that a backend holds; of part of a field, no more than that is read."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(
            _View(lambda: backend.names, backend.read, backend.write, backend.stored),
            _View(lambda: backend.scalars, backend.scalar, lambda name, value: backend.scalars.update({name: value})),
        )
        self._backend = backend

    def part(self, name: str, window: Window | None) -> Array:
        return self._backend.read(name, window)


class _View(MutableMapping[str, T]):
    """Values of a backend by name, each read when it is asked for; `stored` is the name under which one is found."""

    def __init__(
        self,
        names: Callable[[], Collection[str]],
        read: Callable[[str], T],
        write: Callable[[str, T], None],
        stored: Callable[[str], str] = str,
    ) -> None:
        self._names, self._read, self._write, self._stored = names, read, write, stored

    def __getitem__(self, name: str) -> T:
        return self._read(name)

    def __setitem__(self, name: str, value: T) -> None:
        self._write(name, value)

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"a backend's {name} cannot be removed")

    def __contains__(self, name: object) -> bool:
        return self._stored(str(name)) in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


def counted_by(domain: Domain) -> dict[str, int]:
    """First and one past the last row and column that count in the budget, where rows have a ghost at either end."""
    rows, columns = domain.own
    return {
        "from_row": rows.start, "to_row": rows.stop, "from_column": columns.start + 1, "to_column": columns.stop + 1,
    }  # fmt: skip


def counted_on_device(domain: Domain) -> dict[str, int]:
    """The same for kernels on a device, whose rows have no ghosts."""
    rows, columns = domain.own
    return {
        "COUNT_FROM_ROW": rows.start, "COUNT_TO_ROW": rows.stop,
        "COUNT_FROM_COLUMN": columns.start, "COUNT_TO_COLUMN": columns.stop,
    }  # fmt: skip


def cut(array: Array, window: Window | None) -> Array:
    """Return a view of part of a field, or all of it."""
    return array if window is None else array[..., window[0], window[1]]
