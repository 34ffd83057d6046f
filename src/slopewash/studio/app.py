"""Routes: the page, the socket, uploads, exports and the script."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

import slopewash as sw
from slopewash.errors import InvalidParameter, SlopewashError
from slopewash.studio import built_page, protocol
from slopewash.studio.apart import SessionApart
from slopewash.studio.catalogue import FORMATS, MESHES, welcome
from slopewash.studio.connection import Connection
from slopewash.studio.finish_files import PREVIEW_FILE
from slopewash.studio.finishing import Finishing
from slopewash.studio.hub import Hub
from slopewash.studio.projects import SUFFIX, write_project
from slopewash.studio.rivers import rivers_frame
from slopewash.studio.session import Session
from slopewash.studio.uploads import Stalled, TooLarge, Uploads, clean_name, plausible_extent

Wanted = Literal["height_range", "allow_8bit", "nodata"] | None

MOST_TRANSFERS = 2
"""Uploads at a time, and as many exports: uploads that stall keep nobody from saving."""

MOST_SIDE_FILES = 8
BLOCK = 1 << 20
"""Bytes of a result that are read at a time."""


class Studio:
    """The routes of one session."""

    def __init__(
        self,
        session: Session | SessionApart,
        uploads: Uploads,
        secret: bytes | None = None,
        finishes: Path | None = None,
        *,
        trust: bool = False,
    ) -> None:
        self.session = session
        self._secret = secret or secrets.token_bytes(32)
        """What projects are sealed with; without one of the user's own, for this server only."""
        self._uploads = uploads
        self.finishing = Finishing(session, uploads, self._secret, finishes, trust=trust)
        self.hub = Hub(session, self.finishing)
        self._welcome = json.dumps(welcome(resumed=session.resumed), allow_nan=False)
        self._uploading, self._exporting = asyncio.Semaphore(MOST_TRANSFERS), asyncio.Semaphore(MOST_TRANSFERS)
        self._inspecting, self._watering = asyncio.Semaphore(1), asyncio.Semaphore(1)
        """Questions wait for each other: a run stands still for each."""
        self._side_files: dict[tuple[str, str], bytes] = {}
        """Size and height range of files that hold values only, by route and name."""

    def app(self) -> Starlette:
        """The application, without access control."""
        routes: list[Any] = [
            Route("/", self.index),
            Route("/health", self.health),
            Route("/script", self.script),
            Route("/recipe", self.recipe),
            Route("/rivers", self.rivers),
            Route("/export/{name}", self.export),
            Route("/cell", self.cell),
            Route("/survey", self.survey),
            Route("/upload", self.upload, methods=["POST"]),
            Route("/project", self.save_project),
            Route("/finish/{name}", self.finished),
            Route("/open", self.open_project, methods=["POST"]),
            WebSocketRoute("/ws", self.socket),
        ]
        if built_page.is_built():
            routes.append(Mount("/", StaticFiles(directory=built_page.FOLDER)))
        return Starlette(routes=routes, lifespan=self._life)

    @asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        self.hub.attach(asyncio.get_running_loop())
        tasks = [asyncio.create_task(work) for work in (self.hub.run(), self.hub.watch())]
        self.session.start()
        self.finishing.start()
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # The run that is shown is saved while a finish writes its last checkpoint, not after it.
            await anyio.to_thread.run_sync(self.finishing.stop)
            await anyio.to_thread.run_sync(self.session.close)
            await anyio.to_thread.run_sync(self.finishing.close)

    async def index(self, request: Request) -> Response:
        """The page, or how to build it."""
        if not built_page.is_built():
            return HTMLResponse(built_page.MISSING_PAGE, status_code=503)
        return FileResponse(built_page.INDEX)

    async def health(self, request: Request) -> Response:
        """Whether the server answers."""
        return PlainTextResponse("ok")

    async def socket(self, socket: WebSocket) -> None:
        """The WebSocket of a page."""
        await Connection(socket, self.hub).run(self._welcome)

    async def script(self, request: Request) -> Response:
        """The run as a Python script."""
        try:
            text = await asyncio.wrap_future(self.session.find("script"))
        except SlopewashError as error:
            return _problem(409, error)
        return PlainTextResponse(text, media_type="text/x-python", headers=_attachment("session.py"))

    async def recipe(self, request: Request) -> Response:
        """The run as a recipe file, which `slopewash run` and `slopewash studio` take."""
        try:
            text = await asyncio.wrap_future(self.session.find("recipe_text"))
        except SlopewashError as error:
            return _problem(409, error)
        return PlainTextResponse(text, media_type="application/toml", headers=_attachment("session.toml"))

    async def cell(self, request: Request) -> Response:
        """One cell: its past, what it holds, and the way of water through it."""
        try:
            x, y = _number(request, "x"), _number(request, "y")
            if x is None or y is None:
                raise InvalidParameter("cell takes x and y in metres")
        except InvalidParameter as error:
            return _problem(400, error)
        return await self._inspect("cell", x, y)

    async def survey(self, request: Request) -> Response:
        """The terrain beside real ones."""
        return await self._inspect("survey")

    async def _inspect(self, what: str, *arguments: Any) -> Response:
        async with self._inspecting:
            try:
                return JSONResponse(await asyncio.wrap_future(self.session.find(what, *arguments)))
            except SlopewashError as error:
                return _problem(409, error)

    async def rivers(self, request: Request) -> Response:
        """Rivers and lakes to look at, as a frame."""
        async with self._watering:
            try:
                terrain = await asyncio.wrap_future(self.session.find("terrain"))
                data = await anyio.to_thread.run_sync(rivers_frame, terrain)
            except SlopewashError as error:
                return _problem(409, error)
        return Response(data, media_type="application/octet-stream")

    async def export(self, request: Request) -> Response:
        """The current terrain, in the format of the suffix."""
        try:
            asked = request.path_params["name"]
            if ("export", asked) in self._side_files:
                return self._side_file("export", asked)
            shown, suffix = clean_name(asked, FORMATS | MESHES)
        except SlopewashError as error:
            return _problem(404, error)
        async with self._exporting:
            try:
                terrain = await asyncio.wrap_future(self.session.find("ground" if suffix in MESHES else "terrain"))
            except SlopewashError as error:
                return _problem(409, error)
            return await self._send("export", shown, suffix, lambda file: _write(terrain, file))

    async def _send(self, route: str, shown: str, suffix: str, write: Callable[[Path], None]) -> Response:
        """A file that `write` writes, removed once it is sent; one beside it is kept for the next request."""
        folder = tempfile.TemporaryDirectory(prefix="slopewash-export-", ignore_cleanup_errors=True)
        file = Path(folder.name) / f"terrain{suffix}"
        try:
            await anyio.to_thread.run_sync(write, file)
        except (SlopewashError, OSError) as error:
            folder.cleanup()
            return _problem(409, error)
        except BaseException:  # the server stops
            folder.cleanup()
            raise
        side = file.with_name(file.name + ".json")
        if side.exists():
            self._side_files[route, f"{shown}.json"] = side.read_bytes()
            while len(self._side_files) > MOST_SIDE_FILES:
                del self._side_files[next(iter(self._side_files))]
        return FileResponse(file, headers=_attachment(shown), background=BackgroundTask(folder.cleanup))

    def _side_file(self, route: str, name: str) -> Response:
        data = self._side_files.pop((route, name))
        return Response(data, media_type="application/json", headers=_attachment(name))

    async def save_project(self, request: Request) -> Response:
        """The run as a project file."""
        async with self._exporting:
            try:
                saved = await asyncio.wrap_future(self.session.find("saved"))
            except SlopewashError as error:
                return _problem(409, error)
            return await self._send(
                "project", f"session{SUFFIX}", SUFFIX, lambda file: write_project(saved, file, self._secret)
            )

    async def finished(self, request: Request) -> Response:
        """What a finish has made, in the format of the suffix, or a picture of the level under way."""
        asked = request.path_params["name"]
        try:
            if asked == PREVIEW_FILE:
                return Response(self.finishing.preview().read_bytes(), media_type="image/png")
            if ("finish", asked) in self._side_files:
                return self._side_file("finish", asked)
            shown, suffix = clean_name(asked, {**FORMATS, **MESHES, SUFFIX: ""})
            if suffix == SUFFIX:
                return _opened(self.finishing.project(), shown)
        except (SlopewashError, OSError) as error:  # a finish may be removed at this moment
            return _problem(404, error)
        async with self._exporting:
            return await self._send("finish", shown, suffix, self.finishing.write)

    async def open_project(self, request: Request) -> Response:
        """A project file from the page."""
        uploads = self._uploads
        try:
            _check_length(request, uploads.project_limit)
            async with self._uploading:
                name = request.query_params.get("name", "")
                key, project = await uploads.receive_project(name, request.stream(), self._secret)
        except TooLarge as error:
            return _problem(413, error, close=True)
        except Stalled as error:
            return _problem(408, error, close=True)
        except SlopewashError as error:
            return _problem(400, error, close=True)
        opened: protocol.OpenedProject = {
            "upload": key, "name": project.name, "step": project.step, "replayed": project.checkpoint is None,
            "view": project.view,
        }  # fmt: skip
        return Response(protocol.OPENED.dump_json(opened), media_type="application/json")

    async def upload(self, request: Request) -> Response:
        """A height field from the page."""
        uploads, options = self._uploads, dict[str, Any]()
        try:
            name, options = _upload_options(request)
            _check_length(request, uploads.limit)
            async with self._uploading:
                key, given, decoded = await uploads.receive(name, request.stream(), options)
        except TooLarge as error:
            return _problem(413, error, close=True)
        except Stalled as error:
            return _problem(408, error, close=True)
        except SlopewashError as error:
            wants = _wanted(error, options)  # a question to the user is no failure, which browsers would log as one
            return _problem(400 if wants is None else 200, error, close=True, wants=wants)
        taken, (rows, columns) = given.make(), decoded.terrain.shape
        uploaded: protocol.Uploaded = {
            "upload": key, "name": given.name, "rows": taken.shape[0], "columns": taken.shape[1],
            "cell_size": taken.cell_size, "file_rows": rows, "file_columns": columns,
            "relief": taken.relief, "plausible_extent": plausible_extent(taken),
            "suspects": [{"nodata": value, "message": text} for value, text in decoded.suspects.items()],
        }  # fmt: skip
        return JSONResponse(uploaded)


def _check_length(request: Request, limit: int) -> None:
    """Refuse a file that says itself that it is too large."""
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > limit:
        raise TooLarge(f"the file has {declared} bytes; the limit is {limit}")


def _upload_options(request: Request) -> tuple[str, dict[str, Any]]:
    known = {"name", "low", "high", "cell_size", "extent", "rows", "columns", "allow_8bit", "nodata"}
    for key in request.query_params:
        if key not in known:
            raise InvalidParameter(f'upload has no option "{key[:40]}"; it takes {", ".join(sorted(known))}')
    low, high = _number(request, "low"), _number(request, "high")
    if (low is None) != (high is None):
        raise InvalidParameter("upload takes both low and high, or neither")
    rows, columns = _number(request, "rows"), _number(request, "columns")
    options: dict[str, Any] = {"cell_size": _number(request, "cell_size")}
    extent = _number(request, "extent")
    if extent is not None:
        if not 0 < extent <= 1e9:
            raise InvalidParameter(f"extent is {extent:g} m; it must be positive and at most 1e9")
        options["extent"] = extent
    if low is not None and high is not None:
        options["height_range"] = (low, high)
    if rows is not None and columns is not None:
        options["shape"] = (int(rows), int(columns))
    if request.query_params.get("allow_8bit") == "true":
        options["allow_8bit"] = True
    if "nodata" in request.query_params:
        is_nan = request.query_params["nodata"].lower() == "nan"
        options["nodata"] = math.nan if is_nan else _number(request, "nodata")
    return request.query_params.get("name", ""), options


def _number(request: Request, key: str) -> float | None:
    text = request.query_params.get(key)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidParameter(f"{key} is {text[:40]!r}; it must be a finite number")
    return value


def _wanted(error: Exception, given: Mapping[str, Any]) -> Wanted:
    """What the page should ask the user for; the error message is written for it."""
    options: tuple[Wanted, ...] = ("height_range", "allow_8bit")
    wanted = next((option for option in options if str(option) in str(error)), None)
    return "nodata" if wanted is None and "--nodata" in str(error) and "nodata" not in given else wanted


def _write(terrain: sw.Terrain | sw.TriangleMesh, file: Path) -> None:
    with sw.without_gdal():  # this process takes files of strangers and stays free of it
        sw.write(terrain, file)


def _problem(status: int, error: Exception, *, close: bool = False, wants: Wanted = None) -> Response:
    headers = {"connection": "close"} if close else None
    named = re.search(r"--nodata (\S+)\)", str(error))  # NaN has no number to name
    nodata = None if wants != "nodata" else named[1] if named else "nan"
    problem: protocol.Problem = {"message": str(error), "wants": wants, "nodata": nodata}
    return JSONResponse(problem, status_code=status, headers=headers)


def _opened(path: Path, shown: str) -> Response:
    """A file as it is now, also if it is removed or replaced while it is sent."""
    file = path.open("rb")
    length = str(os.fstat(file.fileno()).st_size)

    async def blocks() -> AsyncIterator[bytes]:
        try:
            while block := await anyio.to_thread.run_sync(file.read, BLOCK):
                yield block
        finally:  # also where the page hangs up
            file.close()

    headers = {**_attachment(shown), "content-length": length}
    return StreamingResponse(
        blocks(), headers=headers, media_type="application/octet-stream", background=BackgroundTask(file.close)
    )


def _attachment(name: str) -> dict[str, str]:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
    return {"content-disposition": f'attachment; filename="{plain}"'}
