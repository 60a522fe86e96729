"""The load generator against a server that answers in pieces, refuses, and goes away."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lab.benchmarks.storing.load import Load, request_of
from tests.patience import PATIENCE_S

BODY = b"x" * 1000
REQUEST = request_of("sma_x", BODY)


@contextmanager
def answering(responses: list[bytes]) -> Iterator[int]:
    """Serve one connection: each request gets the next response, in two pieces; then the connection is closed."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE_S)

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(PATIENCE_S)
                for response in responses:
                    left = len(REQUEST)
                    while left:
                        left -= len(connection.recv(left))
                    connection.sendall(response[:20])
                    connection.sendall(response[20:])

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


STORED = b"HTTP/1.1 204 No Content\r\nx-request-id: 1\r\n\r\n"
REFUSED = b"HTTP/1.1 422 Unprocessable\r\nContent-Length: 5\r\n\r\nwrong"


def test_responses_are_counted_by_what_they_say() -> None:
    with answering([STORED, REFUSED, STORED]) as port:
        outcome = Load([port], [REQUEST] * 3, connections=1).wait()
    assert (outcome.acknowledged, outcome.refused) == (2, 1)


def test_a_server_that_goes_away_ends_the_benchmark() -> None:
    with answering([STORED]) as port, pytest.raises(RuntimeError, match="load generator died"):
        Load([port], [REQUEST] * 3, connections=1).wait()
