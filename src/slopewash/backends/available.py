"""Which backends exist, which work on this machine, and what "auto" selects."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection

from slopewash.backends.gpu import adapters
from slopewash.errors import BackendUnavailable, unknown_name
from slopewash.threads import check_threads

PREFERENCE = ("gpu", "cpu", "reference")
"""What "auto" tries, fastest first."""


def backend_names() -> tuple[str, ...]:
    """Return the names of all backends, fastest first.

    >>> import slopewash as sw
    >>> sw.backend_names()
    ('gpu', 'cpu', 'reference')
    """
    return PREFERENCE


def choose_backend(name: str, offered: Collection[str]) -> str:
    """Resolve "auto", and raise for a backend that is unknown, not offered by the model, or not working here.

    >>> choose_backend("reference", ("cpu", "reference"))
    'reference'
    """
    if name in ("auto", "cpu") and "cpu" in offered:
        check_threads()
    if name == "auto":
        return next(backend for backend in PREFERENCE if backend in offered and _automatic(backend))
    if name not in PREFERENCE:
        raise unknown_name("backend", name, (*PREFERENCE, "auto"))
    if name not in offered:
        raise BackendUnavailable(f'this model has no backend "{name}"; it runs on {", ".join(offered)}')
    reason = problem(name)
    if reason is not None:
        raise BackendUnavailable(f'backend "{name}" does not work here: {reason}')
    return name


def _automatic(name: str) -> bool:
    """Whether "auto" may select a backend: a GPU only if it is not a software adapter."""
    return adapters.has_hardware() if name == "gpu" else problem(name) is None


def problem(name: str) -> str | None:
    """Return the reason why a backend cannot run here, or None."""
    if name == "gpu":
        return adapters.problem()
    if name == "cpu" and importlib.util.find_spec("numba") is None:
        return "numba is not installed: pip install numba"
    return None


def available_backends() -> tuple[str, ...]:
    """Return the names of the backends that work on this machine, fastest first.

    >>> "reference" in available_backends()
    True
    """
    return tuple(name for name in PREFERENCE if problem(name) is None)


def describe_backends() -> list[tuple[str, bool, str]]:
    """Return the name, whether it works, and a description for each backend.

    >>> [name for name, works, detail in describe_backends()]
    ['gpu', 'cpu', 'reference']
    """
    return [(name, problem(name) is None, problem(name) or _describe(name)) for name in PREFERENCE]


def _describe(name: str) -> str:
    if name == "gpu":
        return str(adapters.chosen_adapter())
    if name == "cpu":
        import numba

        return f"Numba {numba.__version__}, {numba.get_num_threads()} threads"
    return "NumPy, the specification: slow and exact"
