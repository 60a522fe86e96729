"""Packages are served by name; nothing else of the disk is."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from sinemora.kit import errors
from sinemora.kit.http.downloads import installs, serve_packages
from sinemora.kit.http.middleware import HttpMiddleware


@pytest.fixture
def site(tmp_path: Path) -> TestClient:
    folder = tmp_path / "dist"
    (folder / "inner").mkdir(parents=True)
    (folder / "install.sh").write_text("#!/bin/sh\n")
    (folder / "agent-1-x86_64.deb").write_bytes(b"!<arch>\n")
    (folder / ".key").write_text("secret")
    (tmp_path / "secret.txt").write_text("of the house")
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    app = FastAPI()
    errors.install(app)
    app.add_middleware(HttpMiddleware, hsts=False, body_limit_bytes=1024)
    serve_packages(app, folder)
    return TestClient(app)


def test_script_and_packages_are_fetched(site: TestClient):
    script = site.get("/packages/install.sh")
    assert (script.text, script.headers["Content-Type"]) == ("#!/bin/sh\n", "text/plain; charset=utf-8")
    assert site.get("/packages/agent-1-x86_64.deb").content == b"!<arch>\n"


@pytest.mark.parametrize("name", ["none.deb", ".key", "inner", "link", "..%2Fsecret.txt", "%2e%2e/secret.txt"])
def test_nothing_else_is(site: TestClient, name: str):
    assert site.get(f"/packages/{name}").status_code == 404


def test_without_the_script_there_is_nothing_to_install_from(tmp_path: Path):
    assert not installs(None)
    assert not installs(tmp_path)
    (tmp_path / "install.sh").write_text("")
    assert installs(tmp_path)
