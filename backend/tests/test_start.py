"""The start of the API, and the time it keeps a connection."""

import http.client
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import routing
from fastapi.testclient import TestClient

from sinemora.main import create_app, server
from tests.conftest import Servers
from tests.waits import WAIT_MOST_S, until


def test_the_first_request_finds_all_routes_prepared(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(create_app()) as client:
        monkeypatch.delattr(routing, "get_dependant")  # with which FastAPI reads the signature of a route
        assert client.get("/v1/meshes").status_code == 401


def test_a_connection_without_requests_stays_open(servers: Servers) -> None:
    running = server()
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        ended = pool.submit(running.run, [listening])
        until(lambda: running.started, "the start of the server")
        connection = http.client.HTTPConnection(*listening.getsockname(), timeout=WAIT_MOST_S)
        statuses = []
        try:
            for pause_s in (0, 6):
                time.sleep(pause_s)
                connection.request("GET", "/v1/meshes")
                with connection.getresponse() as answer:
                    statuses.append(answer.status)
                    answer.read()
        finally:
            running.should_exit = True
            ended.result()
    assert statuses == [401, 401]
