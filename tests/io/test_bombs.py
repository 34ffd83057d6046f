from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BOMBS = Path(__file__).parent / "bombs.py"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("bombs")
    spec = importlib.util.spec_from_file_location("bombs", BOMBS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.write_bombs(folder)
    done = subprocess.run([sys.executable, BOMBS, folder], capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("loop.tif", "its directories form a loop"),
        ("pages.tif", "more than 256 directories"),
        ("deflate.tif", "a strip or tile decodes to more bytes than the image has for it"),
        ("lzma.tif", "a strip or tile decodes to more bytes than the image has for it"),
        ("packbits.tif", "a strip or tile decodes to more bytes than the image has for it"),
        ("zstd.tif", "is not a readable TIFF file"),
        ("layers.npz", "decodes to more than 4 MB; raise max_pixels"),
        ("header.npz", "it is damaged"),
        ("stride.glb", "byteStride is 0, less than the 12 bytes of a value"),
        ("keys.toml", "nested more than 16 deep"),
        ("wide.png", "it is truncated"),
        ("far.stl", "cell_size is 1 m, which gives 1e+05 x 1e+05 cells; use a larger one"),
    ],
)
def test_a_small_file_that_would_decode_to_gigabytes_is_refused_at_once(outcomes: Any, name: str, reason: str) -> None:
    outcome, seconds, peak = outcomes[name]
    assert reason in outcome
    assert seconds < 1.0
    assert peak < 300  # MB, all files up to this one
