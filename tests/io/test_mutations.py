"""Damaged files of every format: each is read, or refused in one sentence, at once and without a word on the terminal.

`make fuzz` tries more of them: FUZZ_FILES sets how many per format.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.io.formats import FORMATS as GRIDS
from slopewash.io.mesh_files import MESH_FORMATS

FILES = int(os.environ.get("FUZZ_FILES", "60"))
PROGRAM = Path(__file__).parent / "mutations.py"
ENDINGS = (
    ".asc", ".exr", ".npy", ".npz", ".png", ".r16", ".tif", ".glb", ".obj", ".ply", ".stl", "N46E007.hgt",
    "lzw.tif", "deflate.tif", "packbits.tif", "deflate.npz", "side.r16", ".toml", "recipe.toml", "cog.tif",
    "checkpoint", "result.zarr", "whole.slopewash", "parts.slopewash",
)  # fmt: skip
SAME = {".raw": ".r16", ".tiff": ".tif"}
"""Suffixes that are read as another."""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("mutations")
    here = {**os.environ, "PYTHONPATH": str(Path(sw.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, PROGRAM, folder, str(FILES)], capture_output=True, text=True, check=False, env=here
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return json.loads((folder / "outcomes.json").read_text())


def test_every_format_that_can_be_read_is_tried(outcomes: Any) -> None:
    assert set(outcomes) == set(ENDINGS)
    tried = {Path(f"a{ending}").suffix for ending in ENDINGS}
    assert {SAME.get(suffix, suffix) for suffix in (*GRIDS, *MESH_FORMATS)} <= tried


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_damaged_file_is_read_or_refused_in_one_sentence(outcomes: Any, ending: str) -> None:
    outcome = outcomes[ending]
    assert outcome["problems"] == []
    assert outcome["slowest"] < 10.0
    assert outcome["peak"] < 512  # MB, all files up to this format
