"""Work that needs a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def apart(work: Callable[[], T]) -> T:
    """Do it in a thread of its own: while other tests have a browser open, their thread takes no other event loop."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result()
