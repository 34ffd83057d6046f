"""How much memory is left, so that what cannot fit is refused before it starts."""

from __future__ import annotations

import os
from pathlib import Path

from slopewash.errors import NotEnoughMemory

_GROUPS = {
    "": ("/sys/fs/cgroup", "memory.max", "memory.current", ("inactive_file", "active_file")),
    "memory": (
        "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
    ),
}  # fmt: skip
"""By the name of the controller, empty in version 2 of Linux's control groups: where groups are, their files of limit
and use, and what `memory.stat` calls files that were read or written: their memory is given back when it is needed."""
_OWN_GROUPS = Path("/proc/self/cgroup")


def available_memory() -> int | None:
    """Bytes that this process may still take; None where the system does not report it."""
    known = [amount for amount in (_of_machine(), _of_group(), _of_process()) if amount is not None]
    return max(0, min(known)) if known else None


def check_memory(what: str, needed: float, remedy: str, *, held: float = 0.0) -> None:
    """Refuse what needs more bytes than are available, besides those that this process holds of them already.

    >>> check_memory("a grid of 4 x 4 cells", 1000, "use a smaller one")
    >>> check_memory("a grid of 4 x 4 cells", 1e18, "use a smaller one")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    slopewash.errors.NotEnoughMemory: a grid of 4 x 4 cells needs about 931,322,575 GiB ...; use a smaller one
    """
    available = available_memory()
    if available is not None and needed - held > available:
        raise NotEnoughMemory(
            f"{what} needs about {gib(needed)} of memory, and {gib(available)} is available; {remedy}"
        )


def gib(amount: float) -> str:
    """Bytes in words.

    >>> gib(3.5 * 2**30), gib(5e7)
    ('3.5 GiB', '48 MiB')
    """
    size = amount / 2**30
    if size < 0.1:
        return f"{amount / 2**20:.0f} MiB"
    return f"{size:,.0f} GiB" if size >= 10 else f"{size:.1f} GiB"


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError, IndexError):
        return None


def _of_group() -> int | None:
    """What the limits of the process's own group, such as a container, and of those above it leave."""
    try:
        lines = _OWN_GROUPS.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return None
    left = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        for name in {"", "memory"} & set(controllers.split(",")):
            root, limit, used, cached = _GROUPS[name]
            own = Path(root, path.lstrip("/"))
            # Within a container, its own group may be the root, whatever the path says.
            left += [_left(group, limit, used, cached) for group in (own, *own.parents) if group.is_relative_to(root)]
    return min((amount for amount in left if amount is not None), default=None)


def _left(group: Path, limit: str, used: str, cached: tuple[str, ...]) -> int | None:
    """What the limit of one group leaves; None if it has none."""
    try:
        left = int((group / limit).read_text("ascii")) - int((group / used).read_text("ascii"))
        stat = (line.split() for line in (group / "memory.stat").read_text("ascii").splitlines())
        return left + sum(int(amount) for name, amount in stat if name in cached)
    except (OSError, ValueError):  # there is no such file, or it says "max"
        return None


def _of_process() -> int | None:
    """What `ulimit -v` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        return int(limit) - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
