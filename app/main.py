"""The web application: routes, middleware, what happens at start and end."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from brotli_asgi import BrotliMiddleware
from fastapi import FastAPI
from starlette.responses import FileResponse, Response

import sim
from app import api, embed, errors, exports, glossary, pages, paste, share, teach
from app.assets import REVALIDATE, Assets
from app.caching import build_id
from app.proxy import ForwardedPrefix, HeadAsGet, SlashRedirect
from app.security import SecurityHeaders
from app.service import Service
from app.settings import Settings
from app.traces import TraceStore
from sim.catalog.efficiencies import CALIBRATED

SWITCH_S = 0.0003
"""How long a thread that simulates may keep the interpreter while answers wait to be sent [s]; Python's own is 5 ms."""

DESCRIPTION = "How LLM servers batch requests, step by step. A run is a pure function of its URL."


def create_app(settings: Settings | None = None) -> FastAPI:
    """Application with its own settings, worker threads and caches."""
    settings = settings or Settings()
    # Pages with scripts from elsewhere are against our CSP, so FastAPI's own documentation pages are off.
    app = FastAPI(
        title="Batchscope",
        version=sim.__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        root_path_in_servers=False,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.settings = settings
    app.state.traces = TraceStore(settings)
    app.state.service = Service(settings, app.state.traces)
    app.router.default = SlashRedirect(app.router)
    errors.install(app)
    app.include_router(api.router)
    app.include_router(exports.router)
    app.include_router(pages.router)
    app.include_router(teach.router)
    app.include_router(glossary.router)
    app.include_router(embed.router)
    app.include_router(share.router)
    app.include_router(paste.router)
    app.include_router(paste.pages)
    app.mount("/static", Assets(directory=settings.static_dir, check_dir=False), name="static")
    _add_plain_routes(app, settings.static_dir)
    # Added last is outermost.
    app.add_middleware(BrotliMiddleware, quality=4, lgwin=18, minimum_size=500, excluded_handlers=["/static/"])
    app.add_middleware(HeadAsGet)
    app.add_middleware(ForwardedPrefix)
    app.add_middleware(SecurityHeaders, frame_ancestors=settings.frame_ancestors)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    build_id()  # of the sources that are loaded, not of what they are edited to later
    sys.setswitchinterval(SWITCH_S)
    app.state.service.warm_up()
    yield
    app.state.service.close()


def _add_plain_routes(app: FastAPI, static_dir: Path) -> None:
    @app.get("/health", summary="Whether the server answers")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/version", summary="What answers")
    async def version() -> dict[str, Any]:
        return {"version": sim.__version__, "build": build_id(), "calibrated": CALIBRATED}

    @app.get("/favicon.ico", include_in_schema=False)
    async def favicon() -> Response:
        icon = static_dir / "img" / "favicon.svg"
        return FileResponse(icon, media_type="image/svg+xml", headers={"Cache-Control": REVALIDATE})


app = create_app()
