"""Which graphics adapters exist, and which one is used."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slopewash.errors import BackendUnavailable

NEEDS_EXTRA = 'it needs the gpu extra: pip install "slopewash[gpu]"'
NO_ADAPTER = (
    "no graphics adapter was found; install its Vulkan driver, "
    "or Mesa's software driver for tests (Debian: apt-get install mesa-vulkan-drivers)"
)
BEST_FIRST = ("DiscreteGPU", "IntegratedGPU", "Unknown", "CPU")

CARDS = ("dri/*", "nvidia*", "dxg", "kgsl*", "mali*")
"""Device files of graphics cards in /dev on Linux; dxg is the host's card under WSL."""

_wanted: str | None = None


@dataclass(frozen=True)
class Adapter:
    """A graphics card, or a driver that computes on the processor."""

    name: str
    kind: str
    """DiscreteGPU, IntegratedGPU, CPU or Unknown"""
    driver: str
    interface: str
    """Vulkan, Metal or D3D12"""
    limits: Mapping[str, int] = field(repr=False, compare=False)
    handle: Any = field(repr=False, compare=False)

    @property
    def software(self) -> bool:
        """Whether it computes on the processor: suitable for tests, slower than the cpu backend."""
        return self.kind == "CPU"

    def __str__(self) -> str:
        return f"{self.name} ({'software' if self.software else self.kind}, {self.interface}, {self.driver})"


def installed() -> bool:
    """Whether the gpu extra is installed."""
    return importlib.util.find_spec("wgpu") is not None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Create the runtime folder whose absence the window system's library reports on stderr."""
    name = "XDG_RUNTIME_DIR"
    if name in os.environ:
        yield
        return
    os.environ[name] = tempfile.gettempdir()
    try:
        yield
    finally:
        del os.environ[name]


@functools.cache
def adapters() -> tuple[Adapter, ...]:
    """Every adapter, fastest kind first.

    >>> import slopewash as sw
    >>> all(adapter.name for adapter in sw.adapters())
    True
    """
    if not installed():
        return ()
    import wgpu
    from wgpu.backends.wgpu_native.extras import set_instance_extras

    with _quiet():
        # OpenGL lists the same cards again. Other code in this process may have set the backends already.
        with contextlib.suppress(RuntimeError):
            set_instance_extras(backends=["Primary"])
        found = [_describe(handle) for handle in wgpu.gpu.enumerate_adapters_sync()]
    found = [adapter for adapter in found if adapter.interface != "OpenGL"]
    return tuple(sorted(found, key=lambda adapter: BEST_FIRST.index(adapter.kind)))


def _describe(handle: Any) -> Adapter:
    info = handle.info
    kind = info["adapter_type"]
    return Adapter(
        name=info["device"] or info["description"] or "unnamed adapter",
        kind=kind if kind in BEST_FIRST else "Unknown",
        driver=info["description"] or "driver unknown",
        interface=info["backend_type"],
        limits=dict(handle.limits),
        handle=handle,
    )


def use_adapter(name: str | None) -> None:
    """Choose the adapter that `backend="gpu"` runs on, by any part of its name; None selects the best one.

    >>> use_adapter(None)
    """
    global _wanted
    if name is not None:
        _by_name(name)
    _wanted = name


def named_adapter() -> str | None:
    """Name that `use_adapter` was given last.

    >>> use_adapter(None)
    >>> named_adapter() is None
    True
    """
    return _wanted


def chosen_adapter() -> Adapter:
    """Adapter to run on: the one named with `use_adapter`, else the best."""
    if not installed():
        raise BackendUnavailable(f'backend "gpu" does not work here: {NEEDS_EXTRA}')
    if _wanted is not None:
        return _by_name(_wanted)
    if not adapters():
        raise BackendUnavailable(f'backend "gpu" does not work here: {NO_ADAPTER}')
    return adapters()[0]


def _by_name(name: str) -> Adapter:
    if not installed():
        raise BackendUnavailable(f"adapter is {name!r}; {NEEDS_EXTRA}")
    for adapter in adapters():
        if name.lower() in adapter.name.lower():
            return adapter
    known = ", ".join(adapter.name for adapter in adapters())
    raise BackendUnavailable(f"no adapter's name contains {name!r}; {f'there are {known}' if known else NO_ADAPTER}")


def problem() -> str | None:
    """Return the reason why nothing can run on a GPU here, or None."""
    if not installed():
        return NEEDS_EXTRA
    return None if adapters() else NO_ADAPTER


def may_have_card() -> bool:
    """Whether asking the driver, which takes most of a second, could find a card; only Linux says so beforehand."""
    return sys.platform != "linux" or any(any(Path("/dev").glob(name)) for name in CARDS)


def has_hardware() -> bool:
    """Whether "auto" may select the GPU: never a software adapter, unless it was chosen by name."""
    if _wanted is None and not may_have_card():
        return False
    return problem() is None and not chosen_adapter().software
