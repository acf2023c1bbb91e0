"""Headers of every answer: what a page may load, who may frame it."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The hash is that of an empty <style>, which Plotly inserts and then fills through the CSSOM.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; style-src-attr 'unsafe-inline'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors "
)


def security_headers(frame_ancestors: str) -> list[tuple[bytes, bytes]]:
    """Raw headers, lower-case names."""
    headers = {
        "content-security-policy": CONTENT_SECURITY_POLICY + frame_ancestors,
        "x-content-type-options": "nosniff",
        "referrer-policy": "strict-origin-when-cross-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


class SecurityHeaders:
    """Adds the headers to every HTTP answer; a header that a route has set itself stays."""

    def __init__(self, app: ASGIApp, frame_ancestors: str) -> None:
        self.app = app
        self.headers = security_headers(frame_ancestors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on; the answer's first message gets the headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message.get("headers", ())}
                added = [header for header in self.headers if header[0] not in given]
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
