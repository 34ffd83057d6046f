"""Ctrl-C while the command is still being loaded, or writes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slopewash.cli.console import interrupts_report
from slopewash.errors import InvalidFile
from slopewash.interrupts import whole_steps

INTERRUPTED = """
import os, signal, sys

def interrupt_at_import(event, details):
    if event == "import" and details[0] == {module!r}:
        os.kill(os.getpid(), signal.SIGINT)

from slopewash.cli import main

sys.addaudithook(interrupt_at_import)
sys.exit(main([{words}]))
"""
"""A command that gets Ctrl-C at the moment it begins to import a module."""


@pytest.mark.parametrize("module", ["slopewash.cli.app", "cyclopts", "slopewash.cli.doctor", "numpy", "numba"])
def test_ctrl_c_while_a_module_is_imported_ends_quietly(module: str, tmp_path: Path) -> None:
    script = INTERRUPTED.format(module=module, words="'bench', '--size', '8', '--steps', '1'")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("modules", [0, 20, 40, 80, 150])
def test_ctrl_c_at_an_early_moment_ends_quietly(modules: int, tmp_path: Path) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "slopewash", "bench"]  # which lasts for seconds
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stderr is not None
        try:
            while "cyclopts" not in process.stderr.readline():  # the first that the command itself imports
                assert process.poll() is None
            for _ in range(modules):
                process.stderr.readline()
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert rest.endswith("interrupted\n")
    assert "Traceback" not in rest


def test_a_command_that_may_not_be_interrupted_goes_on(tmp_path: Path) -> None:
    """Shells start background commands with Ctrl-C ignored."""
    script = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)" + INTERRUPTED.format(
        module="cyclopts", words="'--version'"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_failure_is_reported_even_where_ctrl_c_came_meanwhile(capsys: pytest.CaptureFixture[str]) -> None:
    def write() -> None:
        signal.raise_signal(signal.SIGINT)
        raise InvalidFile("out.exr: no space left")

    with pytest.raises(KeyboardInterrupt), interrupts_report([]), whole_steps():
        write()
    assert "no space left" in capsys.readouterr().err
