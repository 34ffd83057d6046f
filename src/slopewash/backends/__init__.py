"""What runs the kernels: which backends there are and whether they work here."""

from slopewash.backends.available import backend_names, choose_backend, describe_backends

__all__ = ["backend_names", "choose_backend", "describe_backends"]
