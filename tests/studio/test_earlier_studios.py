"""What a studio up to 0.2, or another user, has kept: nothing of it is lost, and nothing is continued unasked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.crafted_files.mutations import mutations
from tests.earlier import unsealed
from tests.studio.conftest import SECONDS
from tests.studio.test_finish import until
from tests.studio.test_finish_kept import Interruption, begun, on_one_grid, task_in
from tests.studio.test_keeping import assert_same, now, saved_step, serving, wait_for

import slopewash as sw
from slopewash import seals
from slopewash.cli import main
from slopewash.errors import CheckpointError, ForeignCheckpoint
from slopewash.simulation import checkpoint_files
from slopewash.studio import StudioServer, finish_files, keeping, opening
from slopewash.studio.finish_files import FOLDER, PLAN_FOLDER, RUN_FOLDER, write_plan
from slopewash.studio.finishing import QUESTION
from slopewash.studio.keeping import Keeper

Page = Any
Open = Callable[[Any], Page]
SAID = r"the last run is left alone: .*step-000005 does not carry your seal: an older slopewash, .*; if you trust .*"


def recipe(**options: Any) -> sw.Recipe:
    return sw.recipe("jako2011", size=16, steps=5, backend="reference", **options)


def all_of(folder: Path) -> dict[str, bytes]:
    """Files of a folder and what is in them, but for locks."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.fixture
def kept(tmp_path: Path, open_page: Open) -> tuple[Path, dict[str, Any]]:
    """A run that a studio kept, with a stroke and keyframes, as it was before seals; and its layers."""
    folder = tmp_path / "kept"
    with serving(folder, recipe()) as server:
        page = open_page(server)
        page.steps(5)
        page.do("paint", tool="raise", points=[[40.0, 40.0]], radius=30.0, strength=3.0)
        layers = now(server)
    return unsealed(folder), layers


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Takes the place of serving: step of the run, and whether one from before can be restored."""
    seen: list[tuple[int, bool]] = []

    def run(server: StudioServer, ready: object = None) -> None:
        state = server.session.state()
        seen.append((state["step"], bool(state["left"])))
        server._socket.close()
        server._close_apart()

    monkeypatch.setattr(StudioServer, "run", run)
    return seen


@pytest.mark.parametrize("more", [{}, {"preset": "jako2011"}, {"size": 32}])
def test_it_is_neither_opened_nor_replaced_unasked(
    more: dict[str, Any], kept: tuple[Path, Any], served: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = kept
    before = all_of(folder)
    with pytest.raises(ForeignCheckpoint, match=SAID + r"trust=True, or start another one in its place with new=True$"):
        sw.studio(keep=folder, browser=False, port=0, **more)
    words = [word for name, value in more.items() for word in (f"--{name}", str(value))]
    assert main(["studio", "--keep", str(folder), "--no-browser", *words]) == 2
    said = capsys.readouterr().err.rstrip()
    assert said.endswith("continue it with --trust, or start another one in its place with --new")
    assert served == []
    assert all_of(folder) == before


def test_it_is_continued_on_trust_and_ones_own_from_then_on(kept: tuple[Path, dict[str, Any]], open_page: Open) -> None:
    folder, layers = kept
    keeper = Keeper(folder, trust=True)
    with StudioServer(None, port=0, keeper=keeper, apart=True) as server:
        page = open_page(server)
        page.until(lambda state: state["step"] == 5)
        assert len(page.state["timeline"]["branches"]) >= 1
        wait_for(lambda: keeper.is_own)  # without a change
    keeper.close()
    with serving(folder) as server:
        assert_same(server.session.submit(server.session.terrain).result(SECONDS), layers)


def test_the_command_continues_it_with_its_option(
    kept: tuple[Path, Any], served: list[tuple[int, bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = kept
    words = ["studio", "--keep", str(folder), "--no-browser", "--port", "0"]
    another = ["--size", "32", "--backend", "reference"]
    assert main([*words, "--new", *another]) == 0
    assert "--trust` alone continues it" in capsys.readouterr().err
    assert main([*words, "--trust", *another]) == 0
    assert main([*words, "--trust"]) == 0
    assert "continuing the last run" in capsys.readouterr().err
    assert main(words) == 0  # which was trusted
    assert served == [(0, False), (0, True), (5, False), (5, False)]


def test_one_that_is_replaced_by_request_stays_beside_it(kept: tuple[Path, Any], open_page: Open) -> None:
    folder, _ = kept
    with serving(folder, recipe(seed=2)) as server:
        open_page(server).steps(2)
    assert saved_step(folder) == 2
    assert saved_step(folder / "previous") == 5


def test_a_process_that_takes_the_place_of_another_goes_on_with_what_was_trusted(
    kept: tuple[Path, Any], open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "AT_REST", 1e9)  # nothing new is kept
    folder, _ = kept
    keeper = Keeper(folder, trust=True)
    with StudioServer(None, port=0, keeper=keeper, apart=True) as server:
        page = open_page(server)
        page.until(lambda state: state["step"] == 5)
        os.kill(server.session.process_id, 9)
        while not page.told:
            page.read()
        assert "continues where it was last saved, at step 5" in page.told[0]["message"]
    keeper.close()


def test_what_is_said_of_a_run_is_checked_before_it_is_said(kept: tuple[Path, Any]) -> None:
    """Facts may be anyone's: with any of them missing or wrong, a studio finds words, or nothing to describe."""
    folder, _ = kept
    manifest = sw.find_checkpoints(folder)[0] / checkpoint_files.MANIFEST
    written = json.loads(manifest.read_bytes())
    facts = {name: written[name] for name in ("schema", "serial", "run", "step", "backend", "domain", "recipe")}
    facts["model"], described = {"name": written["model"]["name"]}, set()
    usual = opening._described(sw.newest_manifest(folder), sized=True)
    assert "16 x 16, step 5" in usual
    for _, wrong in mutations(facts):
        manifest.write_bytes(checkpoint_files.encoded({"files": {}, **wrong}))
        with suppress(CheckpointError):  # of another schema
            keeper = opening._keeper(folder, trust=False)
            assert keeper is not None
            described.add(opening._described(keeper.kept, sized=True))
            keeper.close()
    assert {"", usual} < described


@pytest.fixture
def under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finish with a checkpoint, beside the run of a studio that was kept, as it was before seals."""
    monkeypatch.setattr(keeping, "WHILE_RUNNING", 0.0)
    folder = tmp_path / "kept" / FOLDER
    write_plan(on_one_grid(), folder)
    finisher = begun(task_in(folder), lambda message: None, Interruption(9))
    finisher.work()
    assert finisher._keeper is not None
    finisher._keeper.close()
    assert saved_step(folder / RUN_FOLDER) is not None
    return unsealed(folder)


def test_the_page_asks_whether_to_go_on_with_a_finish(under_way: Path, open_page: Open) -> None:
    before = all_of(under_way)
    with serving(under_way.parent, recipe()) as server:
        server.studio.finishing.niceness = 0
        page = open_page(server)
        asked = until(page, "failed")
        assert (asked["message"], asked["can_continue"]) == (QUESTION, True)
        assert all_of(under_way) == before  # the next server asks again
        page.do("continue_finish")
        assert until(page, "done")["step"] > 0


def test_the_plan_of_a_finish_is_ones_own_once_it_was_trusted(under_way: Path) -> None:
    with pytest.raises(ForeignCheckpoint):
        finish_files.read_plan(under_way)
    identity, trusted = finish_files.identity(under_way), finish_files.read_plan(under_way, trust=True)
    own = finish_files.read_plan(under_way)
    assert (own.name, own.actions, own.layout) == (trusted.name, trusted.actions, trusted.layout)
    assert own.recipe.as_dict() == trusted.recipe.as_dict()
    assert finish_files.identity(under_way) == identity
    assert not finish_files.is_own(under_way)  # its checkpoint is still the one of before
    unsealed(under_way / PLAN_FOLDER)
    with pytest.raises(ForeignCheckpoint):
        finish_files.read_plan(under_way)


def test_with_the_option_a_finish_goes_on_unasked(under_way: Path, open_page: Open) -> None:
    keeper = Keeper(under_way.parent, trust=True)
    with StudioServer(recipe(), port=0, keeper=keeper) as server:
        server.studio.finishing.niceness = 0
        assert until(open_page(server), "done")["step"] > 0
    keeper.close()


@pytest.mark.parametrize(("trust", "said"), [(False, "the page asks whether to continue it"), (True, "goes on in the")])
def test_the_terminal_says_what_a_finish_waits_for(
    trust: bool, said: str, under_way: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opening._print_finish(under_way.parent, trust=trust)
    assert said in capsys.readouterr().err


def test_a_result_from_before_is_shown(tmp_path: Path, open_page: Open) -> None:
    folder = tmp_path / "kept" / FOLDER
    write_plan(on_one_grid(), folder)
    begun(task_in(folder), lambda message: None).work()
    unsealed(folder)
    with serving(folder.parent, recipe()) as server:
        done = until(open_page(server), "done")
        assert done["resumed"]
        assert server.studio.finishing.project().is_file()


def test_where_no_secret_can_be_kept_a_finish_and_a_crash_lose_nothing(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes of one server are no strangers to each other."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(seals, "_warned", {seals._file()})  # which opening the studio has warned of
    keeper = Keeper(tmp_path / "kept")
    with StudioServer(recipe(), port=0, keeper=keeper, apart=True) as server:
        server.studio.finishing.niceness = 0
        page = open_page(server)
        page.steps(3)
        wait_for(lambda: saved_step(tmp_path / "kept") == 3)
        page.do("finish", size=64)
        until(page, "done")
        os.kill(server.session.process_id, 9)
        while not page.told:
            page.read()
        assert "continues where it was last saved, at step 3" in page.told[0]["message"]
    keeper.close()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_no_process_of_a_studio_shows_the_secret_or_a_key(tmp_path: Path, open_page: Open) -> None:
    """Other users see what a process was started with, and its children what it was given."""
    secret = seals.secret()
    keeper = Keeper(tmp_path / "kept")
    with StudioServer(recipe(), port=0, keeper=keeper, apart=True) as server:
        page = open_page(server)
        page.do("finish", size=1024)
        until(page, "running")
        wait_for(lambda: server.studio.finishing._process is not None)
        assert server.studio.finishing._process is not None
        for process in (server.session.process_id, server.studio.finishing._process.pid, os.getpid()):
            shown = Path(f"/proc/{process}/cmdline").read_bytes() + Path(f"/proc/{process}/environ").read_bytes()
            assert b"python" in shown
            for hidden in (secret, secret.hex().encode(), server.gate.token.encode()):
                assert hidden not in shown
        page.do("cancel_finish")
    keeper.close()
