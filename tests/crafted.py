"""Runs crafted files in a place with canaries around it, and measures what each one costs.

A helper process imports slopewash once and forks for every attack, so that hundreds take seconds. In the fork an audit
hook notes whatever Python does to files outside the working folder: opening, listing, writing, renaming, removing.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import secrets
import select
import signal
import stat
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slopewash.errors import is_steering

SECONDS = 10.0
"""Longest CPU time of an answer; the machine may be busy, so the clock on the wall gets more."""
PATIENCE = 60.0
MEMORY = 512 << 20
LARGEST_FILE = 256 << 20
ROOT = Path(__file__).parents[1]
LOG, GUARDED = "CRAFTED_LOG", "CRAFTED_GUARDED"
REMOVING = ("os.remove", "os.rmdir", "os.rename", "os.symlink", "os.link")
"""Events about names and not about what links lead to."""
WATCHED = (
    "open", "os.listdir", "os.scandir", "os.mkdir", "os.chmod", "os.chown", "os.truncate", "os.utime", "os.mknod",
    "shutil.rmtree", "shutil.copyfile", "shutil.move", *REMOVING,
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What an attack got."""

    code: int
    """Exit code; negative for a signal."""
    out: str
    err: str
    seconds: float
    """Of CPU."""
    memory: int
    """Largest resident size in bytes."""
    touched: tuple[str, ...]
    """What was done to files outside."""


class Place:
    """A working folder for one attack, and beside it a home that nothing may touch."""

    def __init__(self, folder: Path, helper: Helper) -> None:
        self.work, self.home = folder / "work", folder / "home"
        self._helper = helper
        self.token = f"CANARY{secrets.token_hex(12)}"
        (self.home / "precious").mkdir(parents=True)
        self.work.mkdir()
        for name in ("canary", "canary.toml", "canary.json", "precious/dem.exr", "precious/keep.npy"):
            (self.home / name).write_text(f'{self.token} = "{self.token}"\n', encoding="utf-8")
        os.mkfifo(self.home / "pipe")  # whoever reads it waits for ever
        self._before = self._look()

    def run(self, *words: object) -> Answer:
        """Run a command of slopewash in the working folder."""
        return self.call("slopewash.cli:main", [str(word) for word in words])

    def call(self, function: str, *arguments: Any) -> Answer:
        """Call `module:function` with what JSON can hold in the working folder."""
        return self._helper.ask(function, arguments, self.work, self.home)

    def check(self, answer: Answer, *, refused: bool | None = None) -> None:
        """Nothing outside was touched or shown, and the answer was quick, small and one sentence."""
        assert answer.touched == (), answer
        assert self._look() == self._before, answer
        assert self.token not in answer.out + answer.err, answer
        for file in self.work.rglob("*"):
            found = file.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_blocks * 512 <= LARGEST_FILE >= found.st_size:
                assert self.token.encode() not in file.read_bytes(), file
        assert answer.code in (0, 2), answer
        assert "Traceback" not in answer.err, answer
        assert not any(is_steering(c) for c in answer.out + answer.err if c not in "\n\t\r"), answer
        if refused is not None:
            assert (answer.code == 2) == refused, answer
        if answer.code == 2:
            said = [line for line in answer.err.splitlines() if line.startswith("slopewash: ")]
            assert len(said) == 1, answer
            assert len(said[0]) < 1000, answer
        assert answer.seconds <= SECONDS, answer
        assert answer.memory <= MEMORY, answer

    def _look(self) -> dict[str, tuple[Any, ...]]:
        seen = {}
        for place in sorted(self.home.rglob("*")):
            found = place.lstat()
            whole = hashlib.sha256(place.read_bytes()).hexdigest() if stat.S_ISREG(found.st_mode) else ""
            seen[str(place.relative_to(self.home))] = (found.st_mode, found.st_size, found.st_mtime_ns, whole)
        return seen


class Helper:
    """The process that forks; start it once for a session."""

    def __init__(self, folder: Path) -> None:
        (folder / "sitecustomize.py").write_text(
            "import importlib.util\n"
            f"spec = importlib.util.spec_from_file_location('crafted', {str(Path(__file__))!r})\n"
            "crafted = importlib.util.module_from_spec(spec)\n"
            "import sys; sys.modules['crafted'] = crafted; spec.loader.exec_module(crafted)\n"
            "crafted.watch()\n",
            encoding="utf-8",
        )
        self._folder = folder
        where = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        variables = {**os.environ, "PYTHONPATH": where, "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
            env=variables,
        )  # fmt: skip

    def ask(self, function: str, arguments: tuple[Any, ...], work: Path, home: Path) -> Answer:
        """Let it fork for one call."""
        streams = self._process.stdin, self._process.stdout
        assert streams[0] is not None
        assert streams[1] is not None
        asked = {"function": function, "arguments": arguments, "work": str(work), "home": str(home)}
        print(json.dumps(asked | {"notes": str(self._folder)}), file=streams[0], flush=True)
        answer = json.loads(streams[1].readline())
        return Answer(**{**answer, "touched": tuple(answer["touched"])})

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()


def check_project(file: str, folder: str) -> int:
    """Do what the child process does that checks a project, and answer as the command line does."""
    from slopewash.errors import SlopewashError
    from slopewash.studio import foreign

    try:
        foreign.check(Path(file), Path(folder))
    except SlopewashError as error:
        print(f"slopewash: {error}", file=sys.stderr)
        return 2
    return 0


def open_project(file: str) -> int:
    """Open a project as the studio does, in a child process, and answer as the command line does."""
    from slopewash.errors import SlopewashError
    from slopewash.seals import secret
    from slopewash.studio.projects import read_project

    try:
        read_project(Path(file), file, secret())
    except SlopewashError as error:
        print(f"slopewash: {error}", file=sys.stderr)
        return 2
    return 0


def watch() -> None:
    """Note what is done to files in the guarded folder, here and in all child processes that are Python."""
    if LOG in os.environ:
        sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    guarded, log = os.environ.get(GUARDED), os.environ.get(LOG)
    if event not in WATCHED or guarded is None or log is None:
        return
    for name in arguments[:2] if event in ("os.rename", "os.link", "shutil.move", "shutil.copyfile") else arguments[:1]:
        if not isinstance(name, str | bytes | os.PathLike):
            continue
        path = Path.cwd() / os.fsdecode(name)
        try:
            real = path.parent.resolve() / path.name if event in REMOVING else path.resolve()
        except (OSError, RuntimeError):  # a link that leads to itself
            continue
        if real.is_relative_to(guarded):
            handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.write(handle, f"{event} {real}\n".encode(errors="replace"))
            os.close(handle)


def serve() -> None:
    """Answer requests until there are no more."""
    for module in (
        "slopewash.cli",
        "slopewash.tiles.api",
        "slopewash.studio.foreign",
        "zarr",
        "numba",
        "scipy.ndimage",
    ):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    for number, line in enumerate(sys.stdin):
        print(json.dumps(_fork(json.loads(line), number)), flush=True)


def _fork(asked: dict[str, Any], number: int) -> dict[str, Any]:
    notes = Path(asked["notes"])
    out, err, log = (notes / f"{number}.{kind}" for kind in ("out", "err", "log"))
    child = os.fork()
    if child == 0:
        _act(asked, out, err, log)
    code, usage = _wait(child)
    touched = log.read_text().splitlines() if log.exists() else []
    answer = {
        "code": code, "out": out.read_text(errors="replace"), "err": err.read_text(errors="replace"),
        "seconds": usage.ru_utime + usage.ru_stime, "touched": touched,
        "memory": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    }  # fmt: skip
    for file in (out, err, log):
        file.unlink(missing_ok=True)
    return answer


def _act(asked: dict[str, Any], out: Path, err: Path, log: Path) -> None:
    code = 1
    try:
        os.setsid()
        os.chdir(asked["work"])
        for number, file in ((1, out), (2, err)):
            os.dup2(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), number)
        _limit()
        os.environ[LOG], os.environ[GUARDED] = str(log), os.path.realpath(asked["home"])
        watch()
        module, _, name = asked["function"].partition(":")
        code = int(getattr(importlib.import_module(module), name)(*asked["arguments"]) or 0)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _limit() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CPU, (int(2 * SECONDS), int(2 * SECONDS) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # where the size can be known: much more than the limit is refused
        here = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (here + 3 * MEMORY, here + 3 * MEMORY))


def _wait(child: int) -> tuple[int, Any]:
    until = time.monotonic() + PATIENCE
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), usage
        if time.monotonic() > until:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            return os.waitstatus_to_exitcode(status), usage
        select.select([], [], [], 0.005)


@contextlib.contextmanager
def helper(folder: Path) -> Iterator[Helper]:
    """A helper for a while."""
    started = Helper(folder)
    try:
        yield started
    finally:
        started.close()


if __name__ == "__main__":
    serve()
