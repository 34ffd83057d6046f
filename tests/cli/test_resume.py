"""Runs that are interrupted or killed, and `slopewash resume`."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw
from slopewash.cli import main

Run = Callable[..., Any]
STEPS, SETTLING = 400, 60
SECONDS = 120


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A height field, and beside it what a run that was never interrupted makes of it."""
    folder = tmp_path_factory.mktemp("ground")
    raw = sw.write(sw.generate("dome", size=24), folder / "raw.exr")
    assert main(words_of(raw, folder / "whole.npz", "--picture", folder / "whole.png")) == 0
    return raw


def words_of(raw: Path, out: Path, *more: object) -> list[str]:
    words = [
        "erode",
        raw,
        "-o",
        out,
        "--preset",
        "single_grid",
        "--backend",
        "reference",
        "--steps",
        STEPS,
        "--seed",
        2,
        *more,
    ]
    return [str(word) for word in words]


def assert_whole(ground: Path, out: Path) -> None:
    assert out.read_bytes() == ground.with_name("whole.npz").read_bytes()


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sends this process a signal once so many steps are taken, and another whenever a file is flushed after that."""

    def prepare(number: signal.Signals, *, after: int, again: signal.Signals | None = None) -> None:
        observe, flush = sw.Progress.observe, os.fsync
        sent: list[signal.Signals] = []

        def observe_and_send(self: sw.Progress, simulation: sw.Simulation) -> None:
            observe(self, simulation)
            if simulation.steps_taken >= after and not sent:
                sent.append(number)
                os.kill(os.getpid(), number)

        def flush_and_send(handle: int) -> None:
            if sent and again is not None:
                os.kill(os.getpid(), again)
            flush(handle)

        monkeypatch.setattr(sw.Progress, "observe", observe_and_send)
        monkeypatch.setattr(os, "fsync", flush_and_send)

    return prepare


def wait_for_step(folder: Path, step: int) -> None:
    end = time.monotonic() + SECONDS
    while (sw.newest_manifest(folder) or {"step": 0})["step"] < step:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["kill", "term", "int"]
)
def test_a_run_ended_by_a_signal_is_resumed_to_an_identical_file(
    number: signal.Signals, code: int, ground: Path, tmp_path: Path, run: Run
) -> None:
    out, folder = tmp_path / "out.npz", tmp_path / "run.ckpt"
    words = words_of(ground, out, "--checkpoint", folder, "--every", 10)
    with subprocess.Popen([sys.executable, "-m", "slopewash", *words], stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for_step(folder, 50)
            process.send_signal(number)
            _, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert process.returncode == code
    assert "Traceback" not in err
    if number != signal.SIGKILL:
        assert err.endswith(f"; to continue: slopewash resume {folder}\n")
    done = run("resume", folder)
    assert done.code == 0
    assert done.err.startswith("continuing after ")
    assert_whole(ground, out)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"])
@pytest.mark.parametrize("after", [100, STEPS + 20], ids=["eroding", "settling"])
def test_interrupted_runs_and_settlings_are_resumed_to_an_identical_file(
    number: signal.Signals, code: int, after: int, ground: Path, tmp_path: Path, run: Run,
    interrupt: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    out, picture, folder = tmp_path / "out.npz", tmp_path / "out.png", tmp_path / "run.ckpt"
    with monkeypatch.context():
        interrupt(number, after=after)
        done = run(*words_of(ground, out, "--picture", picture, "--checkpoint", folder))
        monkeypatch.undo()
    assert done.code == code
    assert done.err.endswith(f"; to continue: slopewash resume {folder}\n")
    assert f"interrupted after {min(after, STEPS)}" in done.err
    facts = run("info", folder, "--json").json
    assert (facts["step"] + facts["settling_steps"], facts["finished"]) == (after, False)
    report = run("resume", folder, "--json")
    assert report.code == 0
    assert report.json["steps"] == STEPS
    assert report.json["settling_steps"] == SETTLING
    assert_whole(ground, out)
    assert picture.read_bytes() == ground.with_name("whole.png").read_bytes()


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_second_signal_while_the_checkpoint_is_written_does_not_lose_it(
    first: signal.Signals, second: signal.Signals, ground: Path, tmp_path: Path, run: Run,
    interrupt: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    out, folder = tmp_path / "out.npz", tmp_path / "run.ckpt"
    with monkeypatch.context():
        interrupt(first, after=100, again=second)
        done = run(*words_of(ground, out, "--checkpoint", folder))
        monkeypatch.undo()
    assert done.code == 128 + second
    assert "Traceback" not in done.err
    assert run("info", folder, "--json").json["step"] == 100
    assert sw.read(out).shape == (24, 24)
    assert run("resume", folder).code == 0
    assert_whole(ground, out)


@pytest.fixture
def unfinished(ground: Path, tmp_path: Path, run: Run, interrupt: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of a run that was interrupted at step 100, which is to write out/out.npz."""
    (tmp_path / "out").mkdir()
    interrupt(signal.SIGINT, after=100)
    assert run(*words_of(ground, tmp_path / "out" / "out.npz", "--checkpoint", tmp_path / "run.ckpt")).code == 130
    monkeypatch.undo()
    return tmp_path / "run.ckpt"


def test_a_finished_run_writes_its_outputs_again(ground: Path, unfinished: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out" / "out.npz"
    assert run("resume", unfinished).code == 0
    out.unlink()
    done = run("resume", unfinished)
    assert done.code == 0
    assert done.err == "the run is finished; its outputs are written again\n"
    assert_whole(ground, out)


def test_a_folder_with_an_unfinished_run_is_not_written_over(
    ground: Path, unfinished: Path, tmp_path: Path, run: Run
) -> None:
    done = run(*words_of(ground, tmp_path / "other.npz", "--checkpoint", unfinished))
    assert done.code == 2
    assert done.err == (
        f"slopewash: {unfinished} holds a run at step 100; continue it with slopewash resume {unfinished}, "
        "or remove it\n"
    )


def test_the_remedy_for_a_folder_in_use_is_that_of_the_program_that_wrote_it(
    ground: Path, tmp_path: Path, run: Run
) -> None:
    simulation = sw.Simulation(sw.generate("cone", size=16), sw.VirtualPipes(), backend="reference")
    for kept, remedy in (({}, "in Python with Simulation.resume"), ({"studio": True}, "with slopewash studio --keep")):
        simulation.checkpoint(tmp_path / "k", recipe=kept)
        done = run(*words_of(ground, tmp_path / "other.npz", "--checkpoint", tmp_path / "k"))
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert f"continue it {remedy}" in done.err


def test_a_run_is_resumed_on_the_gpu_that_is_named(ground: Path, unfinished: Path, tmp_path: Path, run: Run) -> None:
    done = run("resume", unfinished, "--adapter", "x")
    assert (done.code, done.err) == (
        2, "slopewash: --adapter is x; the run is on backend reference, which has none; leave it out\n"
    )  # fmt: skip
    simulation = sw.Simulation(sw.generate("cone", size=16), sw.VirtualPipes(), backend="gpu")
    simulation.checkpoint(tmp_path / "gpu")
    try:
        assert (
            "no adapter's name contains 'no such card'"
            in run("resume", tmp_path / "gpu", "--adapter", "no such card").err
        )
    finally:
        sw.use_adapter(None)


def test_a_new_run_replaces_the_checkpoints_of_a_finished_one(
    ground: Path, unfinished: Path, tmp_path: Path, run: Run, interrupt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("resume", unfinished).code == 0
    interrupt(signal.SIGINT, after=20)
    assert run(*words_of(ground, tmp_path / "b.npz", "--checkpoint", unfinished)).code == 130
    monkeypatch.undo()
    assert sorted(path.name for path in unfinished.glob("step-*")) == ["step-000000", "step-000020"]


@pytest.mark.parametrize("state", ["missing", "empty", "unfinished"])
def test_the_job_script_of_the_docs_starts_or_continues_a_run(
    state: str, ground: Path, tmp_path: Path, run: Run, interrupt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ground, tmp_path / "raw.exr")
    if state == "empty":
        (tmp_path / "run.ckpt").mkdir()  # killed before the first checkpoint was whole
    if state == "unfinished":
        interrupt(signal.SIGINT, after=100)
        words = words_of(tmp_path / "raw.exr", tmp_path / "eroded.exr", "--checkpoint", tmp_path / "run.ckpt")
        assert run(*words).code == 130
        monkeypatch.undo()
        (tmp_path / "eroded.exr").unlink()
    docs = (Path(__file__).parents[2] / "docs/checkpoints.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```\n(if .*?fi)\n```", docs, re.DOTALL)
    quick = script.replace(" -o ", f" --preset single_grid --backend reference --steps {STEPS} --seed 2 -o ")
    named = f'slopewash() {{ {sys.executable} -m slopewash "$@"; }}\n{quick}'
    subprocess.run(["sh", "-c", named], cwd=tmp_path, check=True, timeout=120)
    np.testing.assert_array_equal(
        sw.read(tmp_path / "eroded.exr")["elevation"], sw.read(ground.with_name("whole.npz"))["elevation"]
    )


def test_a_run_that_is_killed_before_its_first_interval_starts_again(ground: Path, tmp_path: Path, run: Run) -> None:
    """Its first checkpoint is written before the first step."""
    recipe = sw.Recipe(
        source=sw.FromFile(path=ground), stages=(sw.Stage.of("single_grid", steps=STEPS),), seed=2, backend="reference",
        outputs=(sw.Output(tmp_path / "out.npz"),),
    )  # fmt: skip
    running = sw.Running(recipe, checkpoint=tmp_path / "run.ckpt")

    def die(simulation: sw.Simulation) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        running.run(die)
    assert sw.newest_manifest(tmp_path / "run.ckpt")["step"] == 0  # type: ignore[index]
    assert run("resume", tmp_path / "run.ckpt").code == 0
    assert_whole(ground, tmp_path / "out.npz")


def test_an_output_folder_that_is_gone_is_reported_before_the_run_continues(
    ground: Path, unfinished: Path, tmp_path: Path, run: Run
) -> None:
    shutil.rmtree(tmp_path / "out")
    done = run("resume", unfinished)
    assert done.code == 2
    assert f"there is no folder {tmp_path / 'out'}; create it first\n" in done.err
    assert run("info", unfinished, "--json").json["step"] == 100
    (tmp_path / "out").mkdir()
    assert run("resume", unfinished).code == 0
    assert_whole(ground, tmp_path / "out" / "out.npz")


def test_info_shows_how_far_a_run_is(unfinished: Path, tmp_path: Path, run: Run) -> None:
    facts = run("info", unfinished, "--json").json
    assert facts["model"] == "virtual_pipes"
    assert facts["preset"] == "single_grid"
    assert (facts["step"], facts["steps_wanted"], facts["settling_steps_wanted"]) == (100, STEPS, SETTLING)
    assert (facts["width"], facts["height"], facts["finished"]) == (24, 24, False)
    assert facts["outputs"] == [str(tmp_path / "out" / "out.npz")]
    words = run("info", unfinished).out
    assert "steps                100 of 400" in words
    assert "settling             0 of 60" in words


def test_info_counts_the_receding_flood_apart(ground: Path, tmp_path: Path, run: Run) -> None:
    words = ("--preset", "landscape", "--backend", "reference", "--strength", 0.01, "--checkpoint", tmp_path / "ckpt")
    assert run("erode", ground, "-o", tmp_path / "out.npz", *words).code == 0
    facts = run("info", tmp_path / "ckpt", "--json").json
    assert facts["finished"]
    assert facts["step"] == facts["steps_wanted"]
    assert facts["receding_steps"] == facts["receding_steps_wanted"] == 24  # one for each cell along a side
    shown = run("info", tmp_path / "ckpt").out
    assert f"steps                {facts['step']} of {facts['step']}\n" in shown
    assert "receding             24 of 24\n" in shown


def test_one_of_the_checkpoints_can_be_named_too(ground: Path, unfinished: Path, tmp_path: Path, run: Run) -> None:
    assert run("info", unfinished / "step-000100", "--json").json["step"] == 100
    assert run("resume", unfinished / "step-000000").code == 0
    assert_whole(ground, tmp_path / "out" / "out.npz")
    assert run("info", unfinished, "--json").json["finished"]


@pytest.mark.parametrize("command", ["resume", "info"])
def test_a_folder_without_checkpoints_is_refused_in_one_sentence(command: str, tmp_path: Path, run: Run) -> None:
    done = run(command, tmp_path)
    assert done.code == 2
    assert "holds no checkpoint" in done.err
    assert done.err.count("\n") == 1


def test_a_missing_folder_is_refused_in_one_sentence(tmp_path: Path, run: Run) -> None:
    done = run("resume", tmp_path / "gone")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "does not exist" in done.err


def test_checkpoints_of_other_programs_are_refused_in_one_sentence(tmp_path: Path, run: Run) -> None:
    simulation = sw.Simulation(sw.generate("cone", size=16), sw.VirtualPipes(), backend="reference")
    for kept, sentence in (({}, "continue in Python"), ({"studio": True}, "slopewash studio --keep")):
        simulation.checkpoint(tmp_path, recipe=kept)
        done = run("resume", tmp_path)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert sentence in done.err


def test_checkpoints_every_0_steps_are_refused(ground: Path, unfinished: Path, tmp_path: Path, run: Run) -> None:
    erode = words_of(ground, tmp_path / "out.npz", "--checkpoint", tmp_path / "new.ckpt", "--every", 0)
    for words in (erode, ["resume", str(unfinished), "--every", "0"]):
        done = run(*words)
        assert (done.code, done.err) == (2, "slopewash: every is 0; it must be 1 or more\n")


def test_a_folder_that_cannot_be_made_is_refused_before_the_first_step(ground: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "file").touch()
    done = run(*words_of(ground, tmp_path / "out.npz", "--checkpoint", tmp_path / "file" / "run.ckpt"))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot write a checkpoint to" in done.err
    assert not (tmp_path / "out.npz").exists()


def test_a_disk_that_fills_up_is_noted_and_the_run_goes_on(
    ground: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush, before = os.fsync, sw.Progress.observe

    def fill(self: sw.Progress, simulation: sw.Simulation) -> None:
        def full(handle: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full if 150 <= simulation.step < 250 else flush)
        before(self, simulation)

    monkeypatch.setattr(sw.Progress, "observe", fill)
    done = run(*words_of(ground, tmp_path / "out.npz", "--checkpoint", tmp_path / "run.ckpt", "--every", 100))
    assert done.code == 0
    assert done.err.count("No space left on device") == 1
    assert "the checkpoints before it are intact" in done.err
    assert "the run goes on" in done.err
    assert_whole(ground, tmp_path / "out.npz")
    assert run("info", tmp_path / "run.ckpt", "--json").json["finished"]


def test_help_explains_checkpoints(run: Run) -> None:
    assert "--checkpoint run.ckpt" in run("erode", "--help").out
    words = run("resume", "--help").out
    assert "bit-identical" in words
    assert "143" in words


def test_info_shows_the_level_that_a_run_from_coarse_to_fine_has_reached(tmp_path: Path, run: Run) -> None:
    raw = sw.write(sw.generate("dome", size=100), tmp_path / "raw.exr")
    words = ("erode", raw, "-o", tmp_path / "out.exr", "--strength", 0.02, "--checkpoint", tmp_path / "run.ckpt")
    assert run(*words).code == 0
    shown = run("info", tmp_path / "run.ckpt")
    assert shown.code == 0
    assert re.search(r"level +2 of 2", shown.out)
    assert re.search(r"finished +yes", shown.out)
    assert run("info", tmp_path / "none.ckpt").err.endswith("none.ckpt does not exist\n")
