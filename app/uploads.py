"""Bodies of uploads, as a raw body or as a form's file, read only up to a limit."""

from __future__ import annotations

from typing import NamedTuple

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.types import Message, Receive

from app.errors import Problem

FORM_BYTES = 16 * 1024
"""What a form may have around its file."""


class Upload(NamedTuple):
    """A file that a client has sent."""

    content: bytes
    name: str


async def read_upload(request: Request, most_bytes: int) -> Upload:
    """Read the file in the request.

    Raises
    ------
    Problem
        413 as soon as it is known to be too large; 422 if there is none.
    """
    is_form = request.headers.get("Content-Type", "").startswith("multipart/form-data")
    most = most_bytes + (FORM_BYTES if is_form else 0)
    length = request.headers.get("Content-Length", "")
    if length.isdecimal() and int(length) > most:
        raise too_large(most_bytes)
    limited = Request(request.scope, _limited(request.receive, most, most_bytes))
    upload = await _form_file(limited) if is_form else Upload(await limited.body(), "")
    if len(upload.content) > most_bytes:
        raise too_large(most_bytes)
    if not upload.content:
        raise Problem(422, "The file is empty.", field="file", value="(empty)", allowed="a trace file")
    return upload


def too_large(most_bytes: int) -> Problem:
    """413 with the limit."""
    limit = f"{most_bytes / 1e6:.3g} MB"
    return Problem(413, f"The file is larger than {limit}.", field="file", allowed=f"at most {limit}")


async def _form_file(request: Request) -> Upload:
    async with request.form(max_files=1, max_fields=8) as form:
        for part in form.values():
            if isinstance(part, UploadFile):
                return Upload(await part.read(), part.filename or "")
    raise Problem(422, "The form has no file.", field="file", value="(none)", allowed="a form field that holds a file")


def _limited(receive: Receive, most: int, most_bytes: int) -> Receive:
    total = 0

    async def receive_limited() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > most:
            raise too_large(most_bytes)
        return message

    return receive_limited
