"""The start of the API, and the time it keeps a connection."""

import http.client
import time

import pytest
from fastapi import routing
from fastapi.testclient import TestClient

from sinemora.main import create_app, server
from tests.conftest import Servers
from tests.terminal import serving
from tests.waits import WAIT_MOST_S


def test_the_first_request_finds_all_routes_prepared(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(create_app()) as client:
        monkeypatch.delattr(routing, "get_dependant")  # with which FastAPI reads the signature of a route
        assert client.get("/v1/meshes").status_code == 401


def test_a_connection_without_requests_stays_open(servers: Servers) -> None:
    statuses = []
    with serving(server()) as address:
        connection = http.client.HTTPConnection(*address, timeout=WAIT_MOST_S)
        for pause_s in (0, 6):
            time.sleep(pause_s)
            connection.request("GET", "/v1/meshes")
            with connection.getresponse() as answer:
                statuses.append(answer.status)
                answer.read()
    assert statuses == [401, 401]
