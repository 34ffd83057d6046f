"""Keyframes on disk: a server that is started again, even after a kill, has the same past to scrub through."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import threading
import weakref
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.studio.test_keeping import place_of, saved_step, serving, start_studio, wait_for
from tests.studio.test_keyframes import branches, layers, same, scrub

import slopewash as sw
from slopewash.simulation import checkpoint_files
from slopewash.studio import keeping, keyframes
from slopewash.studio.apart import SessionApart
from slopewash.studio.keeping import Keeper
from slopewash.studio.kept_keyframes import FOLDER, KeptKeyframes
from slopewash.studio.recipes import first_recipe
from slopewash.studio.run import Run

Page = Any
Open = Callable[[Any], Page]


def recipe() -> sw.Recipe:
    """A model without usual steps, which has a keyframe every 16."""
    return first_recipe(model="virtual_pipes", size=32, extent=320.0, seed=3, backend="reference")


def files(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).iterdir())


def noted(folder: Path) -> dict[str, Any]:
    manifest = sw.newest_manifest(folder)
    assert manifest is not None
    return manifest["timeline"]


@pytest.mark.slow
def test_a_killed_server_has_the_same_past(tmp_path: Path, open_page: Open) -> None:
    kept = tmp_path / "kept"
    options = ("--model", "virtual_pipes", "--size", 40, "--extent", 400, "--seed", 3, "--backend", "reference")
    first = start_studio(kept, *options)
    bits: dict[tuple[int, int], bytes] = {}
    try:
        page = open_page(place_of(first))
        page.steps(20)
        page.do("paint", tool="raise", points=[[120.0, 200.0]], radius=60.0, strength=7.0)
        page.steps(24)
        bits[1, 44] = page.get("/export/terrain.npz").content
        for moment in (16, 32):
            scrub(page, 1, moment)
            bits[1, moment] = page.get("/export/terrain.npz").content
        page.do("parameters", values={"rain_rate": 0.07})
        page.steps(10)
        bits[2, 42] = page.get("/export/terrain.npz").content
        before = page.state["timeline"]
        assert branches(page)[1]["keyframes"] == [0, 16, 20, 32]
        wait_for(lambda: saved_step(kept) == 42)
        first.send_signal(signal.SIGKILL)
        first.wait(60)
        page.close()
    finally:
        first.kill()
        first.communicate()
    again = start_studio(kept)
    try:
        page = open_page(place_of(again))
        page.until(lambda state: state["step"] == 42)
        assert page.state["timeline"] == before
        for branch, moment in ((1, 16), (1, 44), (2, 42), (1, 32)):
            scrub(page, branch, moment)
            assert page.get("/export/terrain.npz").content == bits[branch, moment]
        page.steps(12)  # from step 32 on, as the first time
        assert page.state["timeline"]["branch"] == 3
        assert page.get("/export/terrain.npz").content == bits[1, 44]
        page.close()
    finally:
        again.kill()
        again.communicate()


def test_a_process_of_the_run_that_is_killed_leaves_its_past(tmp_path: Path, open_page: Open) -> None:
    with serving(tmp_path, recipe(), apart=True) as server:
        assert isinstance(server.session, SessionApart)
        page = open_page(server)
        page.steps(20)
        wait_for(lambda: saved_step(tmp_path) == 20)
        assert server.session.process_id is not None
        os.kill(server.session.process_id, signal.SIGKILL)
        while not any("continues where it was last saved" in told["message"] for told in page.told):
            page.read()
        assert branches(page)[1]["keyframes"] == [0, 16]
        assert not scrub(page, 1, 16)["at_end"]
        page.close()


def test_recipes_of_levels_have_their_coarse_grids_again(tmp_path: Path, open_page: Open) -> None:
    levels = sw.Recipe(
        source=sw.Generated(kind="dome", size=128, extent=1280.0), backend="reference",
        stages=(sw.Stage.of("landscape", strength=0.02),),
    )  # fmt: skip
    with serving(tmp_path, levels) as server:
        page = open_page(server)
        page.do("play")
        page.until(lambda s: not s["playing"] and s["step"] > 10)
        final, taken = layers(server), branches(page)[1]["keyframes"]
        page.close()
    with serving(tmp_path) as server:
        page = open_page(server)
        assert page.until(bool)["rows"] == 128
        assert branches(page)[1]["keyframes"] == taken
        scrub(page, 1, taken[1])
        assert page.state["rows"] == 64
        page.do("play")
        page.until(lambda s: not s["playing"] and s["step"] > taken[1])
        same(layers(server), final)
        page.close()


def test_no_more_is_on_disk_than_the_newest_checkpoint_names(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "AT_REST", 0.0)
    monkeypatch.setattr(keyframes, "MOST_KEYFRAMES", 3)
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "new.tmp").write_bytes(b"of a server that was killed")
    with serving(tmp_path, recipe()) as server:
        page = open_page(server)
        for _ in range(8):
            page.steps(16)
            wait_for(lambda: saved_step(tmp_path) == page.state["step"])
        assert branches(page)[1]["keyframes"] == [0, 64, 96]
        page.close()
    assert [path.stem for path in files(tmp_path)] == noted(tmp_path)["files"]
    assert len(noted(tmp_path)["branches"][0]["keyframes"]) == 3
    assert sum(path.stat().st_size for path in files(tmp_path)) < 4 * 32 * 32 * 4 * 16


def test_a_damaged_keyframe_is_left_out_and_reported(tmp_path: Path, open_page: Open) -> None:
    run_and_close(tmp_path, open_page, 40)
    names = noted(tmp_path)["branches"][0]["keyframes"]
    lost = tmp_path / FOLDER / f"{names[1]}.keyframe"
    lost.write_bytes(lost.read_bytes()[:-1])
    harmed = tmp_path / FOLDER / f"{names[2]}.keyframe"
    harmed.write_bytes(b"\1" + harmed.read_bytes()[1:])  # in an array that is read only where it is scrubbed to
    with serving(tmp_path) as server:
        page = open_page(server)
        page.until(bool)
        while not page.told:
            page.read()
        assert page.told[0]["message"] == "1 of the 3 keyframes that were kept cannot be read, and are left out."
        assert branches(page)[1]["keyframes"] == [0, 32]
        answer = page.ask("scrub", branch=1, moment=32)["message"]
        assert answer == (
            "keyframe 32 cannot be read (state.elevation is not what was written), and is dropped; "
            "the run stays where it is"
        )
        page.do("speed", steps_per_second=None)
        assert page.until(lambda s: s["timeline"]["branches"][0]["keyframes"] == [0])["step"] == 40
        assert not scrub(page, 1, 0)["at_end"]
        page.close()


def test_a_disk_without_room_for_keyframes_still_keeps_the_run(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")  # as shutil has it
    with serving(tmp_path, recipe()) as server:
        page = open_page(server)
        with monkeypatch.context() as disk:
            disk.setattr(keeping, "AT_REST", 0.0)
            disk.setattr(shutil, "disk_usage", lambda _: usage(10**8, 10**8 - 10**6, 10**6))
            page.steps(20)
            while not page.told:
                page.read()
        page.close()
        (told,) = page.told
        start = f"Some keyframes are not kept on disk: cannot write to {tmp_path}"
        assert told["message"].startswith(start)
        assert told["message"].endswith(": 67 MB are needed and 1 MB free; make room there.")
        wait_for(lambda: saved_step(tmp_path) == 20)
        assert noted(tmp_path)["files"] == []
        server.session.submit(server.session._changed).result(60)  # there is room again: the next checkpoint has them
    assert len(noted(tmp_path)["branches"][0]["keyframes"]) == 2


def test_a_run_that_was_left_and_restored_has_its_keyframes_on_disk_again(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "AT_REST", 0.0)
    with serving(tmp_path, recipe()) as server:
        page = open_page(server)
        page.steps(20)
        wait_for(lambda: saved_step(tmp_path) == 20)
        scrub(page, 1, 16)
        kept = layers(server)
        page.do("start", generator={"seed": 4})
        wait_for(lambda: saved_step(tmp_path) == 0)
        assert noted(tmp_path)["files"] == []
        page.do("bring_back")
        wait_for(lambda: saved_step(tmp_path) == 20)
        page.close()
    with serving(tmp_path) as server:
        page = open_page(server)
        page.until(bool)
        assert branches(page)[1]["keyframes"] == [0, 16]
        scrub(page, 1, 16)
        same(layers(server), kept)
        page.close()


def run_and_close(folder: Path, open_page: Open, steps: int) -> None:
    """Keep a new run of so many steps in a folder."""
    with serving(folder, recipe()) as server:
        page = open_page(server)
        page.steps(steps)
        page.close()


def test_a_run_that_was_replaced_is_continued_without_a_word_of_its_keyframes(tmp_path: Path, open_page: Open) -> None:
    run_and_close(tmp_path, open_page, 20)
    with serving(tmp_path, recipe()) as server:
        page = open_page(server)
        page.steps(3)
        page.close()
    with serving(tmp_path / "previous") as server:
        page = open_page(server)
        assert page.until(bool)["step"] == 20
        page.steps(1)
        assert page.told == []
        page.close()


def test_a_new_run_beside_the_kept_one_can_still_go_back_in_that(tmp_path: Path, open_page: Open) -> None:
    run_and_close(tmp_path, open_page, 20)
    with serving(tmp_path, recipe()) as server:
        page = open_page(server)
        page.steps(3)
        page.do("bring_back")
        page.until(lambda s: s["step"] == 20)
        assert not scrub(page, 1, 16)["at_end"]
        page.close()


def test_the_same_keyframes_are_written_once(tmp_path: Path, open_page: Open) -> None:
    run_and_close(tmp_path, open_page, 40)
    before = {path: path.stat().st_mtime_ns for path in files(tmp_path)}
    with serving(tmp_path) as server:
        page = open_page(server)
        page.steps(1)
        page.close()
    assert saved_step(tmp_path) == 41
    assert {path: path.stat().st_mtime_ns for path in files(tmp_path)} == before


def played(steps: int, recipe: sw.Recipe) -> Run:
    """A run with its keyframes, without a studio."""
    run = Run(recipe)
    play(run, steps)
    return run


def play(run: Run, steps: int) -> None:
    for _ in range(steps):
        run.timeline.note_steps(run)
        run.advance(1)


@contextmanager
def keeping_in(folder: Path) -> Iterator[Keeper]:
    keeper = Keeper(folder)
    yield keeper
    keeper.close()


def save(keeper: Keeper, run: Run, *, at_the_end: bool = False) -> None:
    keeper.note_change()
    if at_the_end:
        keeper.finish(run.parts, run.timeline)
        return
    over = threading.Event()
    keeper.save(run.parts, over.set, run.timeline)
    assert over.wait(60)
    keeper.new_failure()


def full(*_: Any, **__: Any) -> None:
    raise sw.CheckpointError("the disk is full")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of all files that are written, also of those that are removed again."""
    names: list[str] = []
    put = KeptKeyframes._put

    def note(self: KeptKeyframes, *arguments: Any) -> Any:
        name, digests = put(self, *arguments)
        names.append(name)
        return name, digests

    monkeypatch.setattr(KeptKeyframes, "_put", note)
    return names


def test_nothing_is_written_where_another_version_has_its_run(tmp_path: Path, written: list[str]) -> None:
    with keeping_in(tmp_path) as keeper:
        save(keeper, played(1, recipe()))
        (checkpoint,) = sw.find_checkpoints(tmp_path)
        manifest = {**checkpoint_files.read_manifest(checkpoint).facts, "schema": 99}
        text = checkpoint_files.encoded(manifest)
        (checkpoint / "manifest.json").write_bytes(text)
        before = files(tmp_path)
        written.clear()
        run = played(20, recipe())
        for at_the_end in (False, True):
            save(keeper, run, at_the_end=at_the_end)
            assert keeper.failure is not None
            assert "has schema 99" in keeper.failure
        assert written == []
        assert files(tmp_path) == before


def test_a_checkpoint_that_fails_leaves_what_the_one_before_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[str]
) -> None:
    run = played(20, recipe())
    with keeping_in(tmp_path) as keeper:
        save(keeper, run)
        before = {path: path.read_bytes() for path in files(tmp_path)}
        assert len(before) == len(noted(tmp_path)["files"]) == 2
        play(run, 20)
        written.clear()
        with monkeypatch.context() as disk:
            disk.setattr(sw, "write_checkpoint", full)
            save(keeper, run)
            assert len(written) == 1
            assert keeper.failure == "the disk is full"
            assert {path: path.read_bytes() for path in files(tmp_path)} == before  # what is new takes no room
            expected = run.timeline.branch.keyframes[-1].elevation
            save(keeper, run)
            assert len(written) == 1  # keyframes wait until there is room for the run itself
        save(keeper, run)
        assert keeper.failure is None
        assert (saved_step(tmp_path), len(noted(tmp_path)["files"])) == (40, 3)
        assert [path.stem for path in files(tmp_path)] == noted(tmp_path)["files"]
        same({"elevation": run.timeline.branch.keyframes[-1].elevation}, {"elevation": expected})


def test_the_first_checkpoint_that_fails_leaves_no_keyframes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sw, "write_checkpoint", full)
    run = played(20, recipe())
    with keeping_in(tmp_path) as keeper:
        save(keeper, run)
        assert files(tmp_path) == []
    assert run.timeline.branch.keyframes[1].elevation.shape == (32, 32)


def test_keyframes_that_leave_no_room_for_a_checkpoint_do_not_keep_the_run_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[str]
) -> None:
    """As under a quota, which the free space of the disk says nothing of."""
    write = sw.write_checkpoint

    def limited(folder: Path, *arguments: Any, **options: Any) -> Path:
        if (folder / FOLDER).exists() and files(folder):
            full()
        return write(folder, *arguments, **options)

    monkeypatch.setattr(sw, "write_checkpoint", limited)
    run = played(20, recipe())
    with keeping_in(tmp_path) as keeper:
        save(keeper, run)
        assert keeper.failure == "the disk is full"
        save(keeper, run)
        assert keeper.failure is None
        assert keeper.new_keyframe_failure() == "the disk is full"
        assert (saved_step(tmp_path), noted(tmp_path)["files"], files(tmp_path)) == (20, [], [])
        for wait in (60.0, 120.0):
            written.clear()
            play(run, 1)
            save(keeper, run)
            assert written == []  # a quota lasts: they are not written and removed again with every checkpoint
            assert saved_step(tmp_path) == run.step
            assert keeper._keyframe_wait == wait
            keeper._keyframes_again = 0.0  # that time has passed
            save(keeper, run)
            assert len(written) == 2
            assert keeper.new_keyframe_failure() is None  # it was reported
        monkeypatch.setattr(sw, "write_checkpoint", write)
        save(keeper, run)
        assert noted(tmp_path)["files"] == []
        keeper._keyframes_again = 0.0
        save(keeper, run)
        assert len(noted(tmp_path)["files"]) == 2
        assert keeper._keyframe_wait == 0.0


def test_a_server_that_stops_writes_the_run_before_its_keyframes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int | None] = []
    put = KeptKeyframes._put

    def note(*given: Any) -> Any:
        saved.append(saved_step(tmp_path))
        return put(*given)

    monkeypatch.setattr(KeptKeyframes, "_put", note)
    run = played(20, recipe())
    with keeping_in(tmp_path) as keeper:
        save(keeper, run, at_the_end=True)
    assert saved == [20, 20]
    assert (saved_step(tmp_path), len(noted(tmp_path)["files"])) == (20, 2)


def test_arrays_of_the_same_values_have_one_file_and_are_not_held(tmp_path: Path, written: list[str]) -> None:
    run = played(1, first_recipe(preset="chiba_strata", size=48, backend="reference"))
    timeline, kept = run.timeline, KeptKeyframes(tmp_path)
    noted = kept.write(timeline, 0)
    kept.confirm(noted)
    (first,) = timeline.branch.keyframes
    top = weakref.ref(first.shared["terrain.strata_top"])
    shared = {*noted["files"]} - {*noted["branches"][0]["keyframes"]}
    assert shared
    run.close()
    run = Run.from_checkpoint(*first.parts(), "it", lambda _: None)  # as scrubbing does
    run.timeline = timeline
    timeline.note_edit()
    timeline.note_steps(run)
    (second,) = timeline.branch.keyframes
    assert second.shared["terrain.strata_top"] is not top()
    del first
    written.clear()
    noted = kept.write(timeline, 0)
    kept.confirm(noted)
    assert not shared & {*written}
    assert shared <= {*noted["files"]}
    gc.collect()
    assert top() is None


@pytest.mark.skipif(os.name == "nt", reason="Windows does not open folders")
def test_names_of_keyframes_are_on_the_disk_before_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    flush = os.fsync

    def note(handle: int) -> None:
        flushed.append(os.fstat(handle).st_ino)
        flush(handle)

    monkeypatch.setattr(os, "fsync", note)
    kept, timeline = KeptKeyframes(tmp_path), played(20, recipe()).timeline
    kept.write(timeline, 0)
    last = [path.stat().st_ino for path in (tmp_path / FOLDER, tmp_path)]
    assert flushed[-2:] == last
    assert len(flushed) == 4  # with two keyframes


@pytest.mark.parametrize(
    ("error", "reason"),
    [(OSError("elevation is not what was written"), "elevation is not what was written"),
     (MemoryError(), "there is not enough memory")],
)  # fmt: skip
def test_what_cannot_be_read_is_not_reported_as_a_folder_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def refuse(*_: Any) -> Any:
        raise error

    kept, timeline = KeptKeyframes(tmp_path), played(1, recipe()).timeline
    monkeypatch.setattr(keyframes.ArrayFile, "read", refuse)
    kept.write(timeline, 0)
    assert kept.failure == reason
