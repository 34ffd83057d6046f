"""Every option of `erode` changes a run on tiles, or is refused there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.cli import erode
from slopewash.errors import InvalidParameter

Run = Callable[..., Any]
REFUSED: dict[str, list[str]] = {
    "picture": ["--picture", "v.png"], "checkpoint": ["--checkpoint", "ck"], "every": ["--every", "3"],
    "record": ["--record", "rec"], "record_every": ["--record-every", "3"], "cog": ["--cog"],
    "out_height_range": ["--out-height-range", "0..100"], "emitter": ["--emitter", "90,80,60,40,2,180"],
    "adapter": ["--adapter", "llvmpipe"], "threads": ["--threads", "1"],
}  # fmt: skip
HEEDED: dict[str, list[str]] = {
    "layers": ["--layers", "wear"], "preset": ["--preset", "gentle"], "model": ["--model", "virtual_pipes"],
    "steps": ["--steps", "3"], "strength": ["--strength", "0.5"], "settings": ["--set", "rain_rate=0.02"],
    "layer": ["--layer", "rainfall=2"], "maps": ["--map", "rain_rate=wear"], "backend": ["--backend", "reference"],
    "edges": ["--edges", "closed"], "seed": ["--seed", "3"], "strata": ["--strata", "bands"], "settle": ["--no-settle"],
    "dry": ["--dry"], "gullies": ["--gullies", "0.5"], "reading": ["--cell-size", "3"], "allow_8bit": ["--allow-8bit"],
    "force": ["--force"], "scheduler": ["--scheduler", "tcp://host:1"], "workers": ["--workers", "1"],
    "memory": ["--memory", "6GB"], "tiles": ["--tiles", "32"], "out": ["-o", "other.zarr"], "source": [],
}  # fmt: skip
BESIDES = {"json": "tests/cli/test_alike.py"}


@pytest.fixture
def call(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What `erode_tiled` is called with."""
    monkeypatch.chdir(tmp_path)
    seen: list[Any] = []

    def fake(*given: Any, **named: Any) -> None:
        seen.append((given, sorted(named.items(), key=lambda item: item[0])))
        raise InvalidParameter("the run would begin")

    monkeypatch.setattr(sw, "erode_tiled", fake)
    for name in ("raw.npz", "other.npz"):
        sw.write(sw.generate("dome", size=16, cell_size=20.0), name)

    def called(*words: str, source: str = "raw.npz") -> str:
        assert "the run would begin" in run("erode", source, *words).err
        return repr(seen.pop())

    return called


def test_every_option_of_erode_is_looked_at_here() -> None:
    options = inspect.signature(erode.command).parameters.keys()
    assert REFUSED.keys() | HEEDED.keys() | BESIDES.keys() == options
    assert len(REFUSED) + len(HEEDED) + len(BESIDES) == len(options)


@pytest.mark.parametrize("option", REFUSED)
def test_an_option_without_effect_is_refused(option: str, tmp_path: Path, run: Run) -> None:
    sw.write(sw.generate("dome", size=16, cell_size=20.0), tmp_path / "raw.npz")
    out = tmp_path / "out.tif"
    done = run("erode", tmp_path / "raw.npz", "-o", out, "--tiles", "16", "--preset", "gentle", *REFUSED[option])
    assert done.code == 2
    assert f"slopewash: --{option.replace('_', '-')}" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw.npz"]


@pytest.mark.parametrize("option", HEEDED)
def test_an_option_reaches_the_run(option: str, call: Callable[..., str]) -> None:
    start = [] if option in ("preset", "model") else ["--preset", "landscape"]
    plain = call("-o", "out.zarr", "--tiles", "16", *start)
    if option == "source":
        assert call("-o", "out.zarr", "--tiles", "16", *start, source="other.npz") != plain
        return
    words = {"out": ["-o", "out.zarr"], "tiles": ["--tiles", "16"]}
    words.pop(option, None)
    assert call(*(word for pair in words.values() for word in pair), *start, *HEEDED[option]) != plain
