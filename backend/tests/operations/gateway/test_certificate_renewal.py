"""Renewal of a gateway's certificate: new connections get it once its key is there, and open ones stay."""

import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import uvicorn
from structlog.testing import capture_logs

from lab.benchmarks.storing.product import free_port
from sinemora.operations.gateway import server
from sinemora.operations.gateway.options import Tls
from tests.certificates import certificate
from tests.waits import WAIT_MOST_S, until


async def hello(scope, receive, send) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[int, Path, Path]]:
    """Serve with a certificate; yield the port and the files."""
    monkeypatch.setattr(server, "_LOOK_S", 0.1)
    monkeypatch.setattr(server, "HEAD_S", 1.0)
    chain, key, _ = certificate(tmp_path)
    config = uvicorn.Config(
        hello,
        host="127.0.0.1",
        port=free_port(),
        lifespan="off",
        loop=f"{server.__name__}:Loop",
        ssl_certfile=chain,
        ssl_keyfile=key,
    )
    running = server.Server(config, Tls(chain, key))
    thread = threading.Thread(target=running.run)
    thread.start()
    until(lambda: running.started, lambda: "the server does not start")
    yield config.port, chain, key
    running.should_exit = True
    thread.join(WAIT_MOST_S)


def shown(port: int) -> str:
    return ssl.get_server_certificate(("127.0.0.1", port), timeout=WAIT_MOST_S)


def ask(connection: ssl.SSLSocket) -> bytes:
    """Return the whole response to a request on an open connection."""
    connection.sendall(b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n")
    received = b""
    while not received.endswith(b"hello"):
        received += connection.recv(1000) or pytest.fail(f"closed after {received!r}")
    return received


@pytest.mark.parametrize(("end", "warnings"), [(timedelta(days=1), 0), (timedelta(days=-1), 1)])
def test_a_certificate_that_has_expired_is_logged(tmp_path: Path, end: timedelta, warnings: int) -> None:
    made = certificate(tmp_path, end)
    with capture_logs() as logs:
        server.warn_of_validity(made.chain)
    assert [entry["certificate"] for entry in logs] == [str(made.chain)] * warnings


def test_a_renewed_certificate_is_used_once_its_key_is_there(gateway: tuple[int, Path, Path], tmp_path: Path):
    port, chain, key = gateway
    before = shown(port)
    assert before == chain.read_text()
    (tmp_path / "new").mkdir()
    new_chain, new_key, _ = certificate(tmp_path / "new")
    trust = ssl.create_default_context(cafile=str(tmp_path / "authority.pem"))
    plain = socket.create_connection(("127.0.0.1", port), WAIT_MOST_S)
    with trust.wrap_socket(plain, server_hostname="127.0.0.1") as opened:
        assert ask(opened).startswith(b"HTTP/1.1 200")
        with capture_logs() as lines:
            # TLS takes this form, and agents do not.
            chain.write_text(before.replace("CERTIFICATE", "TRUSTED CERTIFICATE"))
            until(lambda: any("cannot be used" in line["event"] for line in lines), lambda: str(lines))
            lines.clear()
            new_chain.replace(chain)
            until(lambda: any("cannot be used" in line["event"] for line in lines), lambda: str(lines))
        # The key of the new certificate is not there yet.
        assert shown(port) == before
        assert ask(opened).startswith(b"HTTP/1.1 200")
        new_key.replace(key)
        until(lambda: shown(port) == chain.read_text(), lambda: "the old certificate stays")
        assert ask(opened).startswith(b"HTTP/1.1 200")


def test_a_handshake_that_does_not_go_on_is_ended(gateway: tuple[int, Path, Path]):
    with socket.create_connection(("127.0.0.1", gateway[0])) as stranger:
        stranger.settimeout(10)
        stranger.sendall(b"\x16\x03\x01\x02")  # the begin of a record
        assert stranger.recv(100) == b""
