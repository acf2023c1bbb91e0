"""What differs behind a proxy: the prefix it serves us under, HEAD for GET, a missing last slash."""

from __future__ import annotations

import re
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Match, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PREFIX = re.compile(r"(/[\w.~@-]+)+", re.ASCII)


class ForwardedPrefix:
    """Takes X-Forwarded-Prefix as the root path, whether the proxy strips the prefix or not.

    Pages need no prefix, for their URLs are relative; whatever does build an absolute one gets it right.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on with `root_path` and `path` as ASGI wants them."""
        prefix = Headers(scope=scope).get("x-forwarded-prefix", "").rstrip("/") if scope["type"] == "http" else ""
        if _PREFIX.fullmatch(prefix):
            path = scope["path"]
            is_stripped = not (path == prefix or path.startswith(prefix + "/"))
            scope = {**scope, "root_path": prefix, "path": prefix + path if is_stripped else path}
        await self.app(scope, receive, send)


class HeadAsGet:
    """Answers HEAD as GET without its body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on as GET; the first body message ends the answer, later ones are dropped."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        is_complete = False

        async def send_head(message: Message) -> None:
            nonlocal is_complete
            if message["type"] == "http.response.start":
                await send(message)
            elif not is_complete:
                is_complete = True
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self.app({**scope, "method": "GET"}, receive, send_head)


class SlashRedirect:
    """What the router falls back on: /lab goes to /lab/ by a relative address, which is right under any prefix."""

    def __init__(self, router: Router) -> None:
        self.router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the redirect if the path with a last slash is served, else raise 404."""
        with_slash = {**scope, "path": scope["path"] + "/"}
        if scope["type"] != "http" or not any(
            route.matches(with_slash)[0] is Match.FULL for route in self.router.routes
        ):
            await self.router.not_found(scope, receive, send)
            return
        query = scope["query_string"].decode("latin-1")
        location = f"./{quote(scope['path'].rsplit('/', 1)[-1])}/{'?' if query else ''}{query}"
        await Response(status_code=307, headers={"Location": location})(scope, receive, send)
