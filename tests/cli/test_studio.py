"""`slopewash studio` as a user starts and ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import slopewash as sw

Run = Callable[..., Any]
Start = Callable[..., "subprocess.Popen[str]"]
OPENED = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the studio; what a failed test leaves running is ended."""
    started: list[subprocess.Popen[str]] = []

    def start_one(*words: object) -> subprocess.Popen[str]:
        here = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
        command = [sys.executable, "-m", "slopewash", "studio", "--no-browser", *map(str, words)]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=here))
        return started[-1]

    yield start_one
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if "http://" in line:
            return line.split()[-1]
    pytest.fail("no address was printed")


def test_it_prints_its_address_and_ctrl_c_ends_it(start: Start, raw: Path) -> None:
    process = start(raw, "--backend", "reference", "--port", 0)
    url = url_of(process)
    assert url.startswith("http://127.0.0.1:")
    assert httpx.get(url, headers=OPENED, timeout=60).status_code == 303
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in err


def test_listening_everywhere_prints_a_reachable_address_and_warns(start: Start, raw: Path) -> None:
    process = start(raw, "--backend", "reference", "--port", 0, "--host", "0.0.0.0")
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert lines[0].startswith("slopewash studio: http://127.0.0.1:")
    assert lines[1].startswith("from other machines: http://")
    assert lines[1].partition("token=")[2] == lines[0].partition("token=")[2]
    assert lines[2].startswith("note: plain HTTP is not encrypted")


def test_ctrl_c_ends_it_while_it_runs_and_a_page_is_open(start: Start) -> None:
    from websockets.sync.client import connect
    from websockets.typing import Origin

    process = start("--size", 48, "--backend", "reference", "--port", 0)
    url = url_of(process)
    address = url.partition("/?")[0]
    cookie = httpx.get(url, headers=OPENED, timeout=60).headers["set-cookie"].partition(";")[0]
    where = address.replace("http", "ws") + "/ws"
    with connect(where, origin=Origin(address), additional_headers={"Cookie": cookie}, max_size=None) as socket:
        socket.send('{"type": "play"}')
        socket.recv(timeout=60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in err


def test_a_preset_named_beside_its_model_reports_that_its_parameters_count(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sw, "studio", lambda source, **options: None)
    done = run("studio", "--preset", "mei2007", "--model", "VirtualPipes")
    assert done.err.startswith("note: the parameters are those of preset mei2007")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("no-such-file.exr",), "no-such-file.exr does not exist"),
        (("--preset", "landscap"), 'did you mean "landscape"'),
        (("--model", "pipes"), "unknown model"),
        (("--size", 4), "size is 4; the studio takes 16 .. 2048"),
        (("--size", 4096), "size is 4096"),
        (("--extent", -5), "extent is -5.0 m; it must be positive"),
        (("--backend", "abacus"), "unknown backend"),
        (("--port", 99999), "cannot listen on 127.0.0.1:99999"),
        (("--host", "192.0.2.1"), "cannot listen on 192.0.2.1"),
        (("--model", "virtual_pipes", "--preset", "chiba_fig2"), "name one only"),
    ],
)
def test_bad_words_are_reported_in_one_sentence(run: Run, words: tuple[object, ...], sentence: str) -> None:
    done = run("studio", "--no-browser", *words)
    assert done.code == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_without_the_extra_it_reports_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "starlette.py").write_text("raise ImportError('no starlette here')\n")
    here = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-m", "slopewash", "studio"]
    done = subprocess.run(command, capture_output=True, text=True, env=here, timeout=120, check=False)
    assert done.returncode == 2
    assert 'pip install "slopewash[studio]"' in done.stderr


def test_without_the_built_page_it_reports_how_to_build_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from slopewash.studio import StudioServer, built_page

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # leave the user's own files alone
    monkeypatch.setattr(built_page, "INDEX", Path("nowhere"))
    monkeypatch.setattr(StudioServer, "run", lambda self, ready=None: (self._socket.close(), self._close_apart()))
    done = run("studio", "--no-browser", "--size", 32, "--backend", "reference", "--port", 0)
    assert done.code == 0
    assert "pip install ." in done.err
    assert "npm ci && npm run build" in done.err
