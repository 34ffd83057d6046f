"""Access control, like that of Jupyter: only the studio's own page may connect, opened by the user who started it.

Every request is checked before it reaches a route, and is refused with 403 unless

- its Host is allowed (this prevents DNS rebinding),
- it comes from the server's own page: its Origin is this host, or, where browsers send no Origin (navigation and
  same-origin GET), Sec-Fetch-Site says "same-origin", or "none" for an address the user typed or opened; from another
  machine over plain HTTP browsers send neither, and the cookie alone decides,
- it has the cookie, which is given only in exchange for the token in the address (HttpOnly, SameSite=Strict).
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from slopewash import seals

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
EVERYWHERE = ("0.0.0.0", "::", "")
TOKEN_BYTES = 24
COOKIE_SECONDS = 7 * 24 * 3600
"""How long a cookie is valid; opening the page renews it."""
ONCE_SECONDS = 120
"""Seconds for which a one-time key is valid."""
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "font-src 'self'; connect-src 'self' {sockets}; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors {ancestors}"
)


class Gate:
    """ASGI wrapper that admits only the server's own page, and adds security headers."""

    def __init__(
        self,
        app: Any,
        *,
        host: str,
        port: int,
        embedded: bool = False,
        secret: bytes | None = None,
        allowed: Sequence[str] = (),
    ) -> None:
        self._app = app
        self._port = port
        self._embedded = embedded
        self._hosts = _allowed_hosts(host, port) | frozenset(name.lower() for name in allowed)
        self._any_address = host in EVERYWHERE
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._once: dict[str, float] = {}
        self._cookie_name = f"slopewash-{port}"
        # Each address has its own cookie: one seen by the network or another port opens nothing else.
        self._place = f"slopewash studio at {host}:{port}"
        self._secret = secret or seals.secret()

    def token_for_once(self) -> str:
        """Make a key that works once and soon: other users can see the arguments that a browser is started with."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._once[token] = time.monotonic() + ONCE_SECONDS
        return token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, exchange the token for the cookie, or forward it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _Headers(scope)
        host = headers.one("host")
        if host is None or not self._is_allowed_host(host) or not self._from_own_page(scope, headers, host):
            await _refuse(scope, send, "this request does not come from the studio's own page")
            return
        if scope["type"] == "http" and scope["path"] == "/" and b"token=" in scope["query_string"]:
            await self._exchange(scope, send, host)
            return
        if not self._has_cookie(headers):
            await _refuse(
                scope, send, "open the studio with the address that slopewash printed, which contains the access key"
            )
            return
        renew = scope["type"] == "http" and scope["path"] == "/"
        await self._app(
            scope, receive, self._with_headers(send, host, renew=renew) if scope["type"] == "http" else send
        )

    def _is_allowed_host(self, host: str) -> bool:
        if host.lower() in self._hosts:
            return True
        name, _, port = host.rpartition(":")
        return self._any_address and port == str(self._port) and _is_address(name.strip("[]"))

    def _from_own_page(self, scope: Scope, headers: _Headers, host: str) -> bool:
        origins = headers.all("origin")
        if origins:
            return origins in ([f"http://{host}"], [f"https://{host}"])
        if scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD"):
            return False
        site = headers.one("sec-fetch-site")
        if site is None:
            # Over plain HTTP browsers send it to this machine only; elsewhere SameSite=Strict keeps other sites out.
            return not headers.all("sec-fetch-site") and host.lower().removesuffix(f":{self._port}") not in LOOPBACK
        if site == "same-origin":
            return True
        navigates = headers.one("sec-fetch-mode") == "navigate"
        if site == "none":
            return navigates
        framed = headers.one("sec-fetch-dest") == "iframe"
        return self._embedded and site == "same-site" and navigates and framed

    async def _exchange(self, scope: Scope, send: Send, host: str) -> None:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] != "GET" or not self._is_key(given):
            await _refuse(scope, send, "this access key is not valid; open the address that slopewash printed")
            return
        headers = [(b"location", b"/"), (b"set-cookie", self._set_cookie()), (b"content-length", b"0")]
        await self._with_headers(send, host)({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _is_key(self, given: str) -> bool:
        if hmac.compare_digest(given.encode(), self.token.encode()):
            return True
        for token in self._once:
            if hmac.compare_digest(given.encode(), token.encode()):
                return time.monotonic() < self._once.pop(token)
        return False

    def _has_cookie(self, headers: _Headers) -> bool:
        # http.cookies drops all cookies if one is malformed, and other servers of this machine share ours.
        pairs = (pair.strip().partition("=") for text in headers.all("cookie") for pair in text.split(";"))
        return any(name == self._cookie_name and self._is_valid(value) for name, _, value in pairs)

    def cookie(self, expires: int | None = None) -> str:
        """Value of a cookie: when it expires, and a signature of that for this address."""
        expires = int(time.time()) + COOKIE_SECONDS if expires is None else expires
        return f"{expires}.{seals.seal_with(self._secret, f'{self._place} until {expires}'.encode(), 'studio cookie')}"

    def _is_valid(self, value: str) -> bool:
        expires = value.partition(".")[0]
        if not (expires.isascii() and expires.isdigit() and len(expires) < 16):
            return False
        return hmac.compare_digest(value.encode(), self.cookie(int(expires)).encode()) and time.time() < int(expires)

    def _set_cookie(self) -> bytes:
        return (
            f"{self._cookie_name}={self.cookie()}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_SECONDS}"
        ).encode()

    def _with_headers(self, send: Send, host: str, *, renew: bool = False) -> Send:
        ancestors = f"'self' http://localhost:* http://127.0.0.1:*" if self._embedded else "'none'"  # noqa: F541
        policy = CONTENT_POLICY.format(sockets=f"ws://{host} wss://{host}", ancestors=ancestors)
        extra = [
            (b"content-security-policy", policy.encode("latin-1")),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
            *([(b"set-cookie", self._set_cookie())] if renew else []),
        ]

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", []))
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*headers, *extra]}
            await send(message)

        return send_with_headers


class _Headers:
    """Request headers by lower-case name, including repeated ones."""

    def __init__(self, scope: Scope) -> None:
        self._pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self._pairs if key == name]

    def one(self, name: str) -> str | None:
        """The value, or None if there is none or more than one."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None


async def _refuse(scope: Scope, send: Send, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before it is accepted: HTTP 403
        return
    body = sentence.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _allowed_hosts(host: str, port: int) -> frozenset[str]:
    names = {*LOOPBACK}
    if host in EVERYWHERE:
        names |= {socket.gethostname().lower()}
    else:
        names |= {f"[{host}]" if ":" in host else host.lower()}
    return frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())


def _is_address(text: str) -> bool:
    """Whether this is an IP address, which unlike a name cannot be redirected by DNS."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
