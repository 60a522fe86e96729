"""What the API has done before its first request."""

import pytest
from fastapi import routing
from fastapi.testclient import TestClient

from sinemora.main import create_app
from tests.conftest import Servers


def test_the_first_request_finds_all_routes_prepared(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(create_app()) as client:
        monkeypatch.delattr(routing, "get_dependant")  # with which FastAPI reads the signature of a route
        assert client.get("/v1/meshes").status_code == 401
