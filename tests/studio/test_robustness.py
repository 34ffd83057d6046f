"""Clients that do everything wrong: the server stays up, its memory stays small, the simulation goes on."""

from __future__ import annotations

import json
import socket
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from benchmarks.studio_load import (
    LIMIT,
    MEGABYTE,
    Outside,
    ask,
    drain,
    server_outside,
    text_frame,
    under_every_load,
    upload_head,
)
from websockets.exceptions import ConnectionClosed


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    log = tmp_path_factory.mktemp("log") / "stderr"
    with server_outside(tmp_path_factory.mktemp("state"), log) as server:
        yield server
    assert "Traceback" not in log.read_text()


@pytest.fixture(autouse=True)
def stays_well(outside: Outside) -> Iterator[None]:
    """Whatever a test does: the server answers after it, has not grown, and still simulates."""
    before = outside.memory
    yield
    assert outside.healthy()
    assert outside.memory - before < 150 * MEGABYTE
    with outside.connect() as page:
        page.send(json.dumps({"type": "step", "count": 2, "id": "after"}))
        end = time.monotonic() + 60
        while time.monotonic() < end:
            received = page.recv(timeout=60)
            if isinstance(received, str) and json.loads(received).get("id") == "after":
                break
        else:
            pytest.fail("no answer")
        page.send(json.dumps({"type": "pause"}))


def error_for(outside: Outside, text: str | bytes) -> str:
    """What the server answers to one message; the connection stays open."""
    with outside.connect() as page:
        page.send(text)
        while True:
            received = page.recv(timeout=60)
            if isinstance(received, str) and json.loads(received)["type"] == "error":
                sentence = json.loads(received)["message"]
                break
        page.send('{"type": "pause", "id": 1}')
        while True:
            received = page.recv(timeout=60)
            if isinstance(received, str) and json.loads(received)["type"] == "done":
                return str(sentence)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "dictionary|object"),
        ("null", "dictionary|object"),
        ("[" * 100_000, "JSON|recursion"),
        ('{"type": "explode"}', "explode"),
        ('{"count": 3}', "type"),
        ('{"type": "step", "count": 3, "much": 1}', "much: Extra inputs"),
        ('{"type": "step", "count": 0}', "greater than or equal to 1"),
        ('{"type": "step", "count": 1e99}', "count"),
        ('{"type": "step", "count": NaN}', "count"),
        ('{"type": "speed", "steps_per_second": NaN}', "finite|greater"),
        ('{"type": "speed", "steps_per_second": Infinity}', "finite"),
        ('{"type": "parameters", "values": {"rain_rate": NaN}}', "finite"),
        ('{"type": "parameters", "values": {"rain_rate": "nan"}}', "rain_rate .* is nan"),
        ('{"type": "parameters", "values": {"rain": 1}}', "unknown parameter"),
        ('{"type": "parameters", "values": {"rain_rate": -1}}', "must be zero or more"),
        ('{"type": "paint", "tool": "raise", "points": [[NaN, 1]], "radius": 5}', "finite"),
        ('{"type": "paint", "tool": "raise", "points": [], "radius": 5}', "at least 1"),
        ('{"type": "paint", "tool": "axe", "points": [[1, 1]], "radius": 5}', "unknown tool"),
        ('{"type": "start", "generator": {"size": 100000}}', "less than or equal to 2048"),
        ('{"type": "start", "generator": {"kind": "../etc/passwd"}}', "unknown generator"),
        ('{"type": "start", "generator": {"options": {"maximum_size": 1000000}}}', "no option"),
        ('{"type": "start", "upload": "../../etc/passwd"}', "no upload"),
        ('{"type": "emitters", "emitters": [{"x": 1, "y": 1, "radius": 1, "rate": 1}]}', "emitters"),
        (b"\x00\xff\xfe", "JSON|UTF"),
    ],
)
def test_nonsense_is_answered_with_one_sentence(outside: Outside, message: str | bytes, words: str) -> None:
    import re

    sentence = error_for(outside, message)
    assert re.search(words, sentence), sentence
    assert "\n" not in sentence
    assert len(sentence) < 500  # one names every kind of message


def test_an_oversized_message_ends_its_connection(outside: Outside) -> None:
    with outside.connect() as page, pytest.raises(ConnectionClosed) as closed:  # noqa: PT012
        page.send(json.dumps({"type": "paint", "tool": "raise", "radius": 1, "points": [[1.5, 2.5]] * 100_000}))
        while True:
            page.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_a_huge_picture_is_refused_by_its_header(outside: Outside) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 16, 0, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 10_000_000))
    answer = httpx.post(outside.address + "/upload?name=a.png", content=bomb, headers=outside.headers, timeout=60)
    assert answer.status_code == 400
    assert "100000 x 100000" in answer.json()["message"]


def test_a_declared_two_gigabytes_are_refused_at_once(outside: Outside) -> None:
    with socket.create_connection(("127.0.0.1", outside.port), 60) as plain:
        plain.sendall(upload_head(outside, f"Content-Length: {2 * 2**30}"))
        assert plain.recv(4096).startswith(b"HTTP/1.1 413")


def test_two_gigabytes_are_cut_at_the_limit(outside: Outside) -> None:
    part = b"100000\r\n" + b"\0" * MEGABYTE + b"\r\n"
    sent = 0
    answer = b""
    with socket.create_connection(("127.0.0.1", outside.port), 60) as plain:
        plain.sendall(upload_head(outside, "Transfer-Encoding: chunked"))
        try:
            while sent < 2 * 2**30:
                plain.sendall(part)
                sent += MEGABYTE
            plain.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            answer = plain.recv(4096)
        except OSError:
            answer = b"closed"
    assert sent < LIMIT + 64 * MEGABYTE  # what the sockets' own buffers hold, and no more
    assert answer in (b"", b"closed") or answer.startswith(b"HTTP/1.1 413")
    assert outside.memory < 2 * 2**30


def test_two_hundred_sockets_leave_room_for_the_rest(outside: Outside) -> None:
    welcomed = refused = 0
    with ExitStack() as opened:
        for _ in range(200):
            page = opened.enter_context(outside.connect(close_timeout=1))
            try:
                page.recv(timeout=60)
                welcomed += 1
            except ConnectionClosed as closed:
                refused += closed.rcvd is not None and closed.rcvd.code == 1013
        assert outside.healthy()
        assert welcomed == 16
        assert refused == 184
    end = time.monotonic() + 60
    while time.monotonic() < end:  # the server notices each that went
        try:
            assert outside.step() >= 0
            return
        except (ConnectionClosed, ValueError):
            time.sleep(0.1)
    pytest.fail("no page got in again")


def test_three_hundred_silent_sockets_keep_nobody_out(outside: Outside) -> None:
    with ExitStack() as opened:
        for _ in range(300):
            opened.enter_context(socket.create_connection(("127.0.0.1", outside.port), 60))
        begin = time.monotonic()
        assert outside.healthy()
        assert outside.step() >= 0
        assert time.monotonic() - begin < 3.0  # one second on a quiet machine


def test_a_header_that_never_ends_is_cut_off(outside: Outside) -> None:
    with socket.create_connection(("127.0.0.1", outside.port), 60) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        assert plain.recv(1) == b""  # closed


def test_stalled_uploads_free_their_place(outside: Outside) -> None:
    with ExitStack() as opened:
        stalled = [opened.enter_context(socket.create_connection(("127.0.0.1", outside.port), 60)) for _ in range(2)]
        for plain in stalled:
            plain.sendall(upload_head(outside, "Content-Length: 1000") + b"half")
        answer = httpx.get(f"{outside.address}/export/hill.npy", headers=outside.headers, timeout=30)
        assert answer.status_code == 200  # it waits for no upload
        data = struct.pack("<4f", *range(4))
        third = httpx.post(
            f"{outside.address}/upload?name=a.raw&rows=2&columns=2", content=data, headers=outside.headers, timeout=30
        )
        assert "2 rows and 2 columns of 32-bit floats" in third.json()["message"]  # it waited for them to be cut off
        for plain in stalled:
            assert plain.recv(4096).startswith(b"HTTP/1.1 408")


def test_absurd_parameters_are_refused_and_long_steps_can_be_paused(outside: Outside) -> None:
    assert "more than 100" in error_for(outside, '{"type": "parameters", "values": {"time_step": 1e6}}')
    with outside.connect() as page:

        def do(id: str, **message: Any) -> float:
            begin = time.monotonic()
            page.send(json.dumps({**message, "id": id}))
            while True:
                received = page.recv(timeout=60)
                if isinstance(received, str) and json.loads(received).get("id") == id:
                    assert json.loads(received)["type"] == "done", received
                    return time.monotonic() - begin

        do("start", type="start", generator={"size": 512}, preset="jako2011")
        do("long", type="parameters", values={"time_step": 1.7})  # almost 100 sub-steps, seconds with NumPy
        do("play", type="play")
        time.sleep(1.0)
        assert do("pause", type="pause") < 3.0  # one second on a quiet machine
        assert do("reset", type="reset") < 10.0
        do("back", type="start", generator={"size": 64}, preset="landscape")


@pytest.mark.slow
def test_a_client_that_never_reads_holds_nobody_up(outside: Outside) -> None:
    deaf = outside.raw()
    deaf.sendall(text_frame('{"type": "watch", "resolution": 2048, "before": true}'))
    deaf.sendall(text_frame('{"type": "run_to", "step": 1000000000}'))
    deaf.settimeout(1)
    question = b"".join(
        text_frame(json.dumps({"type": "speed", "steps_per_second": None, "id": k})) for k in range(100)
    )
    sent = 0
    try:
        while sent < 64 * MEGABYTE:
            deaf.sendall(question)
            sent += len(question)
    except TimeoutError:
        pass
    assert sent < 64 * MEGABYTE  # the server stopped reading what it cannot answer
    first = outside.step()
    time.sleep(1)
    assert outside.step() > first
    deaf.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ack", "paint", "nonsense", "parameters"])
def test_a_flood_of_messages_drowns_nothing(outside: Outside, kind: str) -> None:
    """Offers 10 000 messages a second for 10 s in all; what is not taken at once waits in the sender's own buffers."""
    makers: dict[str, Callable[[int], dict[str, Any]]] = {
        "ack": lambda k: {"type": "ack", "frame": k},
        "paint": lambda k: {
            "type": "paint",
            "tool": "raise",
            "points": [[k % 640, 300]],
            "radius": 40,
            "strength": 0.01,
        },
        "nonsense": lambda k: {"type": "nonsense", "k": k},
        "parameters": lambda k: {"type": "parameters", "values": {"rain_rate": 0.01 + k * 1e-7}, "id": k},
    }
    with outside.connect() as other:
        other.send('{"type": "run_to", "step": 1000000000}')
        first = outside.step()
        flood = outside.raw()
        flood.settimeout(0.2)
        begin, offered = time.monotonic(), 0
        while (now := time.monotonic()) < begin + 2.5:
            if offered < (now - begin) * 10_000:
                batch = b"".join(text_frame(json.dumps(makers[kind](offered + k))) for k in range(100))
                offered += 100
                drain(flood)
                send_all(flood, batch, until=begin + 2.5)
            else:
                time.sleep(0.001)
        flood.close()
        assert outside.step() > first


def send_all(flood: socket.socket, data: bytes, until: float) -> None:
    """Send as the server takes it; the rest of a batch that meets the end is given up."""
    view = memoryview(data)
    while view and time.monotonic() < until:
        try:
            view = view[flood.send(view) :]
        except TimeoutError:
            drain(flood)


@pytest.mark.slow
def test_a_second_page_works_under_every_load_at_once(outside: Outside) -> None:
    """`make studio-load` measures it."""
    answers = under_every_load(outside)
    print(answers)
    assert answers.slowest < 30.0  # hangs; the target measures the second that it may take
    assert answers.grown < 400  # and the 150 MB that it may grow


@pytest.mark.slow
def test_ten_tabs_see_the_same_run(outside: Outside) -> None:
    with ExitStack() as opened:
        pages = [opened.enter_context(outside.connect()) for _ in range(10)]
        ask(pages[0], type="run_to", step=10**9)
        begin, seen = time.monotonic(), dict.fromkeys(range(10), 0)
        while min(seen.values()) < 5:
            assert time.monotonic() < begin + 60
            for number, page in enumerate(pages):
                try:
                    received = page.recv(timeout=0.01)
                except TimeoutError:
                    continue
                if isinstance(received, bytes):
                    seen[number] += 1
                    header = json.loads(received[8 : 8 + int.from_bytes(received[4:8], "little")])
                    page.send(json.dumps({"type": "ack", "frame": header["frame"]}))
        for page in pages:
            assert ask(page, type="pause")["type"] == "done"
