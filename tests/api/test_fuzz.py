"""Random calls made from /openapi.json: every answer is one that the document names, and none is a 5xx."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

from app.main import create_app
from app.settings import Settings
from tests.hunting import share_of

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance]
FILES = tuple(f"/api/v1/export/{name}" for name in ("steps.csv", "requests.csv", "run.json", "trace.json"))
SLOW = ("/api/v1/run", "/api/v1/steps", "/api/v1/sweep", *FILES)
POSTED = ("/api/v1/traces", "/api/v1/import")
ROUTES = [
    *(("GET", path) for path in (*SLOW, "/api/v1/catalog", "/api/v1/costs", "/api/v1/params", "/health", "/version")),
    *(("POST", path) for path in POSTED),
]


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> schemathesis.BaseSchema:
    folder: Path = tmp_path_factory.mktemp("traces")
    app = create_app(Settings(trace_dir=folder, max_tokens=100_000, max_blocks=100_000, workers=2))
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.fixture(scope="module")
def session(schema: schemathesis.BaseSchema) -> Iterator[asgi.ASGIClient]:
    with asgi.get_client(schema.app) as client:
        yield client


def test_the_document_has_every_route(schema: schemathesis.BaseSchema):
    listed = {(method.upper(), path) for path, item in schema.raw_schema["paths"].items() for method in item}
    assert listed == set(ROUTES)


POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
CALLS = [(*route, POSITIVE, 100) for route in ROUTES]
CALLS += [("GET", path, NEGATIVE, 12) for path in SLOW] + [("POST", path, NEGATIVE, 40) for path in POSTED]


@pytest.mark.parametrize(("method", "path", "mode", "examples"), CALLS)
def test_every_answer_is_as_documented(
    schema, session, pytestconfig, method: str, path: str, mode: GenerationMode, examples: int
):
    strategy = schema[path][method].as_strategy(generation_mode=mode)

    @settings(max_examples=share_of(pytestconfig, examples), deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def check(case: schemathesis.Case) -> None:
        case.call_and_validate(session=session, checks=CHECKS)

    check()
