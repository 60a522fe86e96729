"""Clients of real servers, and noise: `traffic_client.py KIND ADDRESS[,ADDRESS …] PORT`, until ended."""

import contextlib
import http.client
import itertools
import socket
import struct
import sys
import time
from collections.abc import Callable

from sinemora.labs.profiler import parameter_server

WORKERS = 3
"""Of each group of the parameter server."""
_QUERY = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x02h1\x07example\x00\x00\x01\x00\x01"


def memcached(address: str, port: int) -> None:
    """Set and get values of 1 kB over two connections that last."""
    files = [socket.create_connection((address, port), 5).makefile("rwb") for _ in range(2)]
    for number in itertools.count():
        for each in files:
            each.write(b"set k%d 0 0 1000\r\n%s\r\nget k%d\r\n" % (number % 50, b"x" * 1_000, number % 50))
            each.flush()
            while b"END" not in each.readline():
                pass
        time.sleep(0.2)


def web(address: str, port: int) -> None:
    """Ask for a page again and again over a connection that lasts."""
    asked = http.client.HTTPConnection(address, port, timeout=5)
    while True:
        asked.request("GET", "/")
        asked.getresponse().read()
        time.sleep(0.2)


def dns(address: str, port: int) -> None:
    """Ask for a name once a second by TCP, each time by a new connection."""
    while True:
        with socket.create_connection((address, port), 5) as asked:
            asked.sendall(struct.pack("!H", len(_QUERY)) + _QUERY)
            asked.recv(1_000)
        time.sleep(1)


def training(address: str, port: int) -> None:
    """Be one worker of a group."""
    parameter_server.work(address, port, 1, WORKERS, 600)


def metrics(address: str, port: int) -> None:
    """Ask an exporter for its metrics, as a monitoring does."""
    with contextlib.closing(http.client.HTTPConnection(address, port, timeout=2)) as asked:
        asked.request("GET", "/metrics")
        asked.getresponse().read()
    time.sleep(0.3)


def scan(address: str, _: int) -> None:
    """Try many ports."""
    for port in range(1, 2_000, 7):
        with socket.socket() as tried:
            tried.settimeout(0.2)
            tried.connect_ex((address, port))
    time.sleep(1)


def shell(address: str, port: int) -> None:
    """Log in, type a little, and log out."""
    with socket.create_connection((address, port), 5) as session:
        for _ in range(5):
            session.sendall(b"ls\n")
            session.recv(100)
            time.sleep(0.2)


def shells(address: str, port: int) -> None:
    """Serve `shell`."""
    with socket.create_server((address, port)) as listener:
        while True:
            session, _ = listener.accept()
            with session, contextlib.suppress(OSError):
                while typed := session.recv(100):
                    session.sendall(typed)


KINDS: dict[str, Callable[[str, int], None]] = {
    **{"memcached": memcached, "http": web, "dns": dns, "training": training},
    **{"metrics": metrics, "scan": scan, "shell": shell, "shells": shells},
}


if __name__ == "__main__":
    kind, addresses, at = sys.argv[1:]
    for one in itertools.cycle(addresses.split(",")):
        with contextlib.suppress(OSError, http.client.HTTPException):
            KINDS[kind](one, int(at))
            continue
        time.sleep(0.5)
