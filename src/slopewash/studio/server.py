"""The web server: in the foreground for the command line, in a thread for notebooks."""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import uvicorn

import slopewash as sw
from slopewash import seals
from slopewash.errors import InvalidParameter
from slopewash.studio import finish_files, messages
from slopewash.studio.apart import SessionApart
from slopewash.studio.app import Studio
from slopewash.studio.keeping import Keeper
from slopewash.studio.patience import ImpatientProtocol
from slopewash.studio.projects import Project
from slopewash.studio.security import EVERYWHERE, Gate
from slopewash.studio.session import Session
from slopewash.studio.uploads import Uploads

PORT = 8420
NEXT_PORTS = 20
"""Number of ports to try if none is named."""


class StudioServer:
    """One session behind one port.

    Parameters
    ----------
    recipe
        What to run first; None continues the run that the keeper has.
    host, port
        Where to listen; port 0 is any free one, None the first free one from 8420.
    embedded
        Whether a notebook on this machine may show the page in a frame.
    simulation
        A run to show instead of a new one.
    allowed_hosts
        Additional host names of the page, with the port if it is not the default, such as that of an HTTPS proxy in
        front of it.
    keeper
        Keeps the run on disk.
    apart
        Whether the run has a process of its own, which may crash without the server.
    """

    def __init__(
        self,
        recipe: sw.Recipe | None,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        embedded: bool = False,
        simulation: sw.Simulation | None = None,
        upload_limit: int | None = None,
        allowed_hosts: Sequence[str] = (),
        keeper: Keeper | None = None,
        apart: bool = False,
    ) -> None:
        _check_hosts(allowed_hosts)
        # Idle kernel threads would keep the cores busy that pages and frames need. OpenMP reads this
        # when the first kernel runs; a value set by the user stays.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        uploads = Uploads() if upload_limit is None else Uploads(upload_limit)
        self._uploads = uploads
        self.session: Any  # both offer the same to the server, and callers know which one they asked for
        if apart and simulation is None:
            self.session = SessionApart(recipe, uploads, keeper=keeper)
        else:
            self.session = Session(recipe, uploads, simulation, keeper=keeper)
        try:
            self._socket = _listen(host, port)
        except InvalidParameter:
            self._close_apart()
            raise
        self.host, self.port = host, int(self._socket.getsockname()[1])
        finishes = None if keeper is None else keeper.folder / finish_files.FOLDER
        trust = keeper is not None and keeper.trust
        self.studio = Studio(self.session, uploads, seals.secret(), finishes, trust=trust)
        self.gate = Gate(self.studio.app(), host=host, port=self.port, embedded=embedded, allowed=allowed_hosts)
        config = uvicorn.Config(
            self.gate,
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="on",
            ws="websockets-sansio",
            ws_max_size=messages.LARGEST_MESSAGE,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=5,
            limit_concurrency=256,
            http=ImpatientProtocol,
        )
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Address without the access key."""
        host = "127.0.0.1" if self.host in EVERYWHERE else f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return self.host in ("127.0.0.1", "localhost", "::1")

    @property
    def reachable(self) -> str | None:
        """Address with the access key for other machines, where it listens on more than this one."""
        if self.host not in EVERYWHERE:
            return None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing; the system chooses the address it would send from
                own = probe.getsockname()[0]
            except OSError:
                own = socket.gethostname()
        return f"http://{own}:{self.port}/?token={self.gate.token}"

    @property
    def url(self) -> str:
        """Address with the access key."""
        return f"{self.address}/?token={self.gate.token}"

    @property
    def running(self) -> bool:
        """Whether the thread of `start` is still running."""
        return self._thread is not None and self._thread.is_alive()

    def run(self, ready: Callable[[], None] | None = None) -> None:
        """Serve until Ctrl-C."""
        if ready is not None:
            threading.Thread(target=self._when_up, args=(ready,), daemon=True).start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self._close_apart()

    def open_project(self, project: Project) -> Future[Any]:
        """Show the run of a project as soon as the server is up; pages are notified if that fails."""
        opening = messages.Open(type="open", upload=self._uploads.keep_project(project))
        answer: Future[Any] = self.session.execute(opening)
        answer.add_done_callback(self._report_failure)
        return answer

    def _report_failure(self, answer: Future[Any]) -> None:
        if not answer.cancelled() and (error := answer.exception()) is not None:
            self.session.on_message({"type": "error", "message": f"The project was not opened: {error}."})

    def _close_apart(self) -> None:
        """End the process of the run, also if the server did not get as far as serving."""
        if isinstance(self.session, SessionApart):
            self.session.close()

    def start(self) -> StudioServer:
        """Serve in a separate thread; return when it accepts requests."""
        if self.running:
            return self
        self._thread = threading.Thread(target=self.run, name="slopewash-studio", daemon=True)
        self._thread.start()
        self._when_up(lambda: None)
        return self

    def stop(self) -> None:
        """Stop the thread of `start`."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def open_browser(self) -> None:
        """Open the page in the browser."""
        webbrowser.open(f"{self.address}/?token={self.gate.token_for_once()}")

    def _when_up(self, call: Callable[[], None]) -> None:
        while not self._server.started and not self._server.should_exit:
            threading.Event().wait(0.02)
        call()

    def __enter__(self) -> StudioServer:
        return self.start()

    def __exit__(self, *error: Any) -> None:
        self.stop()


def _check_hosts(names: Sequence[str]) -> None:
    for name in [names] if isinstance(names, str) else names:
        if isinstance(names, str) or not name or "/" in name:
            raise InvalidParameter(
                f"allowed host {name!r} is not one of a list of names, such as studio.example.org or example.org:8443"
            )


def _listen(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = range(PORT, PORT + NEXT_PORTS) if port is None else [port]
    problem = "no port to try"
    for number in wanted:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(128)  # from here on, connections wait instead of being refused
            return listener
        except (OSError, OverflowError) as error:
            listener.close()
            problem = getattr(error, "strerror", None) or str(error)
    where = f"{host}:{port}" if port is not None else f"{host}, ports {wanted[0]} .. {wanted[-1]}"
    raise InvalidParameter(f"cannot listen on {where}: {problem}; name a free one with --port")
