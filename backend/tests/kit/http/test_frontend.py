"""The built front end: one page for its own addresses, its assets for ever, nothing else of the disk."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from sinemora.kit import errors
from sinemora.kit.http.frontend import content_policy, serve_frontend
from sinemora.kit.http.middleware import HttpMiddleware

PAGE = '<html><script>let a = 1</script><script type="module" src="/assets/index-abc.js"></script></html>'


@pytest.fixture
def site(tmp_path: Path) -> TestClient:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "assets" / "index-abc.js").write_text("1")
    (tmp_path / "secret.txt").write_text("of the house")
    app = FastAPI()
    errors.install(app)
    app.add_middleware(HttpMiddleware, hsts=False, body_limit_bytes=1024)
    serve_frontend(app, folder)
    return TestClient(app)


@pytest.mark.parametrize("path", ["/", "/sign-in", "/meshes/1/paths/2/3", "/meshes/a.b"])
def test_addresses_of_the_app_get_the_page(site: TestClient, path: str):
    answer = site.get(path)
    assert answer.text == PAGE
    assert answer.headers["Cache-Control"] == "no-cache"
    assert "script-src 'self' 'sha256-" in answer.headers["Content-Security-Policy"]


def test_assets_are_kept_for_ever(site: TestClient):
    assert "immutable" in site.get("/assets/index-abc.js").headers["Cache-Control"]
    assert site.get("/favicon.svg").headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["/v1/nothing", "/assets/index-old.js", "/healthz"])
def test_what_is_missing_is_missing(site: TestClient, path: str):
    answer = site.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "route_unknown")


@pytest.mark.parametrize("path", ["/%2e%2e/secret.txt", "/..%2fsecret.txt", "/assets/%2e%2e/%2e%2e/secret.txt"])
def test_nothing_outside_the_folder_is_read(site: TestClient, path: str):
    assert "of the house" not in site.get(path).text


def test_the_policy_knows_inline_scripts_by_hash():
    # printf '%s' 'let a = 1' | openssl dgst -sha256 -binary | base64
    assert "script-src 'self' 'sha256-LAfYd7pbFUgwfQu8b4q135PeTG2z+/coPEUYCd74eCQ=';" in content_policy(PAGE)
    assert "script-src 'self';" in content_policy('<script src="x"></script>')
