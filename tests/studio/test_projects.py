"""Project files: a run with its recipe, edits and view, opened to the same bits where it was saved and elsewhere."""

from __future__ import annotations

import dataclasses
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import slopewash as sw
from slopewash import seals
from slopewash.errors import CheckpointError, InvalidFile, InvalidParameter
from slopewash.studio import StudioServer, foreign, opening, projects
from slopewash.studio.keeping import Keeper
from slopewash.studio.projects import ACTIONS, FACTS, RECIPE, TERRAIN, Project, read_project, write_project
from slopewash.studio.protocol import OPENED
from slopewash.studio.recipes import first_recipe
from slopewash.studio.run import Run
from slopewash.untrusted import decode

Page = Any
Open = Callable[[Any], Page]
SECONDS = 60.0
VIEW = {
    "pose": {"eye": [1.5, 2.0, -3.25], "heading": 40.0, "pitch": -20.0, "walking": None},
    "plan": False,
    "plan_view": [0.0, 1.0, 0.84],
}
OTHER_SECRET = b"?" * 32


def now(server: StudioServer) -> dict[str, Any]:
    return now_of(server.session.find("terrain").result(SECONDS))


def now_of(terrain: sw.Terrain) -> dict[str, Any]:
    return {name: np.array(layer) for name, layer in terrain.items()}


def assert_same(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert first.keys() == second.keys()
    for name, layer in first.items():
        np.testing.assert_array_equal(layer, second[name], err_msg=name)


def work(page: Page) -> None:
    """Steps, parameters, strokes, undo, sources and settling."""
    page.steps(4)
    page.do("parameters", values={"rain_rate": 0.07, "dig_limit": "inf"})
    page.do("paint", tool="raise", points=[[120.3, 200.7]], radius=61.7, strength=7.3, stroke=1)
    page.do("paint", tool="raise", points=[[180.1, 220.9]], radius=61.7, strength=7.3, stroke=1)
    page.steps(3)
    page.do("sources", sources=[{"x": 100.0, "y": 120.5, "radius": 25.0, "rate": 0.4}])
    page.do("settle", steps=15, dry=False)
    page.do("paint", tool="soften", points=[[250.0, 250.0]], radius=80.0)
    page.do("paint", tool="harden", points=[[150.0, 250.0]], radius=80.0)
    page.do("undo")
    page.steps(2)


def save(page: Page) -> bytes:
    answer = page.get("/project")
    assert answer.status_code == 200, answer.text
    return answer.content


def post(page: Page, data: bytes, name: str = "mine.slopewash") -> Any:
    headers = {"Cookie": page.cookie, "Origin": page.address}
    return httpx.post(page.address + "/open", content=data, params={"name": name}, headers=headers, timeout=SECONDS)


def open_project(page: Page, data: bytes) -> dict[str, Any]:
    answer = post(page, data)
    assert answer.status_code == 200, answer.text
    OPENED.validate_json(answer.content)
    opened: dict[str, Any] = answer.json()
    page.do("open", upload=opened["upload"])
    return opened


@pytest.fixture
def other_user(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called, servers are those of somebody else."""
    return lambda: monkeypatch.setattr(seals, "secret", lambda: OTHER_SECRET)


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("apart", [False, True])
def test_a_project_opened_on_another_server_has_the_same_bits_and_view(
    elsewhere: bool, apart: bool, open_page: Open, other_user: Callable[[], None]
) -> None:
    if elsewhere and apart:
        pytest.skip("covered by the other three")
    recipe = first_recipe(preset="single_grid", size=40, extent=400.0, seed=9, backend="reference")
    with StudioServer(recipe, port=0) as server:
        page = open_page(server)
        work(page)
        page.do("look", view=VIEW)
        data, before = save(page), now(server)
        script = page.get("/script").text
        page.steps(3)
        after = now(server)
    if elsewhere:
        other_user()
    with StudioServer(first_recipe(size=16, backend="reference"), port=0, apart=apart) as server:
        page = open_page(server)
        opened = open_project(page, data)
        assert (opened["name"], opened["step"], opened["replayed"]) == ("dome", 9, elsewhere)
        assert "there is no project" in page.ask("open", upload=opened["upload"])["message"]  # it is released
        assert opened["view"] == VIEW
        state = page.until(lambda state: state["step"] == 9 and state["busy"] is None and state["view"] == VIEW)
        assert state["can_undo"]
        assert state["sources"] == [{"x": 100.0, "y": 120.5, "radius": 25.0, "rate": 0.4}]
        assert_same(now(server), before)
        assert page.get("/script").text == script
        page.steps(3)
        assert_same(now(server), after)


def test_a_project_from_a_file_holds_the_file(page: Page, open_page: Open, other_user: Callable[[], None]) -> None:
    heights = io.BytesIO()
    np.save(heights, np.add.outer(np.arange(40.0), np.arange(40.0)).astype(np.float32))
    key = page.post("/upload?name=hill.npy&cell_size=10", heights.getvalue()).json()["upload"]
    page.do("start", upload=key)
    page.steps(2)
    page.do("paint", tool="raise", points=[[200.0, 200.0]], radius=50.0)
    data, before = save(page), page.get("/export/a.npy").content
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert TERRAIN in archive.namelist()
    other_user()
    with StudioServer(first_recipe(size=16, backend="reference"), port=0) as server:
        page = open_page(server)
        opened = open_project(page, data)
        assert opened["name"] == "hill.npy"
        assert page.get("/export/a.npy").content == before


def test_its_recipe_runs_and_its_mask_comes_along(tmp_path: Path, open_page: Open, other_user: Any) -> None:
    mask = np.zeros((48, 48), np.float32)
    mask[:, 24:] = 1.0
    np.save(tmp_path / "mask.npy", mask)
    recipe = sw.Recipe(
        source=sw.Generated(kind="dome", size=48, extent=480.0, seed=2),
        layers={"mask": sw.LayerFile(path=tmp_path / "mask.npy")},
        stages=(sw.Stage.of("single_grid", steps=4, settle=2),),
        backend="reference",
    )
    expected = {name: np.array(layer) for name, layer in recipe.run().terrain.items()}
    with StudioServer(recipe, port=0) as server:
        page = open_page(server)
        page.steps(3)
        (tmp_path / "mask.npy").unlink()  # it was read when the run began
        data = save(page)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(tmp_path / "unpacked", [RECIPE, TERRAIN])
    unpacked = sw.Recipe.read(tmp_path / "unpacked" / RECIPE).run().terrain
    assert_same({name: np.array(layer) for name, layer in unpacked.items()}, expected)
    other_user()
    with StudioServer(first_recipe(size=16, backend="reference"), port=0) as server:
        page = open_page(server)
        open_project(page, data)
        page.steps(3)
        assert_same(now(server), expected)


def test_a_project_of_levels_goes_on_in_its_level(open_page: Open, other_user: Callable[[], None]) -> None:
    recipe = sw.recipe("landscape", size=96, seed=4, steps=12, gullies=0.0, backend="reference")
    with StudioServer(recipe, port=0) as server:
        page = open_page(server)
        page.steps(5)
        page.do("paint", tool="lower", points=[[2000.0, 2000.0]], radius=500.0)
        page.steps(60)
        data, stage, before = save(page), page.state["stage"], now(server)
    for replayed in (False, True):
        if replayed:
            other_user()
        with StudioServer(first_recipe(size=16, backend="reference"), port=0) as server:
            page = open_page(server)
            assert open_project(page, data)["replayed"] is replayed
            assert page.until(lambda state: state["step"] == 65 and state["busy"] is None)["stage"] == stage
            assert_same(now(server), before)


def changed(data: bytes, **parts: bytes | None) -> bytes:
    """A project with other parts, which its seal no longer fits."""
    names = {"facts": FACTS, "recipe": RECIPE, "actions": ACTIONS, "terrain": TERRAIN}
    new = {names[key]: value for key, value in parts.items()}
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in {*old.namelist(), *new}:
            content = new.get(name, old.read(name) if name in old.namelist() else b"")
            if content is not None:
                archive.writestr(name, content)
        archive.comment = old.comment
    return made.getvalue()


RECIPE_TEXT = b'[source]\ngenerator = "dome"\nsize = %b\n[[stages]]\npreset = "single_grid"\nsteps = 1\n'

FILE_TEXT = b'[source]\nfile = "%b"\n[[stages]]\npreset = "single_grid"\nsteps = 1\n'

SOURCES_LINE = (json.dumps(["sources", [{"x": 1.0, "y": 1.0, "radius": 1.0, "rate": 1.0}] * 64, False]) + "\n").encode()


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"facts": b'{"format": 1}'}, "is not a project"),
        ({"facts": b'{"format": 2}'}, "is not of format 1"),
        ({"facts": None}, "it has no project.json"),
        ({"actions": None}, "can be opened only where it was saved"),
        ({"actions": b'["run", -1]'}, "line 1"),
        ({"actions": b'["run", 1]\n["eval", "1"]'}, "line 2"),
        ({"actions": b"[" * 100_000}, "line 1"),
        ({"actions": b'["paint", {"tool": "raise", "points": [[NaN, 1]], "radius": 1, "strength": 1, "falloff": 0}, '
          b'false]'}, "line 1"),
        ({"actions": b" " * ((1 << 26) + 1)}, "has more than 67108864 bytes"),
        ({"actions": b'["undo"]\n' * 50_001}, "has 50001 lines; the limit is 50000"),
        ({"actions": SOURCES_LINE * 3_126}, "has more than 200000 dabs"),
        ({"recipe": b"="}, "recipe.toml"),
        ({"recipe": RECIPE_TEXT % b"9000"}, "has 9000 cells per side"),
        (
            {"recipe": RECIPE_TEXT % b"64" + b'[layers]\nmask = "/etc/passwd"\n'},
            'it reads "passwd", which is not in the project',
        ),
        ({"recipe": FILE_TEXT % b"/etc/passwd.npy"}, "passwd.npy"),
        ({"recipe": FILE_TEXT % b"terrain.npz"}, "terrain.npz does not exist"),
        ({"recipe": FILE_TEXT % b"terrain.npz", "terrain": b"PK nothing"}, "terrain.npz"),
    ],
)  # fmt: skip
def test_damaged_and_hostile_projects_are_refused_in_one_sentence(
    sample: bytes, tmp_path: Path, parts: dict[str, bytes | None], says: str
) -> None:
    file = tmp_path / "a.slopewash"
    file.write_bytes(changed(sample, **parts))
    (tmp_path / "checked").mkdir()
    with pytest.raises(InvalidFile) as error:
        foreign.check(file, tmp_path / "checked")
    sentence = str(error.value).replace(str(file), "mine.slopewash")
    assert says in sentence
    assert str(tmp_path) not in sentence
    assert "\n" not in sentence


def test_a_part_that_does_not_inflate_is_refused_as_damaged(sample: bytes, tmp_path: Path) -> None:
    whole = changed(sample, actions=b'["undo"]\n' * 100)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        at = archive.getinfo(ACTIONS).header_offset + 30 + len(ACTIONS)
    file = tmp_path / "a.slopewash"
    file.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])  # a block of deflate that is of no kind
    with pytest.raises(InvalidFile, match=r"^mine\.slopewash is not a project of the studio, or it is damaged$"):
        read_project(file, "mine.slopewash", OTHER_SECRET)


def test_only_what_the_studio_packs_with_is_unpacked(sample: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.slopewash"
    with zipfile.ZipFile(io.BytesIO(sample)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        for name in old.namelist():
            archive.writestr(name, old.read(name))
    with pytest.raises(InvalidFile, match="is compressed as the studio does not"):
        foreign.check(file, tmp_path)


def test_a_recipe_that_reads_a_file_of_this_machine_is_refused(sample: bytes, tmp_path: Path) -> None:
    np.save(tmp_path / "private.npy", np.zeros((64, 64), np.float32))
    named = f'[layers]\nmask = "{tmp_path / "private.npy"}"\n'
    file = tmp_path / "a.slopewash"
    file.write_bytes(changed(sample, recipe=RECIPE_TEXT % b"64" + named.encode()))
    with pytest.raises(InvalidFile, match=r'^mine\.slopewash: .* reads "private\.npy", which is not in the project'):
        read_project(file, "mine.slopewash", OTHER_SECRET)


@pytest.fixture(scope="module")
def sample() -> bytes:
    """A small project."""
    run = Run(first_recipe(preset="single_grid", size=16, extent=160.0, backend="reference"))
    run.advance(1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a.slopewash")
        write_project(run.saved(), file, b"!" * 32)
        return file.read_bytes()


def test_the_route_refuses_what_is_no_project_and_what_is_too_large(page: Page, sample: bytes) -> None:
    assert "unknown suffix" in post(page, b"", "a.png").json()["message"]
    assert "is not a project" in post(page, b"nothing of this kind").json()["message"]
    assert post(page, b"x" * (17 * 2**20)).status_code == 413
    assert "there is no project" in page.ask("open", upload="0123")["message"]
    assert post(page, sample).json()["replayed"] is True


def test_files_are_checked_by_this_slopewash_wherever_the_studio_was_started(
    sample: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    (here / "slopewash").mkdir(parents=True)
    (here / "slopewash" / "__init__.py").write_text("raise SystemExit('imported from the working directory')")
    monkeypatch.chdir(here)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    file = tmp_path / "a.slopewash"
    file.write_bytes(sample)
    assert read_project(file, "a", OTHER_SECRET).actions == (["run", 1],)
    np.save(tmp_path / "a.npy", np.zeros((16, 16), np.float32))
    assert decode(tmp_path / "a.npy", {}, largest_side=64).terrain.shape == (16, 16)


def test_a_checkpoint_that_was_changed_is_not_used(sample: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.slopewash"
    file.write_bytes(sample)
    assert read_project(file, "a", b"!" * 32).checkpoint is not None
    data = bytearray(sample)
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    try:
        opened = read_project(file, "a", b"!" * 32)
    except InvalidFile:
        return
    assert opened.checkpoint is None


def test_opening_keeps_the_run_before_and_a_pause_cancels_it(page: Page, sample: bytes) -> None:
    page.steps(2)
    long = changed(sample, actions=b'["run", 1000000]')
    key = post(page, long).json()["upload"]
    page.send("open", upload=key, id="open")
    page.until(lambda state: "repeating" in (state["busy"] or "") and state["step"] > 0)
    page.send("pause")
    answer = page.read("error")
    assert answer["id"] == "open"
    state = page.until(lambda state: state["busy"] is None)
    assert 0 < state["step"] < 1000000
    assert state["left"]["step"] == 2
    assert "opening dome was cancelled at step" in answer["message"]


@pytest.mark.parametrize("apart", [False, True])
def test_ones_own_project_with_a_checkpoint_of_another_version_is_repeated(
    apart: bool, sample: bytes, tmp_path: Path, open_page: Open
) -> None:
    project = read_own(sample, tmp_path)
    assert project.checkpoint is not None
    facts, arrays = project.checkpoint
    older = dataclasses.replace(project, checkpoint=({**facts, "model": {"name": "unknown"}}, arrays))
    expected = now_of(Run.from_checkpoint(facts, arrays, "", print).terrain())
    server = StudioServer(first_recipe(size=16, backend="reference"), port=0, apart=apart)
    with server:
        page = open_page(server)
        page.do("open", upload=server._uploads.keep_project(older))
        assert_same(now(server), expected)
        while not any("Repeating the 1 steps of dome" in told["message"] for told in page.told):
            page.read()


def test_ones_own_project_of_another_format_is_refused(sample: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.slopewash"
    facts = {"format": 2, "slopewash": "9", "name": "dome", "step": 1, "view": None}
    file.write_bytes(changed(sample, facts=json.dumps(facts).encode()))
    seal = projects._seal(file, b"!" * 32).encode()
    file.write_bytes(file.read_bytes()[: -len(seal)] + seal)
    with pytest.raises(InvalidFile, match="is not of format 1; open it with the version that saved it"):
        read_project(file, "mine.slopewash", b"!" * 32)


def read_own(data: bytes, folder: Path) -> Project:
    file = folder / "own.slopewash"
    file.write_bytes(data)
    return read_project(file, "own", b"!" * 32)


def test_the_view_is_kept_with_the_run_on_disk(tmp_path: Path, open_page: Open) -> None:
    recipe = first_recipe(preset="single_grid", size=16, backend="reference")
    for resumed in (False, True):
        keeper = Keeper(tmp_path / "kept")
        with StudioServer(None if resumed else recipe, port=0, keeper=keeper) as server:
            page = open_page(server)
            if resumed:
                assert page.until(lambda state: True)["view"] == VIEW
                page.do("start", generator={"seed": 8})
                assert page.until(lambda state: state["generator"]["seed"] == 8)["view"] is None
            else:
                page.steps(1)
                page.do("look", view=VIEW)
            page.close()
        keeper.close()


@pytest.mark.parametrize("view", [{"pose": 1}, {**VIEW, "plan": "x"}, {**VIEW, "more": 1}])
def test_views_that_are_none_are_refused(page: Page, view: Any) -> None:
    assert page.ask("look", view=json.loads(json.dumps(view)))["type"] == "error"


def test_a_new_run_offers_the_one_that_was_kept(tmp_path: Path, open_page: Open) -> None:
    recipe = first_recipe(preset="single_grid", size=16, extent=160.0, seed=3, backend="reference")
    for new in (False, True):
        keeper = Keeper(tmp_path / "kept")
        with StudioServer(recipe.replace(seed=5) if new else recipe, port=0, keeper=keeper) as server:
            page = open_page(server)
            if not new:
                page.steps(3)
                page.do("look", view=VIEW)
                before = now(server)
            else:
                state = page.until(lambda state: True)
                assert (state["step"], state["left"]["step"], state["left"]["name"]) == (0, 3, "dome")
                page.do("bring_back")
                assert page.until(lambda state: state["step"] == 3)["view"] == VIEW
                assert_same(now(server), before)
            page.close()
        keeper.close()


@pytest.mark.parametrize("apart", [False, True])
def test_a_project_of_the_command_line_that_cannot_be_opened_is_reported(
    apart: bool, open_page: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    server = StudioServer(first_recipe(size=16, backend="reference"), port=0, apart=apart)
    answer = server.open_project(Project("hill", 3, None, checkpoint=({"recipe": {}}, {})))
    answer.add_done_callback(opening._print_failure)
    with server:
        assert isinstance(answer.exception(SECONDS), CheckpointError)
        page = open_page(server)
        while not any("The project was not opened: " in told["message"] for told in page.told):
            page.read()
    assert "note: the project was not opened: " in capsys.readouterr().err


def test_the_command_line_opens_a_project(sample: bytes, tmp_path: Path, open_page: Open) -> None:
    file = tmp_path / "mine.slopewash"
    file.write_bytes(sample)
    project = opening._read_project(file, alone=True)
    assert project.actions == (["run", 1],)  # of another user
    with pytest.raises(InvalidParameter, match="takes no other options"):
        opening._read_project(file, alone=False)
    with pytest.raises(InvalidFile, match=r"nothing\.slopewash does not exist"):
        opening._read_project(tmp_path / "nothing.slopewash", alone=True)
    server = StudioServer(first_recipe(size=16, backend="reference"), port=0, apart=True)
    server.open_project(project)
    with server:
        state = open_page(server).until(lambda state: state["preset"] == "single_grid" and state["step"] == 1)
        assert state["generator"]["extent"] == 160.0
