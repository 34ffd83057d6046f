"""Files past the page cache: a state is written once, read once in the next round and removed.

Through the cache, every page of it is allocated, copied and written back: on a virtual machine 0.3 CPU-seconds for
150 MB, where this takes 0.03.
Where a file system has no direct access, files are read and written as usual.
"""

from __future__ import annotations

import mmap
import os
import threading
from pathlib import Path

BLOCK = 4096
"""Addresses, offsets and lengths of direct access are multiples of this."""
_DIRECT = getattr(os, "O_DIRECT", 0)
_AT_PLACE = hasattr(os, "preadv")
"""Which Windows has not."""
_local = threading.local()


def scratch(length: int) -> mmap.mmap:
    """Memory that begins on a page, this thread's own; the next call may return the same."""
    held: mmap.mmap | None = getattr(_local, "scratch", None)
    if held is None or len(held) < length:
        held = _local.scratch = mmap.mmap(-1, length)
    return held


def open_direct(path: Path, flags: int, *, aligned: bool) -> int:
    """Open a file past the cache if everything is aligned and the file system can, else as usual."""
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe in the place of a file must not hang
    if aligned and _DIRECT:
        try:
            return os.open(path, flags | _DIRECT, 0o644)
        except OSError as error:
            if error.errno not in (22, 95):  # no such access here
                raise
    return os.open(path, flags, 0o644)


def use_cache(handle: int) -> None:
    """Go on as usual: the end of a file is not aligned."""
    if _DIRECT:
        import fcntl

        fcntl.fcntl(handle, fcntl.F_SETFL, fcntl.fcntl(handle, fcntl.F_GETFL) & ~_DIRECT)


def write_all(handle: int, data: memoryview) -> None:
    """Write everything."""
    while data:
        data = data[os.write(handle, data) :]


def read_at(handle: int, begin: int, end: int) -> tuple[mmap.mmap, int]:
    """Read some bytes; returns memory that holds them, valid until the next call, and where they begin there."""
    first = begin - begin % BLOCK
    length = end - first + (-(end - first)) % BLOCK
    held = scratch(length)
    view = memoryview(held)[:length]
    done = 0
    while done < end - first:
        got = os.preadv(handle, [view[done:]], first + done) if _AT_PLACE else _read(handle, view[done:], first + done)
        if got == 0:
            raise OSError(5, "a file is shorter than it was")
        done += got
    return held, begin - first


def _read(handle: int, view: memoryview, place: int) -> int:
    os.lseek(handle, place, os.SEEK_SET)
    data = os.read(handle, len(view))
    view[: len(data)] = data
    return len(data)
