"""Ctrl-C and SIGTERM at random moments; `make signals` sends 50."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.signals import send_signals


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends signals the POSIX way")
@pytest.mark.parametrize(("backend", "moments"), [("cpu", 4), ("reference", 2)])
def test_a_command_answers_soon_and_leaves_whole_files(tmp_path: Path, backend: str, moments: int) -> None:
    for answer in send_signals(tmp_path, moments=moments, size=64, backends=[backend]):
        assert answer.stopped < 3.0, answer  # one second on a quiet machine
