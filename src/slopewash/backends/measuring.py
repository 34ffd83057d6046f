"""Bandwidth of the hardware of a backend."""

from __future__ import annotations


def copy_bandwidth() -> float:
    """Return the copy bandwidth, read plus written bytes per second, of the adapter that backend "gpu" runs on."""
    from slopewash.backends.gpu import roofline

    return roofline.copy_bandwidth()
