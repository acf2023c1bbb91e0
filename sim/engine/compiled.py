"""How the engine is compiled: one decorator for its parts, one for its entry, and where the result is kept.

Numba's disk cache does not see an edit of a module that a compiled function imports, so the folder is
named by a hash of every source the engine is built from.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

IS_COMPILED: bool = not numba.config.DISABLE_JIT


def source_hash() -> str:
    """Hash of the sources that the compiled engines depend on: sim/engine with its folders, and sim/cost."""
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [*sorted(here.rglob("*.py")), here.parent / "cost.py"]:
        digest.update(path.relative_to(here.parent).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder() -> Path | None:
    """First writable place for compiled code, None if there is none (then each process compiles).

    A folder that others can write to is no such place: what is read from it is run.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    base = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(base)] if base else []
    places.append(Path(home) / "batchscope")
    for place in places:
        folder = place / source_hash()
        if _is_writable(folder):
            return folder
    return None


CACHE_FOLDER: Path | None = cache_folder() if IS_COMPILED else None
if CACHE_FOLDER is not None:
    numba.config.CACHE_DIR = str(CACHE_FOLDER)


# The engine allocates nothing, so reference counting (_nrt) would only cost; parts are called by compiled code only.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_PART: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _widened(kind: numba.types.Type) -> numba.types.Type:
    """Type that a part is compiled for: every integer is an int64, so that each part compiles once."""
    is_int = isinstance(kind, (numba.types.Integer, numba.types.IntegerLiteral))
    return numba.types.int64 if is_int else numba.types.unliteral(kind)


def _compiled_once(function: F, **options: Any) -> F:
    if not IS_COMPILED:
        return function
    dispatcher = numba.njit(**_OPTIONS, **options)(function)
    resolve = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: resolve(tuple(_widened(a) for a in args), kws)
    return dispatcher


def part(function: F) -> F:
    """Mark a function that the engine calls: compiled into its caller, for one signature."""
    return _compiled_once(function, **_PART)


def routine(function: F) -> F:
    """Mark a part with several callers and much in it: called, since copies of it would take long to compile."""
    return _compiled_once(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def leaf(function: F) -> F:
    """Mark a part of a few lines or of one caller: put into it before types are known, so that it compiles with it."""
    return numba.njit(**_OPTIONS, inline="always")(function)


def entry(function: F) -> F:
    """Mark the one function of an engine that Python calls: compiled once, kept on disk."""
    return numba.njit(**_OPTIONS, no_cfunc_wrapper=True, cache=CACHE_FOLDER is not None)(function)
