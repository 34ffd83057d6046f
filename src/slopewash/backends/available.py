"""Which backends there are, which work on this machine, and what "auto" means."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from slopewash.errors import BackendUnavailable, unknown_name

PREFERENCE = ("cpu", "reference")
"""What "auto" tries, fastest first."""


def backend_names() -> tuple[str, ...]:
    """Names of all backends, fastest first."""
    return PREFERENCE


def choose_backend(name: str, offered: Sequence[str]) -> str:
    """Resolve "auto", and refuse what is unknown, not offered by the model, or not working here.

    >>> choose_backend("reference", ("cpu", "reference"))
    'reference'
    """
    if name == "auto":
        return next(backend for backend in PREFERENCE if backend in offered and problem(backend) is None)
    if name not in PREFERENCE:
        raise unknown_name("backend", name, (*PREFERENCE, "auto"))
    if name not in offered:
        raise BackendUnavailable(f'this model has no backend "{name}"; it runs on {", ".join(offered)}')
    reason = problem(name)
    if reason is not None:
        raise BackendUnavailable(f'backend "{name}" does not work here: {reason}')
    return name


def problem(name: str) -> str | None:
    """Why a backend cannot run here, or None."""
    if name == "cpu" and importlib.util.find_spec("numba") is None:
        return "numba is not installed: pip install numba"
    return None


def describe_backends() -> list[tuple[str, bool, str]]:
    """Name, whether it works, and a sentence for each backend.

    >>> [name for name, works, detail in describe_backends()]
    ['cpu', 'reference']
    """
    descriptions = {"reference": "NumPy, the specification: slow and exact"}
    if problem("cpu") is None:
        import numba

        descriptions["cpu"] = f"Numba {numba.__version__}, {numba.get_num_threads()} threads"
    return [(name, problem(name) is None, problem(name) or descriptions[name]) for name in PREFERENCE]
