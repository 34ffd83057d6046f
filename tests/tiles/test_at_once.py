"""Two resumes of one run at once, and kill -9 while a manifest is written: one goes on, and the bits are the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tiles.test_damage import FUZZ, RUN, layers_of, recipe, stopped

import slopewash as sw
from slopewash.errors import CheckpointError
from slopewash.tiles.executors import InProcess
from slopewash.tiles.run import TiledRun
from slopewash.tiles.store import Store

KILLED = """
import os, signal, stat, sys
import slopewash as sw
from slopewash.tiles.run import TiledRun

out, last = sys.argv[1], int(sys.argv[2])
commit, count = TiledRun._commit, 0


def counted(usual, *, half=False):
    def call(*arguments, **keys):
        global count
        count += 1
        if count == last:
            if half and stat.S_ISREG(os.fstat(arguments[0]).st_mode):
                os.ftruncate(arguments[0], os.fstat(arguments[0]).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        return usual(*arguments, **keys)
    return call


def dying(run):
    sync, replace, unlink = os.fsync, os.replace, os.unlink
    os.fsync, os.replace, os.unlink = counted(sync, half=True), counted(replace), counted(unlink)
    commit(run)
    print(count)
    os._exit(0)


TiledRun._commit = dying
sw.resume_tiled(out, workers=0)
"""


def run_under_way(out: Path, manifests: int = 4) -> Path:
    with stopped(manifests):
        sw.erode_tiled(None, recipe(), out=out, **RUN)
    return out


def test_a_resume_that_read_what_another_has_replaced_since_is_refused(tmp_path: Path) -> None:
    sw.erode_tiled(None, recipe(), out=tmp_path / "whole.zarr", **RUN)
    out = run_under_way(tmp_path / "out.zarr")
    late = TiledRun.resumed(Store(str(out)))
    with stopped(1):
        sw.resume_tiled(out, workers=0)
    with pytest.raises(CheckpointError, match=r"out\.zarr is in use by another run"):
        late.run(InProcess())
    late = TiledRun.resumed(Store(str(out)))
    sw.resume_tiled(out, workers=0)
    with pytest.raises(CheckpointError, match=r"out\.zarr is in use by another run"):
        late.run(InProcess())
    found, wanted = layers_of(out), layers_of(tmp_path / "whole.zarr")
    assert all(found[name].tobytes() == layer.tobytes() for name, layer in wanted.items())


@pytest.mark.skipif(os.name != "posix", reason="kills the POSIX way")
def test_killed_while_it_writes_a_manifest_it_ends_with_the_same_bits(tmp_path: Path) -> None:
    sw.erode_tiled(None, recipe(), out=tmp_path / "whole.zarr", **RUN)
    wanted = layers_of(tmp_path / "whole.zarr")
    begun = run_under_way(tmp_path / "begun.zarr")
    for last in range(1, 40) if FUZZ > 100 else (4, 5):  # the manifest itself, half written, and before it is renamed
        out = tmp_path / "out.zarr"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(begun, out)
        words = [sys.executable, "-c", KILLED, str(out), str(last)]
        process = subprocess.run(words, capture_output=True, text=True, check=False)
        if process.returncode == 0:
            assert int(process.stdout) < last  # there are no more moments
            break
        assert process.returncode == -9, process.stderr
        sw.resume_tiled(out, workers=0)
        found = layers_of(out)
        assert all(found[name].tobytes() == layer.tobytes() for name, layer in wanted.items()), last
        assert not list(out.rglob("*.partial"))
