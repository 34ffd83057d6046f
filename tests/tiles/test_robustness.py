"""Whatever is killed, stopped or missing: the bits are the same afterwards, or one sentence says why not."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]
import pytest
from tests.tiles.conftest import assert_same_bits, changed, rough

import slopewash as sw
from slopewash.tiles import executors, rounds, store
from slopewash.tiles.executors import connected
from slopewash.tiles.run import MANIFEST
from slopewash.tiles.work import Work

MODEL = sw.VirtualPipes()
STEPS = 24
TILE = (34, 27)


@pytest.fixture(scope="module")
def whole() -> sw.Terrain:
    """Return the result of a run that nothing happened to."""
    return sw.erode(rough(), MODEL, steps=STEPS, backend="cpu", seed=3)


def erode(out: Path, **where: Any) -> sw.TiledResult:
    return sw.erode_tiled(rough(), MODEL, steps=STEPS, seed=3, tile=TILE, out=out, iterations=2, **where)


def worker_processes(client: Any) -> list[psutil.Process]:
    return [psutil.Process(pid) for pid in client.run(os.getpid).values()]


@contextlib.contextmanager
def killing(client: Any, times: int, seed: int) -> Iterator[list[int]]:
    """Kill a worker so many times at random moments; the list says which."""
    killed: list[int] = []
    over = threading.Event()
    chance = random.Random(seed)

    def kill() -> None:
        while len(killed) < times and not over.wait(chance.uniform(0.1, 0.6)):
            with contextlib.suppress(Exception):
                pids = [worker["pid"] for worker in client.run(lambda: {"pid": os.getpid()}).values()]
                victim = chance.choice(pids)
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    yield killed
    over.set()
    thread.join(20)


@pytest.mark.slow
def test_workers_killed_at_random_moments_cost_only_time(tmp_path: Path, whole: sw.Terrain) -> None:
    with connected(workers=2) as executor:
        for run in range(10):
            out = tmp_path / f"{run}.zarr"
            with killing(executor.client, 1, seed=run):
                erode(out, client=executor.client)
            assert_same_bits(out, whole)
        processes = worker_processes(executor.client)
    _, alive = psutil.wait_procs(processes, timeout=10)
    assert not alive


def die_thrice(work: Any, round: Any, number: int, note: str) -> Any:
    """Kill the worker the first three times that tile 1 comes up."""
    tries = Path(note)
    if number == 1 and (len(tries.read_text()) if tries.exists() else 0) < 3:
        with tries.open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return rounds.advance_tile(work, round, number)


@pytest.mark.slow
def test_three_deaths_at_the_same_tile_do_not_end_the_run(
    tmp_path: Path, whole: sw.Terrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slopewash.tiles import run

    note = str(tmp_path / "tries")
    monkeypatch.setattr(run, "advance_tile", Deadly(note))
    with connected(workers=2) as executor:
        erode(tmp_path / "out.zarr", client=executor.client)
    assert Path(note).read_text() == "xxx"
    assert_same_bits(tmp_path / "out.zarr", whole)


class Deadly:
    """A task that can be sent to workers which know nothing of this file."""

    def __init__(self, note: str) -> None:
        self.note = note

    def __call__(self, work: Any, round: Any, number: int) -> Any:
        return die_thrice(work, round, number, self.note)


def after_manifest(monkeypatch: pytest.MonkeyPatch, count: int, act: Callable[[], None]) -> None:
    """Do something once, as soon as the n-th manifest is written."""
    written = []
    usual = store.Store.write_json

    def write(self: store.Store, name: str, facts: Any) -> None:
        usual(self, name, facts)
        written.extend([name] if name == MANIFEST else [])
        if len(written) == count:
            act()

    monkeypatch.setattr(store.Store, "write_json", write)


def stop_after(monkeypatch: pytest.MonkeyPatch, count: int, error: BaseException) -> None:
    """Let the n-th manifest be the last."""

    def fail() -> None:
        raise error

    after_manifest(monkeypatch, count, fail)


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_a_run_goes_on_from_any_manifest(
    tmp_path: Path, whole: sw.Terrain, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    stop_after(monkeypatch, count, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        erode(tmp_path / "out.zarr", workers=0)
    monkeypatch.undo()
    with pytest.raises(sw.CheckpointError, match=r"holds a run on tiles at round .*continue it with slopewash resume"):
        erode(tmp_path / "out.zarr", workers=0)
    with pytest.raises(sw.InvalidFile, match="finish it with slopewash resume"):
        sw.open(tmp_path / "out.zarr")
    facts = sw.tiled_facts(tmp_path / "out.zarr")
    assert facts is not None
    assert not facts["finished"]
    sw.resume_tiled(tmp_path / "out.zarr", workers=0)
    assert_same_bits(tmp_path / "out.zarr", whole)
    with pytest.raises(sw.CheckpointError, match="is finished"):
        sw.resume_tiled(tmp_path / "out.zarr", workers=0)


def test_a_full_disk_is_one_sentence_and_loses_nothing(
    tmp_path: Path, whole: sw.Terrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slopewash.tiles import direct, shards

    usual, left = direct.write_all, [60]

    def write_all(handle: int, data: memoryview) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        usual(handle, data)

    monkeypatch.setattr(shards, "write_all", write_all)
    with pytest.raises(sw.CheckpointError, match=r"cannot write to .*: No space left on device \(.* GB are free\)"):
        erode(tmp_path / "out.zarr", workers=0)
    assert not list(tmp_path.rglob("*.partial"))
    monkeypatch.undo()
    sw.resume_tiled(tmp_path / "out.zarr", workers=0)
    assert_same_bits(tmp_path / "out.zarr", whole)


def test_an_unreachable_scheduler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "CONNECTING", 1)
    with pytest.raises(sw.BackendUnavailable, match=r"no scheduler answers at tcp://127\.0\.0\.1:1;"):
        erode(tmp_path / "out.zarr", scheduler="tcp://127.0.0.1:1")


def test_a_store_of_another_version_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(monkeypatch, 3, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        erode(tmp_path / "out.zarr", workers=0)
    monkeypatch.undo()
    with changed(tmp_path / "out.zarr") as (_, facts):
        facts["slopewash"] = "0.0.1"
    with pytest.raises(sw.CheckpointError, match=r"was written by slopewash 0\.0\.1 .*the version that wrote it"):
        sw.resume_tiled(tmp_path / "out.zarr", workers=0)
    (tmp_path / "out.zarr" / MANIFEST).write_text(json.dumps({**facts, "sha256": "0"}))
    with pytest.raises(sw.CheckpointError, match="is not what was written"):
        sw.resume_tiled(tmp_path / "out.zarr", workers=0)


def wait_for_round(out: Path, number: int) -> None:
    """Wait until a round is committed."""
    manifest, deadline = out / MANIFEST, time.monotonic() + 60
    while time.monotonic() < deadline and not (manifest.exists() and f'"round": {number}' in manifest.read_text()):
        time.sleep(0.02)


@pytest.mark.slow
def test_a_stopped_worker_is_one_sentence_and_only_delays_the_run(
    tmp_path: Path, cluster: Any, whole: sw.Terrain, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    seconds = float(os.environ.get("SLOPEWASH_STOPPED", "6"))
    victim, said, threads = worker_processes(cluster)[0], threading.Event(), []

    class Heard(executors.Silence):
        def __init__(self, say: Callable[[str], None], longest: float | None) -> None:
            def hear(text: str) -> None:
                say(text)
                said.set()

            super().__init__(hear, longest)

    def rest() -> None:
        time.sleep(seconds)
        said.wait(120)  # a busy machine was slow before, so longer silence is needed
        victim.resume()

    def stop() -> None:
        victim.suspend()
        said.clear()  # an earlier round may have been slow by itself
        threads.append(threading.Thread(target=rest))
        threads[0].start()

    monkeypatch.setattr(executors, "QUIET", min(15.0, seconds / 3))
    monkeypatch.setattr(executors, "Silence", Heard)
    after_manifest(monkeypatch, 4, stop)
    erode(tmp_path / "out.zarr", client=cluster, progress=True)
    threads[0].join()
    assert_same_bits(tmp_path / "out.zarr", whole)
    assert capfd.readouterr().err.count("a worker may be stopped or cut off") >= 1


@contextlib.contextmanager
def cluster_by_hand(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a scheduler and two workers, each by its own command; yields the address and the scheduler."""
    file = folder / "scheduler.json"
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1"}

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:], "--scheduler-file", str(file)]
        return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, cwd=folder)

    at_home = ("--host", "127.0.0.1", "--no-dashboard")
    started = [start("scheduler", "--port", "0", *at_home)]
    try:
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        started += [start("worker", "--nthreads", "1", "--no-nanny", *at_home) for _ in range(2)]
        yield json.loads(file.read_text())["address"], started[0]
    finally:
        for process in started:
            process.kill()
            process.wait(20)


@pytest.mark.slow
def test_a_scheduler_and_workers_started_by_hand_and_a_scheduler_that_is_lost(
    tmp_path: Path, whole: sw.Terrain
) -> None:
    with cluster_by_hand(tmp_path) as (address, scheduler):
        erode(tmp_path / "out.zarr", scheduler=address)
        assert_same_bits(tmp_path / "out.zarr", whole)

        def kill() -> None:
            wait_for_round(tmp_path / "again.zarr", 3)
            scheduler.kill()

        threading.Thread(target=kill, daemon=True).start()
        with pytest.raises(sw.BackendUnavailable, match="but nothing of what is done; continue with slopewash resume"):
            erode(tmp_path / "again.zarr", scheduler=address)
    facts = sw.tiled_facts(tmp_path / "again.zarr")
    assert facts is not None
    assert facts["round"] >= 3
    sw.resume_tiled(tmp_path / "again.zarr", workers=0)
    assert_same_bits(tmp_path / "again.zarr", whole)


SCRIPT = """
import sys
import slopewash as sw

terrain = sw.generate("fbm", size=150, seed=2)
print("ready", flush=True)
sw.erode_tiled(terrain, sw.VirtualPipes(), steps=60, tile=80, out=sys.argv[1], iterations=2, workers=2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_the_scheduler_ends_and_resume_goes_on(tmp_path: Path, ending: signal.Signals) -> None:
    """A local cluster's scheduler lives in the process that runs the tiles."""
    out = tmp_path / "out.zarr"
    process = subprocess.Popen([sys.executable, "-c", f"if __name__ == '__main__':\n exec({SCRIPT!r})", str(out)])
    manifest = out / MANIFEST
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (manifest.exists() and '"round": 0' not in manifest.read_text()):
        time.sleep(0.05)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(ending)
    process.wait(60)
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive
    facts = sw.tiled_facts(out)
    assert facts is not None
    assert not facts["finished"]
    sw.resume_tiled(out, workers=0)
    assert_same_bits(out, sw.erode(sw.generate("fbm", size=150, seed=2), MODEL, steps=60, backend="cpu"))


def test_not_finite_names_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = sw.VirtualPipes(processes="thermal")  # which does not touch the water
    stop_after(monkeypatch, 2, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        sw.erode_tiled(rough(), model, steps=4, tile=TILE, out=tmp_path / "out.zarr", workers=0)
    monkeypatch.undo()
    with changed(tmp_path / "out.zarr") as (kept, facts):
        work, group = Work.from_dict(kept, facts["work"]), "state/round-000000"
        rows, columns = work.grid.window(3)
        state = work.read(group, (rows, columns), iterations=0)
        state["water"][5, 6] = np.nan
        work.write(group, 3, state, (slice(0, rows.stop - rows.start), slice(0, columns.stop - columns.start)))
    with pytest.raises(sw.NotFinite, match=f"water is no longer finite at row {TILE[0] + 5}, column {TILE[1] + 6} by"):
        sw.resume_tiled(tmp_path / "out.zarr", workers=0)


def test_a_script_that_its_workers_would_run_again_is_told_how_to_begin(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(
        "import slopewash as sw\n"
        "def go():\n"
        "    sw.erode_tiled(sw.generate('cone', size=16), sw.SteepestTalus(), steps=1, tile=8, out='out.zarr')\n"
        "go()\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "unguarded.py calls it in line 4" in last
    assert 'if __name__ == "__main__":' in last
    assert done.stderr.count("Traceback") == 1  # nothing was started
    assert not (tmp_path / "out.zarr").exists()


@pytest.mark.parametrize("after", [0.3, 1.0])
def test_an_interrupt_while_workers_start_is_one_sentence(tmp_path: Path, after: float) -> None:
    sw.write(sw.generate("cone", size=16), tmp_path / "raw.exr")
    words = ["erode", "raw.exr", "-o", "t.zarr", "--model", "steepest_talus", "--tiles", "16", "--workers", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "slopewash", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline() == "starting 2 workers; Ctrl-C ends the run once they are there\n"
        family = psutil.Process(process.pid)
        while not any("spawn_main" in " ".join(child.cmdline()) for child in family.children()):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(after)  # a worker is at its imports
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        said = process.stderr.read()
    assert (process.returncode, said) == (130, "interrupted before the first step; nothing is kept\n")
    assert not (tmp_path / "t.zarr").exists()


def test_a_run_that_is_refused_for_its_memory_leaves_nothing(tmp_path: Path, whole: sw.Terrain) -> None:
    out = tmp_path / "out.zarr"
    with pytest.raises(sw.NotEnoughMemory, match=r'and 1 MB may be taken; give memory="0\.7GB", which is the least'):
        erode(out, workers=0, memory="1MB")
    assert not out.exists()
    erode(out, workers=0)
    with pytest.raises(sw.NotEnoughMemory, match="may be taken"):
        erode(out, workers=0, memory="1MB")
    assert_same_bits(out, whole)  # of the run before
    erode(out, workers=0)


def test_a_run_that_is_refused_for_its_time_step_leaves_nothing(tmp_path: Path, whole: sw.Terrain) -> None:
    out = tmp_path / "out.zarr"
    with pytest.raises(sw.TooManySubsteps):
        sw.erode_tiled(rough(), sw.VirtualPipes(time_step=50), steps=STEPS, tile=TILE, out=out, workers=0)
    assert not out.exists()
    erode(out, workers=0)
    assert_same_bits(out, whole)


def test_a_run_that_is_refused_memory_when_it_is_resumed_is_kept(
    tmp_path: Path, whole: sw.Terrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.zarr"
    stop_after(monkeypatch, 1, KeyboardInterrupt())  # before its first stage, for which memory is estimated
    with pytest.raises(KeyboardInterrupt):
        erode(out, workers=0)
    monkeypatch.undo()
    with pytest.raises(sw.NotEnoughMemory, match="may be taken"):
        sw.resume_tiled(out, workers=0, memory="1MB")
    sw.resume_tiled(out, workers=0)
    assert_same_bits(out, whole)
