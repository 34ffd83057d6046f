"""kill -9 at any moment costs the steps since the last checkpoint, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.kill_and_resume import kill_and_resume


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills the POSIX way")
@pytest.mark.parametrize("backend", ["cpu", "reference", "gpu"])
def test_a_run_killed_at_random_moments_ends_as_if_undisturbed(tmp_path: Path, backend: str) -> None:
    size = {"cpu": 96, "reference": 32, "gpu": 48}[backend]
    result = kill_and_resume(tmp_path, kills=5, seed=7, backend=backend, size=size)
    assert result.killed == result.undisturbed
    assert result.steps == sorted(result.steps)
    assert result.steps[-1] > 0
    assert result.unfinished > 0
