"""Memory bandwidth of an adapter: the upper limit for all kernels."""

from __future__ import annotations

import time
from pathlib import Path

COPIED_BYTES = 1 << 26
"""Larger than caches, and within the binding limit of any device."""
ROUNDS = 5
CELL = 16
"""Bytes of the vec4 that a lane copies, as our kernels do."""
ACROSS = 1 << 14
"""Workgroups along x: a row of them stays below every device's limit."""
COPY = Path(__file__).parent / "copy.wgsl"


def copy_bandwidth() -> float:
    """Return the copy bandwidth, read plus written bytes per second, of the adapter that backend "gpu" runs on.

    >>> import slopewash as sw
    >>> sw.copy_bandwidth() > 1e8  # doctest: +SKIP
    True
    """
    from slopewash.backends.gpu.device import open_device  # needs the gpu extra

    device = open_device()
    source, target = (device.buffer(name, COPIED_BYTES) for name in ("source", "target"))
    pipeline, layout = device.pipeline(COPY.read_text(encoding="utf-8"), ["read", "write"])
    group = device.bind(layout, [(buffer, 0, COPIED_BYTES) for buffer in (source, target)])
    groups = COPIED_BYTES // CELL // 64
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        with device.watched("copying"):
            encoder = device.handle.create_command_encoder()
            copying = encoder.begin_compute_pass()
            copying.set_pipeline(pipeline)
            copying.set_bind_group(0, group)
            copying.dispatch_workgroups(min(groups, ACROSS), max(1, groups // ACROSS))
            copying.end()
            device.handle.queue.submit([encoder.finish()])
        device.wait()
        best = min(best, time.perf_counter() - begin)
    for buffer in (source, target):
        buffer.destroy()
    return 2 * COPIED_BYTES / best
