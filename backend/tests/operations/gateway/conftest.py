"""A backend and gateways in front of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.benchmarks.storing.product import free_port
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
        port = free_port()
        server = Server(
            tmp_path / f"gateway-{port}.log",
            f"http://127.0.0.1:{port}",
            *("gateway", "--listen", f"127.0.0.1:{port}", "--backend", api.url, "--acknowledge", acknowledge),
            *("--directory", tmp_path / "gateway", *options),
        )
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.stop()
