"""GeoTIFFs of runs on tiles: their drafts, what is written where, and that nobody else's files are touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_array_equal
from tests.tiles.conftest import rough
from tests.tiles.test_robustness import after_manifest, stop_after

import slopewash as sw
from slopewash import seals
from slopewash.cli import main
from slopewash.drafts import draft_folder

pytest.importorskip("rasterio")
MODEL, STEPS = sw.VirtualPipes(), 8


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def erode(out: str, **given: Any) -> sw.TiledResult:
    return sw.erode_tiled(rough(), MODEL, steps=STEPS, tile=40, out=out, iterations=2, workers=0, **given)


def interrupt(monkeypatch: pytest.MonkeyPatch, out: str, **given: Any) -> Path:
    """Begin a run, and let it end after its third manifest; returns its store."""
    with monkeypatch.context() as patched:
        stop_after(patched, 3, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            erode(out, **given)
    return draft_folder(Path(out)) if out.endswith(".tif") else Path(out)


def names(folder: Path = Path()) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_geotiff_is_made_in_a_hidden_store_that_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert erode("whole.tif").url == "whole.tif"
    assert names() == {"whole.tif"}
    store = interrupt(monkeypatch, "out.tif")
    assert names() == {"whole.tif", store.name}
    assert store.name.startswith(".out.tif.")
    with pytest.raises(sw.CheckpointError, match="continue it with slopewash resume"):
        erode("out.tif")
    assert sw.resume_tiled(store, workers=0).url == "out.tif"
    assert names() == {"whole.tif", "out.tif"}
    whole, resumed = (sw.read(name, cell_size=2.0) for name in ("whole.tif", "out.tif"))
    for name in whole:
        assert_array_equal(whole[name], resumed[name])


def test_a_store_called_as_a_geotiff_stays_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name says nothing of what was asked for, and `dem.tif` is the user's."""
    Path("dem.tif").write_bytes(b"a source")
    store = interrupt(monkeypatch, "dem.tif.zarr")
    assert main(["resume", str(store), "--workers", "0"]) == 0
    assert Path("dem.tif").read_bytes() == b"a source"
    assert sw.read_tiled("dem.tif.zarr").shape == rough().shape
    assert names() == {"dem.tif", "dem.tif.zarr"}


def test_a_resume_replaces_only_what_may_be_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = interrupt(monkeypatch, "out.tif")
    Path("out.tif").write_bytes(b"of somebody")
    assert main(["resume", str(store), "--workers", "0"]) == 2
    assert "out.tif is there, which the run did not write; move it, or replace it with --force" in (
        capsys.readouterr().err
    )
    assert Path("out.tif").read_bytes() == b"of somebody"
    assert main(["resume", str(store), "--workers", "0", "--force"]) == 0
    assert names() == {"out.tif"}
    store = interrupt(monkeypatch, "out.tif", force=True)
    assert main(["resume", str(store), "--workers", "0"]) == 0
    assert names() == {"out.tif"}


def test_what_appears_while_a_resumed_run_goes_on_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    store = interrupt(monkeypatch, "out.tif")

    def appears() -> None:
        Path("out.tif").write_bytes(b"of somebody")

    after_manifest(monkeypatch, 1, appears)
    with pytest.raises(sw.InvalidFile, match=r"out\.tif is there.*the result is in \.out\.tif\..*convert"):
        sw.resume_tiled(store, workers=0)
    assert Path("out.tif").read_bytes() == b"of somebody"
    with pytest.raises(sw.InvalidParameter, match=r"holds a result that did not become out\.tif"):
        erode("out.tif")
    assert main(["convert", str(store), "-o", "other.tif"]) == 0


def test_the_result_of_what_another_user_began_stays_in_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    store = interrupt(monkeypatch, "out.tif", force=True)
    Path("out.tif").write_bytes(b"mine")
    monkeypatch.setattr(seals, "secret", lambda: bytes(32))
    assert main(["resume", str(store), "--workers", "0"]) == 2
    assert main(["resume", str(store), "--trust", "--workers", "0"]) == 0
    assert Path("out.tif").read_bytes() == b"mine"
    assert sw.read_tiled(store).shape == rough().shape


def test_a_store_that_was_renamed_keeps_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(monkeypatch, "out.tif").rename("kept.zarr")
    assert sw.resume_tiled("kept.zarr", workers=0).url == "kept.zarr"
    assert names() == {"kept.zarr"}


def test_files_beside_a_geotiff_and_in_its_draft_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    erode("dem.tif.zarr")
    Path("dem.tif.zarr/notes.txt").write_text("mine")
    erode("dem.tif")
    assert Path("dem.tif.zarr/notes.txt").read_text() == "mine"
    assert sw.read_tiled("dem.tif.zarr").shape == rough().shape
    store = interrupt(monkeypatch, "out.tif")
    (store / "notes.txt").write_text("mine")
    sw.resume_tiled(store, workers=0)
    assert Path("out.tif").is_file()
    assert names(store) == {"notes.txt"}


@pytest.mark.parametrize("out", ["out.zarr", "out.tif"])
@pytest.mark.parametrize("held", ["state/elevation/zarr.json", "zarr.json", "state/source/elevation", "notes.txt"])
def test_a_folder_that_no_run_of_the_user_began_is_refused(out: str, held: str) -> None:
    """Another program's group may have an array of any name, `state` too."""
    store = draft_folder(Path(out)) if out.endswith(".tif") else Path(out)
    file = store / held
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    with pytest.raises(sw.InvalidParameter, match="holds no run on tiles of yours; choose another folder"):
        erode(out)
    assert file.read_text() == "{}"


def test_what_a_killed_run_left_before_anything_counted_is_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sw.tiles.run.TiledRun, "_forget", lambda *_, **__: None)
        patched.setattr(sw.tiles.run, "fill", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            erode("out.zarr")
    assert names() == {"out.zarr"}
    assert erode("out.zarr").shape == rough().shape


@pytest.mark.parametrize("name", ["../out.tif", "/tmp/out.tif", "out.exr", "a/out.tif", ""])
def test_a_name_that_no_run_would_note_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.tiles.conftest import changed

    store = interrupt(monkeypatch, "out.tif")
    with changed(store) as (_, facts):
        facts["geotiff"] = {"name": name, "replace": True}
    with pytest.raises(sw.CheckpointError, match="is not what slopewash wrote"):
        sw.resume_tiled(store, workers=0)


def test_a_geotiff_at_a_url_is_refused_before_anything_is_done() -> None:
    with pytest.raises(sw.InvalidParameter, match=r"a GeoTIFF must be on this machine"):
        erode("memory://bucket/out.tif")
    with pytest.raises(sw.InvalidFile, match="cannot write"):
        erode("missing/out.tif")
