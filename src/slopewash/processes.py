"""What every child process of this package is started with."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def python(*arguments: str) -> list[str]:
    """Command that runs Python; without -P it would look for packages in the working directory first."""
    return [sys.executable, "-P", *arguments]


def environment() -> dict[str, str]:
    """Variables for a process that imports the same slopewash as this one."""
    places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}


def stand_back(niceness: int) -> None:
    """Let all other processes go first, where the system can: 0 to 19."""
    if sys.platform != "win32":
        os.nice(niceness)
