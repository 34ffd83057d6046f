"""An empty environment outside the repository, as a user has it, and commands run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

DROPPED = ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "SLOPEWASH_SKIP_PAGE")
"""Variables by which the repository, or another environment, would be seen."""

PATIENCE = 1200
"""Seconds for one command: compiling takes a quarter of a minute, and far longer on a machine that others use too."""


def pip() -> list[str]:
    """A pip of this machine: that of this environment, or of the Python that it was made from."""
    base = Path(sys.base_prefix, "bin", "python3")
    for python in (sys.executable, str(base)):
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
            return [python, "-m", "pip"]
    raise SystemExit("there is no pip to install with: sudo apt-get install python3-pip")


def clean_variables(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    return kept | {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "XDG_STATE_HOME": str(folder / "state"),  # the studio keeps its runs there
        "COLUMNS": "300",  # so that no sentence is broken
    }


class Environment:
    """A virtual environment in `folder/venv`, and `folder/work` as the working directory."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        self.bin = folder / "venv" / "bin"
        self.variables = clean_variables(folder)
        self._pip = pip()
        # Without its own pip: Debian's Python may lack ensurepip, and a pip per environment takes seconds.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)

    def pip(self, *words: str) -> None:
        words = ("--python", str(self.bin / "python"), *words)
        done = subprocess.run(
            [*self._pip, *words], cwd=self.work, env=self.variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout

    def install(self, package: str, *, lowest: bool = False) -> None:
        """Install a package with what it needs: the newest versions, or the lowest that it declares."""
        if not lowest:
            self.pip("install", "--quiet", package)
            return
        words = [
            str(Path(sys.executable).with_name("uv")),
            "pip",
            "install",
            "--quiet",
            "--resolution",
            "lowest-direct",
        ]
        words += ["--python", str(self.bin / "python"), package]
        done = subprocess.run(words, cwd=self.work, env=self.variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout

    def start(self, words: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command of the environment; its output is read through pipes."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [str(self.bin / words[0]), *words[1:]],
            cwd=self.work, env=self.variables, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True,
        )  # fmt: skip

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command to its end: its code, and what it printed to stdout and stderr."""
        with self.start(words) as started:
            try:
                out, errors = started.communicate(timeout=PATIENCE)
            except BaseException:
                started.kill()
                raise
        return started.returncode, out, errors
