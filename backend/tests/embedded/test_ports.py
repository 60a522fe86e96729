"""A taken port is noticed and its holder named."""

import os
import socket

from sinemora.embedded.ports import tcp_free, tcp_holder, udp_free


def test_a_listener_is_found_and_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not tcp_free("127.0.0.1", port)
        assert f"(process {os.getpid()})" in (tcp_holder(port) or "")
    assert tcp_free("127.0.0.1", port)
    assert tcp_holder(port) is None


def test_datagram_ports_are_counted_per_address() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.20.9.1", 0))
        port = one.getsockname()[1]
        assert not udp_free("127.20.9.1", port)
        assert udp_free("127.20.9.2", port)
