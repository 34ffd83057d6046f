"""kill -9 at any moment of writing a checkpoint leaves one to go on from, to the same bits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.damage import same
from tests.simulation.test_damaged_checkpoints import FUZZ, begun, go_on

WRITE = """
import os, signal, stat, sys
import slopewash as sw

last, count = int(sys.argv[2]), 0


def counted(usual, half):
    def call(*arguments, **keys):
        global count
        count += 1
        if count == last:
            if half and stat.S_ISREG(os.fstat(arguments[0]).st_mode):  # what is not flushed yet may be there in part
                os.ftruncate(arguments[0], os.fstat(arguments[0]).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        return usual(*arguments, **keys)
    return call


simulation = sw.Simulation.resume(sys.argv[1])
simulation.run(1)
for name in ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir"):
    setattr(os, name, counted(getattr(os, name), name == "fsync"))
simulation.checkpoint(sys.argv[1])
"""


@pytest.mark.skipif(os.name != "posix", reason="kills the POSIX way")
def test_killed_while_it_writes_a_checkpoint_a_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    begun("steepest_talus", tmp_path / "begun")
    wanted = go_on(tmp_path / "begun").values
    for last in range(1, 200) if FUZZ > 100 else (2, 12, 20):
        folder = tmp_path / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "begun", folder)
        words = [sys.executable, "-c", WRITE, str(folder), str(last)]
        process = subprocess.run(words, capture_output=True, text=True, check=False)
        assert process.returncode in (0, -9), process.stderr
        found = go_on(folder).values
        assert found.keys() == wanted.keys()
        assert all(same(found[name], value) for name, value in wanted.items()), last
        if process.returncode == 0:
            break
