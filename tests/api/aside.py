"""Coroutines in a thread of their own: Playwright's fixtures leave an event loop running in the main one."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_aside(coroutine: Coroutine[Any, Any, T]) -> T:
    """What `asyncio.run` returns, wherever it is called."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
