"""A backend and gateways in front of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.operations.gateway import processes
from tests.operations.gateway.processes import Api, Server

Gateways = Callable[..., Server]


@pytest.fixture(scope="module")
def backend(servers: object) -> Iterator[Api]:
    """The API on the database of the tests, which the tests of a file share."""
    api = Api()
    yield api
    api.stop()


@pytest.fixture
def api(backend: Api) -> Api:
    """The API, running, also after a test that stopped it."""
    backend.start()
    return backend


@pytest.fixture
def gateway(api: Api, tmp_path: Path) -> Iterator[Gateways]:
    """gateway("queued", "--capacity-mib", "1"): a running gateway of `api` with a folder `tmp_path / "gateway"`."""
    started: list[Server] = []

    def start(acknowledge: str, *options: str) -> Server:
        server = processes.gateway(tmp_path / "gateway", api.url, acknowledge, *options)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.stop()
