"""A backend in a separate process and gateways in front of it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.operations.gateway.processes import Server, free_port

Gateways = Callable[..., Server]


@pytest.fixture(scope="module")
def backend(servers: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The API on the database of the tests. To start it takes longer than most tests, so those of a file share it."""
    port = free_port()
    env = os.environ | {"SINEMORA_PORT": str(port), "SINEMORA_LOG_LEVEL": "warning"}
    log = tmp_path_factory.mktemp("api") / "api.log"
    server = Server(log, f"http://127.0.0.1:{port}", "serve", env=env)
    yield server
    server.stop()


@pytest.fixture
def api(backend: Server) -> Server:
    """The API, running, also after a test that stopped it."""
    if not backend.is_running():
        backend.start()
    return backend


@pytest.fixture
def gateway(api: Server, tmp_path: Path) -> Iterator[Gateways]:
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
