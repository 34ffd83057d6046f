"""Backends that run the kernels: which exist and which work on this machine."""

from slopewash.backends.available import available_backends, backend_names, choose_backend, describe_backends
from slopewash.backends.gpu.adapters import adapters, named_adapter, use_adapter
from slopewash.backends.gpu.roofline import copy_bandwidth

__all__ = [
    "adapters",
    "available_backends",
    "backend_names",
    "choose_backend",
    "copy_bandwidth",
    "describe_backends",
    "named_adapter",
    "use_adapter",
]
