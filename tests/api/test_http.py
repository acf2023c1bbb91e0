"""What holds for every route: health, headers, compression, static files, prefixes."""

import gzip
from pathlib import Path

import brotli
import pytest
from starlette.testclient import TestClient

from app.main import create_app
from app.security import CONTENT_SECURITY_POLICY
from app.settings import Settings


def test_health_and_version_answer(client: TestClient):
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/version").json()["version"]


@pytest.mark.parametrize("path", ["/health", "/api/v1/params", "/static/missing.js", "/nowhere", "/api/v1/run?rate=-1"])
def test_every_answer_has_the_security_headers(client: TestClient, path: str):
    headers = client.get(path).headers
    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY + "'self'"
    assert headers["x-content-type-options"] == "nosniff"


def test_who_may_frame_the_pages_is_a_setting(settings: Settings):
    app = create_app(settings.model_copy(update={"frame_ancestors": "https://course.example"}))
    policy = TestClient(app).get("/health").headers["content-security-policy"]
    assert policy.endswith("frame-ancestors https://course.example")


def test_an_error_of_ours_is_a_problem_with_headers_and_no_traceback(settings: Settings):
    app = create_app(settings)

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("secret")

    response = TestClient(app, raise_server_exceptions=False).get("/broken")
    assert (response.status_code, response.json()["status"]) == (500, 500)
    assert "secret" not in response.text
    assert "content-security-policy" in response.headers


@pytest.mark.parametrize(("encoding", "decompress"), [("br", brotli.decompress), ("gzip", gzip.decompress)])
def test_answers_are_compressed_as_the_client_asks(client: TestClient, encoding: str, decompress):
    with client.stream("GET", "/api/v1/params", headers={"Accept-Encoding": encoding}) as response:
        raw = b"".join(response.iter_raw())
    assert response.headers["content-encoding"] == encoding
    assert "accept-encoding" in response.headers["vary"].lower()
    assert b"max_num_seqs" in decompress(raw)


def test_head_answers_as_get_without_a_body(client: TestClient):
    response = client.head("/api/v1/params")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["etag"] == client.get("/api/v1/params").headers["etag"]


@pytest.mark.parametrize("prefix", ["", "/user/anna/proxy/8000"])
def test_a_missing_last_slash_is_a_relative_redirect(client: TestClient, prefix: str):
    response = client.get(f"{prefix}/lab?rate=3", headers={"X-Forwarded-Prefix": prefix}, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (307, "./lab/?rate=3")


@pytest.mark.parametrize("path", ["/health", "/hub/health"])
def test_a_forwarded_prefix_is_accepted_stripped_or_not(client: TestClient, path: str):
    assert client.get(path, headers={"X-Forwarded-Prefix": "/hub/"}).status_code == 200


@pytest.mark.parametrize("prefix", ["//evil.example", "hub", "/a\r\nb", "/<script>"])
def test_a_prefix_that_is_no_path_is_ignored(client: TestClient, prefix: str):
    assert client.get("/health", headers={"X-Forwarded-Prefix": prefix}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("POST", "/api/v1/run", 405), ("GET", "/api/v1/traces", 405), ("GET", "/static/", 404)],
)
def test_http_errors_are_problems(client: TestClient, method: str, path: str, status: int):
    response = client.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json().keys() >= {"type", "title", "status", "detail"}


class TestStaticFiles:
    @pytest.fixture
    def client(self, settings: Settings, tmp_path: Path) -> TestClient:
        (tmp_path / "app.js").write_text("let x = 1;\n" * 500)
        (tmp_path / "lib-4.1.1.min.js").write_text("let y = 1;")
        (tmp_path / "dot.png").write_bytes(b"\x89PNG" * 500)
        return TestClient(create_app(settings.model_copy(update={"static_dir": tmp_path})))

    def test_are_compressed(self, client: TestClient):
        response = client.get("/static/app.js", headers={"Accept-Encoding": "br"})
        assert response.headers["content-encoding"] == "br"
        assert int(response.headers["content-length"]) < 200
        assert response.text.startswith("let x")

    def test_are_plain_for_who_wants_them_plain(self, client: TestClient):
        response = client.get("/static/app.js", headers={"Accept-Encoding": "br;q=0"})
        assert "content-encoding" not in response.headers

    def test_pictures_are_not_compressed_again(self, client: TestClient):
        assert "content-encoding" not in client.get("/static/dot.png").headers

    @pytest.mark.parametrize("encoding", ["br", "identity"])
    def test_are_not_sent_twice(self, client: TestClient, encoding: str):
        headers = {"Accept-Encoding": encoding}
        etag = client.get("/static/app.js", headers=headers).headers["etag"]
        assert client.get("/static/app.js", headers={**headers, "If-None-Match": etag}).status_code == 304

    @pytest.mark.parametrize(
        ("path", "cache"), [("app.js", "no-cache"), ("app.js?v=1", "immutable"), ("lib-4.1.1.min.js", "immutable")]
    )
    def test_are_kept_for_ever_only_with_a_version(self, client: TestClient, path: str, cache: str):
        assert cache in client.get(f"/static/{path}").headers["cache-control"]

    @pytest.mark.parametrize("path", ["../conftest.py", "%2e%2e/secret", "%00", "a" * 5000, "/etc/passwd"])
    def test_nothing_else_is_served(self, client: TestClient, path: str):
        assert client.get(f"/static/{path}").status_code == 404
