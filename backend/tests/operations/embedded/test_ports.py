"""A taken port is noticed and its holder named."""

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import sinemora
from sinemora.kit.config import Settings
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.ports import tcp_free, tcp_holder, tcp_refusal, udp_free
from sinemora.operations.embedded.up import require_port


def test_a_listener_is_found_and_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not tcp_free("127.0.0.1", port)
        assert f"(process {os.getpid()})" in (tcp_holder(port) or "")
    assert tcp_free("127.0.0.1", port)
    assert tcp_holder(port) is None


def test_datagram_ports_are_counted_per_address() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.bind(("127.20.9.1", 0))
        port = opened.getsockname()[1]
        assert not udp_free("127.20.9.1", port)
        assert udp_free("127.20.9.2", port)


def test_an_address_of_another_machine_is_not_called_taken() -> None:
    refusal = tcp_refusal("192.0.2.1", 8420)
    assert refusal is not None
    assert refusal.errno != errno.EADDRINUSE
    with pytest.raises(EmbeddedError, match=r"^Nothing can listen on 192\.0\.2\.1 port 8420: "):
        require_port(Settings(_env_file=None, host="192.0.2.1"))


def test_set_up_asks_for_ports_before_anything_is_installed() -> None:
    bare = [sys.executable, "-S", "-c", f"import {tcp_free.__module__}"]
    subprocess.run(bare, env={"PYTHONPATH": str(Path(sinemora.__file__).parents[1]), "PATH": ""}, check=True)
