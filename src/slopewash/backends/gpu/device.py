"""A device to compute on: its limits, buffers and pipelines, and its errors in one sentence."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import wgpu

from slopewash.backends.gpu.adapters import Adapter, chosen_adapter
from slopewash.errors import BackendUnavailable

PORTABLE = {
    "max-storage-buffers-per-shader-stage": 8,
    "max-compute-workgroup-storage-size": 16384,
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-size-x": 256,
}
"""Limits that every WebGPU device has. No more are requested, so that what runs here runs everywhere."""
SIZES = ("max-buffer-size", "max-storage-buffer-binding-size")
"""Limits of size, requested as the adapter has them."""
MIB = 1 << 20

Access = Literal["read", "write", "update", "uniform"]
_BINDINGS = {"read": "read-only-storage", "write": "storage", "update": "storage", "uniform": "uniform"}


class Device:
    """An adapter opened for computing; one per process and adapter, because opening takes longer than most runs."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        limits = PORTABLE | {name: adapter.limits[name] for name in SIZES}
        with self.watched("opening it"):
            self.handle = adapter.handle.request_device_sync(required_limits=limits)
        self._pipelines: dict[tuple[str, tuple[Access, ...]], tuple[Any, Any]] = {}
        self._mark = self.buffer("mark", 4)

    @property
    def largest_buffer(self) -> int:
        """Maximum size of a buffer in bytes."""
        return int(self.handle.limits["max-buffer-size"])

    @property
    def largest_binding(self) -> int:
        """Maximum number of bytes of a buffer that a kernel can bind."""
        return int(self.handle.limits["max-storage-buffer-binding-size"])

    @contextlib.contextmanager
    def watched(self, doing: str) -> Iterator[None]:
        """Convert errors of the driver to one sentence; never switch to another backend."""
        try:
            yield
        except (wgpu.GPUError, wgpu.GPUPipelineError, RuntimeError) as error:
            if isinstance(error, BackendUnavailable):
                raise
            raise BackendUnavailable(self._sentence(doing, error)) from error

    def _sentence(self, doing: str, error: Exception) -> str:
        words = " ".join(str(error).split())
        if isinstance(error, wgpu.GPUOutOfMemoryError) or "memory" in words.lower():
            return f"{self.adapter.name} ran out of memory {doing}; take a smaller grid, or backend cpu"
        if "lost" in words.lower():
            forget(self)
            return f"{self.adapter.name} was lost {doing} (its driver was reset or removed); start the run again"
        return f"{self.adapter.name} failed {doing}: {words}"

    def buffer(self, name: str, size: int, *, uniform: bool = False) -> Any:
        """Create a buffer of zeros."""
        usage = wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        usage |= wgpu.BufferUsage.UNIFORM if uniform else wgpu.BufferUsage.STORAGE
        with self.watched(f"allocating {name} ({size / MIB:.1f} MiB)"):
            return self.handle.create_buffer(label=name, size=size, usage=usage)

    def pipeline(self, source: str, accesses: Sequence[Access]) -> tuple[Any, Any]:
        """Compile a kernel, or take it from the cache; returns the pipeline and its bind group layout."""
        key = (source, tuple(accesses))
        if key not in self._pipelines:
            with self.watched("compiling a kernel"):
                self._pipelines[key] = self._compile(source, accesses)
        return self._pipelines[key]

    def _compile(self, source: str, accesses: Sequence[Access]) -> tuple[Any, Any]:
        entries = [
            {"binding": k, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": _BINDINGS[access]}}
            for k, access in enumerate(accesses)
        ]
        layout = self.handle.create_bind_group_layout(entries=entries)
        made = self.handle.create_compute_pipeline(
            layout=self.handle.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": self.handle.create_shader_module(code=source), "entry_point": "main"},
        )
        return made, layout

    def bind(self, layout: Any, ranges: Sequence[tuple[Any, int, int]]) -> Any:
        """Bind parts of buffers, each (buffer, offset, size), in the order of the layout."""
        entries = [
            {"binding": k, "resource": {"buffer": buffer, "offset": offset, "size": size}}
            for k, (buffer, offset, size) in enumerate(ranges)
        ]
        with self.watched("binding buffers"):
            return self.handle.create_bind_group(layout=layout, entries=entries)

    def wait(self) -> None:
        """Wait for everything submitted so far."""
        with self.watched("computing"):
            self.handle.queue.read_buffer(self._mark, 0, 4)


_open: dict[tuple[int, Adapter], Device] = {}


def open_device() -> Device:
    """Device of the chosen adapter; a forked process opens its own."""
    key = (os.getpid(), chosen_adapter())
    if key not in _open:
        _open[key] = Device(key[1])
    return _open[key]


def forget(device: Device) -> None:
    """Drop a device that was lost, so that the next run opens it again."""
    for key in [key for key, known in _open.items() if known is device]:
        del _open[key]
