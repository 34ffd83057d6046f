"""Nothing but the server's own page gets in: every request below is refused with 403, on every route."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.threads import apart
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from slopewash.errors import InvalidParameter
from slopewash.studio import StudioServer, security
from slopewash.studio.recipes import first_recipe
from slopewash.studio.security import Gate

ROUTES = [
    ("GET", "/"),
    ("GET", "/health"),
    ("GET", "/script"),
    ("GET", "/recipe"),
    ("GET", "/project"),
    ("GET", "/finish/a.npy"),
    ("POST", "/open?name=a.slopewash"),
    ("GET", "/rivers"),
    ("GET", "/cell?x=1&y=1"),
    ("GET", "/survey"),
    ("GET", "/export/a.npy"),
    ("POST", "/upload?name=a.npy"),
    ("GET", "/assets/index.js"),
    ("GET", "/no-such-route"),
    ("OPTIONS", "/ws"),
    ("GET", "/ws"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        made = StudioServer(first_recipe(size=32, backend="reference"), port=0)
    with made as running:
        yield running


@pytest.fixture(scope="module")
def cookie(server: StudioServer) -> str:
    answer = httpx.get(server.url, headers={"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, timeout=60)
    return answer.headers["set-cookie"].partition(";")[0]


def ask(server: StudioServer, method: str, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    """Send exactly these headers: no library adds its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


def good(server: StudioServer, cookie: str) -> dict[str, str]:
    return {"Host": f"127.0.0.1:{server.port}", "Origin": server.address, "Cookie": cookie}


def without(headers: dict[str, str], *names: str, **others: str) -> dict[str, str]:
    return {k: v for k, v in headers.items() if k not in names} | others


def bad(server: StudioServer, cookie: str) -> dict[str, dict[str, str]]:
    fine = good(server, cookie)
    name, _, value = cookie.partition("=")
    port = server.port
    return {
        "foreign origin": {**fine, "Origin": "http://evil.example"},
        "origin of another port": {**fine, "Origin": "http://127.0.0.1:1"},
        "null origin": {**fine, "Origin": "null"},
        "empty origin": {**fine, "Origin": ""},
        "no origin": without(fine, "Origin"),
        "no origin, cross-site": {**without(fine, "Origin"), "Sec-Fetch-Site": "cross-site"},
        "no origin, same-site": {**without(fine, "Origin"), "Sec-Fetch-Site": "same-site"},
        "no origin, none but no navigation": {**without(fine, "Origin"), "Sec-Fetch-Site": "none"},
        "foreign origin, claims same-origin": {
            **fine,
            "Origin": "http://evil.example",
            "Sec-Fetch-Site": "same-origin",
        },
        "foreign host": {**fine, "Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"},
        "host without port": {**fine, "Host": "127.0.0.1", "Origin": "http://127.0.0.1"},
        "host that ends like ours": {
            **fine,
            "Host": f"evil-127.0.0.1:{port}",
            "Origin": f"http://evil-127.0.0.1:{port}",
        },
        "no host": without(fine, "Host"),
        "no cookie": without(fine, "Cookie"),
        "wrong cookie": {**fine, "Cookie": f"{name}={'0' * len(value)}"},
        "cut cookie": {**fine, "Cookie": f"{name}={value[:-1]}"},
        "cookie of another name": {**fine, "Cookie": f"token={value}"},
        "token as cookie": {**fine, "Cookie": f"{name}={server.gate.token}"},
    }


CASES = [
    "foreign origin",
    "origin of another port",
    "null origin",
    "empty origin",
    "no origin",
    "no origin, cross-site",
    "no origin, same-site",
    "no origin, none but no navigation",
    "foreign origin, claims same-origin",
    "foreign host",
    "host without port",
    "host that ends like ours",
    "no host",
    "no cookie",
    "wrong cookie",
    "cut cookie",
    "cookie of another name",
    "token as cookie",
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_refuses(server: StudioServer, cookie: str, method: str, path: str, case: str) -> None:
    headers = bad(server, cookie)[case]
    if case == "no host":  # HTTP/1.1 itself may not allow it
        assert ask(server, method, path, headers).status in (400, 403)
    else:
        assert ask(server, method, path, headers).status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_an_upload_must_carry_an_origin(server: StudioServer, cookie: str, headers: dict[str, str]) -> None:
    answer = ask(server, "POST", "/upload?name=a.npy", {**without(good(server, cookie), "Origin"), **headers})
    assert answer.status == 403


@pytest.mark.parametrize("case", CASES)
def test_the_socket_refuses(server: StudioServer, cookie: str, case: str) -> None:
    if case == "no host":
        pytest.skip("the client library always sends one")
    headers = bad(server, cookie)[case]
    extra = {k: v for k, v in headers.items() if k not in ("Origin", "Host")}
    # The library sends its own Host for where it connects, so the wrong one is asked for by address.
    options: dict[str, Any] = {"additional_headers": extra, "origin": headers.get("Origin"), "open_timeout": 60}
    host = headers["Host"].rpartition(":")[0] or headers["Host"]
    address = f"ws://{headers['Host'] if headers['Host'] != '127.0.0.1' else host}/ws"
    import socket

    with socket.create_connection(("127.0.0.1", server.port), 60) as raw, pytest.raises(InvalidStatus) as refused:  # noqa: SIM117
        with connect(address, sock=raw, **options):
            pass
    assert refused.value.response.status_code == 403


def test_no_bad_case_is_left_out(server: StudioServer, cookie: str) -> None:
    assert list(bad(server, cookie)) == CASES


def test_the_page_itself_gets_in(server: StudioServer, cookie: str) -> None:
    fine = good(server, cookie)
    assert ask(server, "GET", "/health", fine).status == 200
    quiet = without(fine, "Origin")
    assert ask(server, "GET", "/health", {**quiet, "Sec-Fetch-Site": "same-origin"}).status == 200
    opened = {**quiet, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    assert ask(server, "GET", "/health", opened).status == 200
    for name in ("localhost", "127.0.0.1"):
        here = {**fine, "Host": f"{name}:{server.port}", "Origin": f"http://{name}:{server.port}"}
        assert ask(server, "GET", "/health", here).status == 200


def test_the_key_is_exchanged_for_a_strict_cookie(server: StudioServer) -> None:
    opened = {"Host": f"127.0.0.1:{server.port}", "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    answer = ask(server, "GET", f"/?token={server.gate.token}", opened)
    assert (answer.status, answer.getheader("location")) == (303, "/")
    given = answer.getheader("set-cookie") or ""
    assert "HttpOnly" in given
    assert "SameSite=Strict" in given
    for wrong in ("", "x", server.gate.token[:-1], server.gate.token + "x", "%FF"):
        assert ask(server, "GET", f"/?token={wrong}", opened).status == 403
    assert ask(server, "GET", f"/?token={server.gate.token}", {**opened, "Sec-Fetch-Site": "cross-site"}).status == 403
    assert ask(server, "GET", f"/health?token={server.gate.token}", opened).status == 403


def test_answers_keep_the_page_to_itself(server: StudioServer, cookie: str) -> None:
    answer = ask(server, "GET", "/health", good(server, cookie))
    policy = answer.getheader("content-security-policy") or ""
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.getheader("x-content-type-options") == "nosniff"
    assert answer.getheader("cache-control") == "no-store"
    assert answer.getheader("access-control-allow-origin") is None


@pytest.mark.parametrize("path", ["/../security.py", "/%2e%2e/security.py", "/..%2fsecurity.py", "/page/../app.py"])
def test_no_path_leads_out_of_the_page(server: StudioServer, cookie: str, path: str) -> None:
    assert ask(server, "GET", path, good(server, cookie)).status in (404, 405)


def test_a_key_is_as_good_as_random(server: StudioServer) -> None:
    other = Gate(None, host="127.0.0.1", port=1)
    assert other.token != server.gate.token
    assert len(other.token) >= 32


def test_odd_cookies_of_other_servers_do_not_lock_the_page_out(server: StudioServer, cookie: str) -> None:
    fine = good(server, cookie)
    for others in ('theme={"dark": true}; {}', "{}; x y=1", "a[b]=1; ; {}", "{}; slopewash-1=0"):
        assert ask(server, "GET", "/health", {**fine, "Cookie": others.replace("{}", cookie)}).status == 200
    assert ask(server, "GET", "/health", {**fine, "Cookie": f"x{cookie}; y"}).status == 403


def test_each_address_has_a_cookie_of_its_own() -> None:
    gates = [Gate(None, host=host, port=port, secret=b"s") for host in ("127.0.0.1", "0.0.0.0") for port in (1, 2)]
    assert len({gate.cookie(5) for gate in gates}) == 4
    assert gates[0].cookie(5) == Gate(None, host="127.0.0.1", port=1, secret=b"s").cookie(5)


def test_a_cookie_expires_and_opens_no_other_port(server: StudioServer, cookie: str) -> None:
    name, _, value = cookie.partition("=")
    expires, _, signature = value.partition(".")
    fine = good(server, cookie)
    other = Gate(None, host="127.0.0.1", port=server.port + 1)
    expired, forged = server.gate.cookie(int(time.time()) - 1), f"{int(expires) + 1}.{signature}"
    for wrong in (expired, forged, other.cookie(), "", "x.y", "9" * 99):
        assert ask(server, "GET", "/health", {**fine, "Cookie": f"{name}={wrong}"}).status == 403
    opened = ask(server, "GET", "/", {**fine, "Cookie": cookie})
    assert "Max-Age=604800" in (opened.getheader("set-cookie") or "")  # opening the page renews it


def test_a_browser_on_another_machine_gets_in_by_the_key_alone() -> None:
    """Over plain HTTP browsers send Sec-Fetch-Site to 127.0.0.1 and localhost, and to no other host."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    gate = Gate(app, host="0.0.0.0", port=8420)

    def status(kind: str = "http", method: str = "GET", query: str = "", **headers: str) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": kind, "method": method, "path": "/", "query_string": query.encode(), "headers": pairs}
        apart(lambda: asyncio.run(gate(scope, None, send)))  # type: ignore[arg-type]
        return int(sent[0].get("status", 403))

    there, cookie = "192.168.1.7:8420", f"{gate._cookie_name}={gate.cookie()}"
    assert status(host=there, query=f"token={gate.token}") == 303
    assert status(host=there, query="token=wrong") == 403
    assert status(host=there) == 403
    assert status(host=there, cookie=cookie) == 200
    assert status(host=there, cookie=cookie, sec_fetch_site="cross-site") == 403
    assert status(host=there, cookie=cookie, origin="http://evil.example") == 403
    assert status(host=there, cookie=cookie, method="POST") == 403
    assert status(host=there, cookie=cookie, kind="websocket") == 403
    for here in ("127.0.0.1:8420", "localhost:8420", "[::1]:8420"):
        assert status(host=here, cookie=cookie) == 403
    gate = Gate(app, host="0.0.0.0", port=80)
    cookie = f"{gate._cookie_name}={gate.cookie()}"
    for here in ("127.0.0.1", "localhost", "[::1]"):
        assert status(host=here, cookie=cookie) == 403
        assert status(host=here, cookie=cookie, sec_fetch_site="same-origin") == 200


def opened(server: StudioServer, token: str) -> httpx.Response:
    headers = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    return httpx.get(f"{server.address}/?token={token}", headers=headers)


def test_what_a_browser_is_started_with_opens_the_page_once(
    server: StudioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses: list[str] = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    server.open_browser()
    token = addresses[0].partition("token=")[2]
    assert token != server.gate.token
    assert [opened(server, token).status_code for _ in range(3)] == [303, 403, 403]
    assert opened(server, server.gate.token).status_code == 303  # what was printed opens it as often as one likes


def test_a_key_for_once_does_not_wait_for_ever(server: StudioServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "ONCE_SECONDS", -1)
    assert opened(server, server.gate.token_for_once()).status_code == 403


def test_a_proxy_is_answered_only_under_the_name_it_was_given() -> None:
    recipe = first_recipe(size=16, backend="reference")
    with StudioServer(recipe, port=0, allowed_hosts=["Studio.example.org"]) as server:
        cookie = opened(server, server.gate.token).headers["set-cookie"].partition(";")[0]

        def ask(host: str, origin: str) -> int:
            headers = {"Host": host, "Origin": origin, "Cookie": cookie}
            return httpx.get(server.address + "/health", headers=headers).status_code

        assert ask("studio.example.org", "https://studio.example.org") == 200
        assert ask("studio.example.org", "https://elsewhere.example.org") == 403
        assert ask("studio.example.org:444", "https://studio.example.org:444") == 403
        assert ask("elsewhere.example.org", "https://elsewhere.example.org") == 403


@pytest.mark.parametrize("names", ["studio.example.org", ["https://studio.example.org"], [""]])
def test_an_allowed_host_that_is_no_name_is_refused(names: Any) -> None:
    with pytest.raises(InvalidParameter, match="allowed host"):
        StudioServer(first_recipe(size=16, backend="reference"), port=0, allowed_hosts=names)


def test_listening_everywhere_takes_addresses_but_no_foreign_names() -> None:
    gate = Gate(None, host="0.0.0.0", port=8420)
    assert gate._is_allowed_host("192.168.1.7:8420")
    assert gate._is_allowed_host("localhost:8420")
    assert not gate._is_allowed_host("192.168.1.7:80")
    assert not gate._is_allowed_host("evil.example:8420")
    assert not Gate(None, host="127.0.0.1", port=8420)._is_allowed_host("192.168.1.7:8420")


def test_a_notebook_may_frame_only_what_is_meant_for_it(cookie: str) -> None:
    framed = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    for embedded, status in ((True, 303), (False, 403)):
        with StudioServer(first_recipe(size=32, backend="reference"), port=0, embedded=embedded) as server:
            answer = ask(server, "GET", f"/?token={server.gate.token}", {"Host": f"localhost:{server.port}", **framed})
            assert answer.status == status
            if embedded:
                assert "frame-ancestors 'self' http://localhost:*" in (
                    answer.getheader("content-security-policy") or ""
                )
