"""Checks of ports: whether they are free, and which process uses them."""

import socket
from contextlib import suppress

import psutil


def tcp_free(host: str, port: int) -> bool:
    """Return whether a server may listen on `host`:`port` now."""
    return tcp_refusal(host, port) is None


def tcp_refusal(host: str, port: int) -> OSError | None:
    """Return the error of listening on `host`:`port`; None when it is possible."""
    return _refusal(socket.SOCK_STREAM, host, port)


def udp_free(host: str, port: int) -> bool:
    """Return whether `host`:`port` can be bound for datagrams now."""
    return _refusal(socket.SOCK_DGRAM, host, port) is None


def tcp_holder(port: int) -> str | None:
    """Return `name (process N)` of the process that listens on `port`, if this user may see it."""
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
            with suppress(psutil.Error):  # it has ended
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return None


def _refusal(kind: socket.SocketKind, host: str, port: int) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, kind) as probe:
        if kind == socket.SOCK_STREAM:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does, which ignores TIME_WAIT
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None
