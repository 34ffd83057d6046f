"""Who runs the tasks: this process, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, Protocol

from slopewash.errors import BackendUnavailable, SlopewashError
from slopewash.interrupts import whole_steps
from slopewash.tiles.guard import check_guarded
from slopewash.tiles.turns import TASKS, in_turn

if TYPE_CHECKING:
    from distributed import Client

MOST_DEATHS = 12
"""Times that a tile may lose its worker before the run gives up: then the tile itself is the reason."""
SETTINGS = {
    # A task that kills its worker counts by `MOST_DEATHS`; Dask would give up after three.
    "distributed.scheduler.allowed-failures": MOST_DEATHS,
    # A killed worker is started again, which may take long on a busy machine; Dask would forget it after 15 seconds.
    "distributed.deploy.lost-worker-timeout": "10 minutes",
    # After which a worker that does not answer loses its tile to another.
    "distributed.scheduler.worker-ttl": "5 minutes",
    "distributed.logging.distributed": "critical",
}
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40), "MALLOC_ARENA_MAX": "1"}
"""Lets a process keep what it frees: every task needs as much again, and fresh pages cost as much as the copying."""
QUIET = 15.0
"""Seconds without a result after which that is said, where the tiles before took less than a third of it."""
STARTING = 90.0
"""The same for the first tiles of a kind, for which workers may compile kernels."""
CONNECTING = 10
"""Seconds to wait for a scheduler."""


class Executor(Protocol):
    """Runs tasks in any order, each at least once, and yields each result with the task's number."""

    @property
    def workers(self) -> int:
        """Tasks that run at the same time."""

    def run(self, task: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Run one task for each tuple of arguments."""


class InProcess:
    """Runs tasks one after another."""

    workers = 1

    def run(self, task: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Run one task for each tuple of arguments."""
        for number, arguments in enumerate(calls):
            yield number, in_turn(task, *arguments)


LOST = "the scheduler was lost, but nothing of what is done; continue with slopewash resume"


class OnCluster:
    """Runs tasks on the workers of a Dask cluster; a worker that is lost costs the task that it was at."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.say: Callable[[str], None] = lambda text: None
        """Where to say that it waits."""
        self._longest: dict[str, float] = {}

    @property
    def workers(self) -> int:
        """Tasks that run at the same time."""
        return max(1, len(self.client.scheduler_info()["workers"]))

    @property
    def dashboard(self) -> str:
        """Address of the page that shows the tasks."""
        return str(self.client.dashboard_link or "")

    def run(self, task: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Run one task for each tuple of arguments, and again where its worker was lost."""
        from distributed import KilledWorker, as_completed

        futures = {self._submit(task, arguments): number for number, arguments in enumerate(calls)}
        deaths = [0] * len(calls)
        waiting: Any = as_completed(list(futures))  # type: ignore[no-untyped-call]
        name = getattr(task, "__name__", "")
        silence = Silence(self.say, self._longest.get(name))
        try:
            for future in waiting:
                silence.broken()
                number = futures.pop(future)
                lost = future.status in ("cancelled", "lost")
                if lost and not self._is_connected:
                    raise BackendUnavailable(LOST)
                # A worker may also be killed when it has the result and nobody has taken it yet.
                if lost or (future.status == "error" and isinstance(future.exception(), KilledWorker)):
                    deaths[number] += 1
                    if deaths[number] >= MOST_DEATHS:
                        raise BackendUnavailable(
                            f"tile {number} has lost its worker {deaths[number]} times over; it likely needs more "
                            "memory than a worker has, so take smaller tiles or fewer workers, and resume"
                        )
                    again = self._submit(task, calls[number])
                    futures[again] = number
                    waiting.add(again)
                    continue
                yield number, future.result()
                future.release()
        finally:
            silence.close()
            if not silence.said:
                self._longest[name] = silence.longest
            for future in futures:
                future.release()

    @property
    def _is_connected(self) -> bool:
        return self.client.status == "running" and self.client.scheduler_comm is not None

    def _submit(self, task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        name = getattr(task, "__name__", "task")  # which the dashboard shows
        return self.client.submit(in_turn, task, *arguments, key=f"{name}-{secrets.token_hex(16)}", pure=False)


class Silence:
    """Says once that no tile has come back for long: a worker that is stopped or cut off makes no noise of its own."""

    def __init__(self, say: Callable[[str], None], longest: float | None) -> None:
        self._say, self._last = say, time.monotonic()
        self.longest = longest or 0.0
        """Seconds that passed without a tile before, when nothing was wrong."""
        self._patience = STARTING if longest is None else QUIET
        self.said = False
        self._over = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def broken(self) -> None:
        """A tile has come back."""
        now = time.monotonic()
        self.longest, self._last = max(self.longest, now - self._last), now

    def close(self) -> None:
        """Nothing is waited for any more."""
        self._over.set()

    def _listen(self) -> None:
        while not self._over.wait(0.5):
            quiet = time.monotonic() - self._last
            if quiet > max(self._patience, 3 * self.longest):
                self.said = True
                self._say(
                    f"no tile has come back for {quiet:.0f} s: a worker may be stopped or cut off; the run waits, "
                    "gives its tile to another after five minutes, and Ctrl-C keeps what is done so far"
                )
                return


@contextmanager
def connected(
    *,
    client: Client | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[OnCluster]:
    """Tasks on a client's cluster, on a scheduler by its address, or on a cluster of this machine."""
    count = workers or os.cpu_count() or 1
    if not all(map(find_spec, ("dask", "distributed"))):  # which take a second to import
        raise BackendUnavailable('tiles need the tiles extra: pip install "slopewash[tiles]"')
    if client is None and scheduler is None:
        check_guarded()
        say(f"starting {count} worker{'s' * (count > 1)}; Ctrl-C ends the run once they are there")
    import dask
    import distributed as _distributed

    distributed: Any = _distributed  # which has no types
    if client is not None:
        yield OnCluster(client)
        return
    with dask.config.set(SETTINGS):
        if scheduler is not None:
            try:
                connection = distributed.Client(scheduler, timeout=CONNECTING)
            except (OSError, TimeoutError) as error:
                raise BackendUnavailable(
                    f"no scheduler answers at {scheduler}; start one with `dask scheduler`, or leave --scheduler out"
                ) from error
            try:
                with connection:
                    yield OnCluster(connection)
            except (OSError, TimeoutError) as error:
                if isinstance(error, SlopewashError):
                    raise
                raise BackendUnavailable(LOST) from error
            return
        threads = os.environ.get("NUMBA_NUM_THREADS") or str(max(1, (os.cpu_count() or 1) // count))
        environment = {
            # Before the processes start: memory is managed from their first moment on. Dask sets these here, too.
            "distributed.nanny.pre-spawn-environ": KEEP_MEMORY,
            # In the workers alone: Numba refuses to go on where this changes after it has begun. One thread for Dask
            # in each, because Numba's threads serve one caller at a time.
            "distributed.nanny.environ": dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), threads),
        }
        with dask.config.set(environment), ExitStack() as opened:
            with whole_steps(), _deaf_children():  # an interrupt finds the cluster whole, and closes it
                cluster = opened.enter_context(distributed.LocalCluster(
                    n_workers=count, threads_per_worker=TASKS, processes=True, memory_limit=0,
                    dashboard_address="127.0.0.1:0", silence_logs="CRITICAL", preload=["slopewash.tiles.worker"],
                ))  # fmt: skip
                connection = opened.enter_context(distributed.Client(cluster))
            yield OnCluster(connection)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let threads and processes that start meanwhile never hear of Ctrl-C, which a terminal sends to all of them.

    A worker that is interrupted before it runs code of ours prints a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would let its thread hear again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
