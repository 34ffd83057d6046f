"""The command, run in this process or as a user would."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.remedies import unknown_options

from slopewash.cli import main

COMMAND = [sys.executable, "-m", "slopewash"]


@dataclass(frozen=True)
class Done:
    """Exit code and words of one command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def call(*words: object) -> Done:
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        unknown = unknown_options([str(word) for word in words], captured.err)
        assert not unknown, f"{unknown} in a message of {words[0]}: {captured.err}"
        return Done(code, captured.out, captured.err)

    return call


@pytest.fixture
def run_outside(tmp_path: Path) -> Run:
    """Run a command in its own process, in an empty folder."""

    def call(*words: object) -> Done:
        done = subprocess.run(
            [*COMMAND, *map(str, words)], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def raw(tmp_path: Path, run: Run) -> Path:
    """A small height field in a file."""
    file = tmp_path / "raw.exr"
    assert run("generate", "dome", "-o", file, "--size", 24, "--cell-size", 10).code == 0
    return file
