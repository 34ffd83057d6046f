"""What the hardware under a backend can do."""

from __future__ import annotations


def copy_bandwidth() -> float:
    """Bytes per second, read and written, at which a kernel copies on the adapter that backend "gpu" runs on."""
    from slopewash.backends.gpu import roofline

    return roofline.copy_bandwidth()
