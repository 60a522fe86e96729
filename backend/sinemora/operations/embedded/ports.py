"""Checks of ports: whether they are free, and which process uses them.

Set-up imports it before anything is installed: it needs the standard library alone.
"""

import os
import socket
from pathlib import Path

_LISTEN = "0A"  # TCP_LISTEN in /proc/net/tcp


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
    inodes = {
        fields[9]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for fields in _rows(table)
        if fields[3] == _LISTEN and int(fields[1].rsplit(":", 1)[1], 16) == port
    }
    links = {f"socket:[{inode}]" for inode in inodes}
    for process in Path("/proc").iterdir():
        if not (links and process.name.isdecimal()):
            continue
        try:
            if any(os.readlink(handle) in links for handle in (process / "fd").iterdir()):
                return f"{(process / 'comm').read_text().strip()} (process {process.name})"
        except OSError:
            continue  # another user's, or gone
    return None


def _rows(table: str) -> list[list[str]]:
    try:
        return [line.split() for line in Path(table).read_text().splitlines()[1:]]
    except OSError:
        return []


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
