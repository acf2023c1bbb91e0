"""Bodies of uploads, as a raw body or as a form's file, read only up to a limit."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.types import Message

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
    is_form = _has_type(request, "multipart/form-data")
    limited = _limited(request, most_bytes + (FORM_BYTES if is_form else 0), most_bytes, "file")
    upload = await _form_file(limited) if is_form else Upload(await limited.body(), "")
    if len(upload.content) > most_bytes:
        raise too_large(most_bytes)
    if not upload.content:
        raise Problem(422, "The file is empty.", field="file", value="(empty)", allowed="a trace file")
    return upload


async def read_pasted(request: Request, most_bytes: int) -> Upload:
    """Read a pasted text: the body, or a form's field `text` or its file, which goes first if it is not empty.

    Raises
    ------
    Problem
        413 as soon as it is known to be too large.
    """
    is_form = _has_type(request, "multipart/form-data")
    limited = _limited(request, most_bytes + (FORM_BYTES if is_form else 0), most_bytes, "text")
    if is_form:
        return await _form_text(limited, most_bytes)
    body = await limited.body()
    if _has_type(request, "application/x-www-form-urlencoded") and body.startswith(b"text="):
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
        return Upload(fields["text"][0].encode("utf-8", "replace"), "")
    return Upload(body, "")


def too_large(most_bytes: int, field: str = "file") -> Problem:
    """413 with the limit."""
    limit = f"{most_bytes / 1e6:.3g} MB"
    return Problem(413, f"The {field} is larger than {limit}.", field=field, allowed=f"at most {limit}")


async def _form_file(request: Request) -> Upload:
    async with request.form(max_files=1, max_fields=8) as form:
        for part in form.values():
            if isinstance(part, UploadFile):
                return Upload(await part.read(), part.filename or "")
    raise Problem(422, "The form has no file.", field="file", value="(none)", allowed="a form field that holds a file")


async def _form_text(request: Request, most_bytes: int) -> Upload:
    text = Upload(b"", "")
    async with request.form(max_files=1, max_fields=8, max_part_size=most_bytes) as form:
        for name, part in form.multi_items():
            if isinstance(part, UploadFile):
                content = await part.read()
                if content:
                    return Upload(content, part.filename or "")
            elif name == "text":
                text = Upload(part.encode("utf-8", "replace"), "")
    return text


def _has_type(request: Request, media_type: str) -> bool:
    return request.headers.get("Content-Type", "").startswith(media_type)


def _limited(request: Request, most: int, most_bytes: int, field: str) -> Request:
    """The request, whose body is refused as soon as it is known to be larger than `most` [bytes]."""
    length = request.headers.get("Content-Length", "")
    if length.isdecimal() and int(length) > most:
        raise too_large(most_bytes, field)
    total = 0

    async def receive() -> Message:
        nonlocal total
        message = await request.receive()
        total += len(message.get("body", b""))
        if total > most:
            raise too_large(most_bytes, field)
        return message

    return Request(request.scope, receive)
