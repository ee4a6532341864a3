"""Who may ask the workbench, and how much: host and origin of a request, its token, its size; what a browser may do with the page.

Another user of this machine can reach the port too, so everything needs the token that was printed where the workbench was started. A page
has it from its URL once, then as a cookie. Cookies do not tell ports apart: whoever else listens on this machine would be sent it, if a
browser were led there. So all lies below a path that nobody can know, and the cookie is sent to this path alone.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "sojourn"
HOSTS = ("127.0.0.1", "localhost")
MOST_BODY_BYTES = 512 * 1024
MOST_QUERY_BYTES = 8192
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def _random() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class AccessSecrets:
    """`token`: who has it may ask; `prefix`: the path below which everything lies."""

    token: str = field(default_factory=_random)
    prefix: str = field(default_factory=lambda: secrets.token_urlsafe(9))

    @property
    def root(self) -> str:
        return f"/{self.prefix}/"


class AccessGuard:
    """Lets pass what comes from a page of the workbench itself, with its token."""

    def __init__(self, app: ASGIApp, secret: AccessSecrets) -> None:
        self.app, self.secret = app, secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # no websocket is ever accepted
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        wrong = self._wrong(scope, headers)
        fresh = False
        if not wrong and not self._known(headers):
            fresh = self._in_url(scope)
            if not fresh:
                wrong = (403, "this needs the URL that sojourn ui printed, with its token")
        if wrong:
            await self._headed(JSONResponse({"error": {"value": wrong[1]}}, wrong[0]), scope, receive, send, False)
            return
        await self._headed(self.app, scope, _limited(receive), send, fresh)

    def _wrong(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if _hostname(host) not in HOSTS:  # a name that somebody else's server resolves to this machine
            return 421, "this host name is not the workbench's: use 127.0.0.1"
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return 403, "a page of another origin asked for this"
        # a link to the page may be followed from anywhere; all else is asked by the page
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not self._in_url(scope):
            return 403, "a page of another site asked for this"
        if not scope["path"].startswith(self.secret.root):
            return 404, "there is nothing here"
        if len(scope.get("query_string", b"")) > MOST_QUERY_BYTES:
            return 414, "the query is too long"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "this cannot be done here"
        if scope["method"] == "POST" and headers.get("content-type", "").partition(";")[0] != "application/json":
            return 415, "give JSON"  # which no form of another page can send
        length = headers.get("content-length", "0")
        if length.isdecimal() and (len(length) > 12 or int(length) > MOST_BODY_BYTES):
            return 413, f"more than {MOST_BODY_BYTES // 1024} KiB"
        return None

    def _known(self, headers: dict[str, str]) -> bool:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return morsel is not None and self._is_token(morsel.value)

    def _in_url(self, scope: Scope) -> bool:
        """Only of the page itself: nothing else takes a token from its URL."""
        if scope["path"] != self.secret.root or scope["method"] != "GET":
            return False
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])
        return len(given) == 1 and self._is_token(given[0])

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.secret.token.encode())

    async def _headed(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, fresh: bool) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.decode("latin-1").lower() for name, _ in message["headers"]}
                own = {name: value for name, value in HEADERS.items() if name != "cache-control" or name not in given}
                if fresh:
                    own["set-cookie"] = (
                        f"{COOKIE}={self.secret.token}; Path={self.secret.root}; HttpOnly; SameSite=Strict"
                    )
                kept = [pair for pair in message["headers"] if pair[0].decode("latin-1").lower() not in own]
                message["headers"] = [*kept, *((name.encode(), value.encode()) for name, value in own.items())]
            await send(message)

        await app(scope, receive, headed)


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:  # half of an address
        return None


class BodyTooLarge(Exception):  # noqa: N818
    """More came than its length said, or no length was said."""


def _limited(receive: Receive) -> Receive:
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BODY_BYTES:
            raise BodyTooLarge
        return message

    return limited
