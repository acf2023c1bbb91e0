"""What follows from a client that leaves: whatever was done for it stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, suppress
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

T = TypeVar("T")


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """Result of the work, which is cancelled if the client leaves first.

    Raises
    ------
    ClientDisconnect
        If the client has left.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.create_task(_until_left(request.receive))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        for each in (task, watch):
            each.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await each


async def _until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class ClosingStream(StreamingResponse):
    """Closes its generator at once when the client leaves, wherever the generator is."""

    def __init__(self, content: AsyncGenerator[bytes, None], headers: dict[str, str], media_type: str) -> None:
        super().__init__(content, headers=headers, media_type=media_type)
        self.content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self.content):
            await super().__call__(scope, receive, send)
