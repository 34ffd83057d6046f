"""What a worker process of a local cluster does first."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Ignore Ctrl-C, which a terminal sends to every process: whoever runs the tiles ends the round first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
