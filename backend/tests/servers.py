"""A server of the product for one test or file."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from sinemora.operations.embedded.servers.postgres import PostgresServer
from sinemora.operations.embedded.servers.valkey import ValkeyServer

S = TypeVar("S", PostgresServer, ValkeyServer)


@contextmanager
def started(server: S) -> Iterator[S]:
    """Prepare and start a server; stop it at the end."""
    server.prepare()
    server.start()
    try:
        yield server
    finally:
        server.stop()
