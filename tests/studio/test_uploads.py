"""Height fields that a page sends."""

from __future__ import annotations

import io
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.studio import StudioServer, messages, uploads
from slopewash.studio.recipes import first_recipe

Page = Any


@pytest.mark.parametrize("suffix", [".png", ".tif", ".exr", ".npy", ".r16"])
def test_a_height_field_is_uploaded_and_run(page: Page, server: StudioServer, suffix: str, tmp_path: Any) -> None:
    terrain = sw.generate("hill", size=40, cell_size=5.0, relief=100.0)
    file = sw.write(terrain, tmp_path / f"own{suffix}")
    answer = page.post(f"/upload?name=own{suffix}&low=0&high=100&cell_size=5", file.read_bytes())
    if suffix in (".tif", ".exr", ".npy"):  # these hold metres
        answer = page.post(f"/upload?name=own{suffix}&cell_size=5", file.read_bytes())
    assert answer.status_code == 200, answer.text
    facts = answer.json()
    assert (facts["rows"], facts["columns"], facts["cell_size"]) == (40, 40, 5.0)
    page.do("start", upload=facts["upload"])
    state = page.until(lambda s: s["name"] == f"own{suffix}")
    assert state["generator"] is None
    np.testing.assert_allclose(
        server.session.submit(server.session.terrain).result(60)["elevation"], terrain["elevation"], atol=100 / 65535
    )
    page.steps(1)


def test_an_upload_is_not_lost_to_the_wish_for_another_size(page: Page, tmp_path: Path) -> None:
    file = sw.write(sw.generate("hill", size=40), tmp_path / "own.npy")
    key = page.post("/upload?name=own.npy", file.read_bytes()).json()["upload"]
    page.do("start", upload=key)
    for wish in ({"seed": 8}, {"cell_size": 3.0}):
        answer = page.ask("start", generator=wish)
        assert f"own.npy was not generated, so it has no {next(iter(wish))} to change" in answer["message"]
    page.do("start", size=64)
    state = page.until(lambda s: s["busy"] is None and s["rows"] == 64)
    assert state["cell_size"] == 40 / 64
    assert page.until(lambda s: s["busy"] is None)["name"] == "own.npy"
    page.do("start", generator={"kind": "dome", "size": 64})
    page.until(lambda s: s["name"] == "dome" and s["rows"] == 64)


def test_a_file_of_more_cells_than_can_be_shown_is_made_smaller(
    page: Page, server: StudioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "SIZES", (16, 64))
    heights = np.add.outer(np.arange(100.0), 2 * np.arange(160.0))
    data = io.BytesIO()
    np.save(data, heights.astype(np.float32))
    answer = page.post("/upload?name=wide.npy&cell_size=2", data.getvalue()).json()
    assert (answer["file_columns"], answer["file_rows"]) == (160, 100)
    page.do("start", upload=answer["upload"])
    state = page.until(lambda s: s["name"] == "wide.npy" and s["busy"] is None)
    assert (state["columns"], state["rows"], state["cell_size"]) == (64, 40, 5.0)
    assert "sw.read('wide.npy', cell_size=2.0).resampled(64)" in page.get("/script").text
    terrain = server.session.submit(server.session.terrain).result(60)
    assert terrain["elevation"].mean(dtype=float) == pytest.approx(heights.mean(), rel=1e-6)


def test_uploads_are_limited_by_what_they_unpack_to(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LARGEST_SIDE", 64)
    data = io.BytesIO()
    np.savez_compressed(data, elevation=np.zeros((40, 40)), water=np.zeros((40, 40)), erodibility=np.zeros((40, 40)))
    answer = page.post("/upload?name=layers.npz", data.getvalue())
    assert answer.status_code == 400
    assert "3 layers of 40 x 40 cells" in answer.json()["message"]
    answer = page.post("/upload?name=thin.r16&rows=1&columns=4000&low=0&high=1", b"\0" * 8000)
    assert "4000 x 1 cells" in answer.json()["message"]
    answer = page.post("/upload?name=thin.r16&rows=4&columns=60&low=0&high=1", b"\0" * 480)
    assert "shorter one" in answer.json()["message"]


def test_a_bad_upload_is_told_in_one_sentence_without_our_paths(page: Page) -> None:
    answer = page.post("/upload?name=own.png", b"this is no picture")
    assert answer.status_code == 400
    message = answer.json()["message"]
    assert message.startswith("own.png is not a readable PNG file")
    assert "/tmp" not in message
    small = io.BytesIO()
    np.save(small, np.zeros((4, 4), np.float32))
    assert "16 .. 2048" in page.post("/upload?name=a.npy", small.getvalue()).json()["message"]
    assert "unknown suffix" in page.post("/upload?name=../../a.exe", b"x").json()["message"]
    assert page.ask("start", upload="nothing")["type"] == "error"


def test_a_server_keeps_nothing_on_the_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: Page, server: StudioServer
) -> None:
    """So that one that is killed leaves nothing behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with StudioServer(first_recipe(size=32, backend="reference"), port=0):
        assert not list(tmp_path.glob("slopewash*"))
    heights = io.BytesIO()
    np.save(heights, np.zeros((32, 32), np.float32))
    for name in ("good.npy", "bad.png"):
        page.post(f"/upload?name={name}", heights.getvalue())
    assert page.get("/export/island.r16").status_code == 200
    end = time.monotonic() + 60
    while list(tmp_path.glob("slopewash*")):  # an export goes when its last byte is sent
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_pickle_is_never_opened(page: Page) -> None:
    trap = io.BytesIO()
    np.save(trap, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    answer = page.post("/upload?name=trap.npy", trap.getvalue())
    assert answer.status_code == 400


@pytest.mark.filterwarnings("ignore::slopewash.errors.GeoreferenceWarning")
def test_gdal_is_not_loaded_for_uploads_and_exports(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = sw.generate("hill", size=40, cell_size=5.0)
    place: dict[str, Any] = {"crs": "ESRI:102008", "transform": (5, 0, 0, 0, -5, 0)}
    (bands,) = sw.write_geotiff(ground.replace(water=1.0, **place), tmp_path / "own.tif", layers="all")
    laea = sw.write(ground.replace(**place), tmp_path / "laea.tif")
    monkeypatch.setattr("rasterio.open", lambda *_, **__: pytest.fail("GDAL is used"))
    answer = page.post("/upload?name=own.tif", bands.read_bytes())
    assert "which needs GDAL; it is switched off here" in answer.text
    facts = page.post("/upload?name=laea.tif", laea.read_bytes()).json()
    page.do("start", upload=facts["upload"])
    page.until(lambda s: s["name"] == "laea.tif")
    assert page.get("/export/out.tif").status_code == 200


def test_an_implausible_side_is_noticed_and_can_be_given(page: Page) -> None:
    buffer = io.BytesIO()
    np.save(buffer, sw.generate("hill", size=64, relief=900.0)["elevation"])
    answer = page.post("/upload?name=peak.npy", buffer.getvalue()).json()
    assert (answer["cell_size"], answer["plausible_extent"]) == (1.0, 4500.0)
    answer = page.post("/upload?name=peak.npy&extent=4500", buffer.getvalue()).json()
    assert (answer["cell_size"], answer["plausible_extent"]) == (4500 / 64, None)
    page.do("start", upload=answer["upload"])
    assert f"cell_size={4500 / 64}" in page.get("/script").text
    assert "extent is -1 m" in page.post("/upload?name=peak.npy&extent=-1", buffer.getvalue()).json()["message"]


def torn(value: float) -> bytes:
    """A file along whose border nothing is known, of which it says nothing."""
    heights = np.random.default_rng(1).normal(500.0, 90.0, (16, 20)).astype(np.float32)
    heights[0] = value
    data = io.BytesIO()
    np.save(data, heights)
    return data.getvalue()


def test_undeclared_nodata_is_questioned_and_left_out_on_request(page: Page, server: StudioServer) -> None:
    (suspect,) = page.post("/upload?name=dem.npy&cell_size=90", torn(-9999)).json()["suspects"]
    assert suspect["message"].startswith("20 cells of dem.npy are -9999, ")
    answer = page.post(f"/upload?name=dem.npy&cell_size=90&nodata={suspect['nodata']}", torn(-9999)).json()
    assert answer["suspects"] == []
    page.do("start", upload=answer["upload"])
    page.until(lambda s: s["name"] == "dem.npy" and s["busy"] is None)
    assert server.session.submit(server.session.terrain).result(60).nodata[0].all()
    assert "sw.read('dem.npy', cell_size=90.0, nodata=-9999.0)" in page.get("/script").text


@pytest.mark.parametrize(("value", "nodata"), [(np.nan, "nan"), (-3.4028235e38, "-3.4028235e+38")])
def test_the_page_is_asked_to_leave_out_what_is_no_height(page: Page, value: float, nodata: str) -> None:
    answer = page.post("/upload?name=dem.npy&cell_size=90", torn(value))
    assert (answer.status_code, answer.json()["wants"], answer.json()["nodata"]) == (200, "nodata", nodata)
    answer = page.post("/upload", torn(value), params={"name": "dem.npy", "cell_size": 90, "nodata": nodata}).json()
    page.do("start", upload=answer["upload"])
    page.until(lambda s: s["name"] == "dem.npy" and s["busy"] is None)
    written = f"float('{nodata}')" if nodata == "nan" else nodata
    assert f"nodata={written})" in page.get("/script").text
    assert f"nodata = {nodata}" in page.get("/recipe").text


def test_an_unusual_value_is_a_notice_on_the_page(page: Page) -> None:
    page.do("parameters", values={"rain_rate": 5.0, "time_step": 0.001})
    page.steps(1)
    assert [told["message"] for told in page.told] == [
        "rain_rate (K_r) is 5 cells/time, 100 times the highest typical value; typical values are 0 .. 0.05"
    ]
