"""Total time of an exchange with a server on the network.

A time-out of a socket counts from its last byte, so a server that sends a byte every few seconds is never given up on.
A `Deadline` ends the whole exchange: look-up of the name, connection, TLS, request and response.
"""

import socket
import threading
import time
from types import TracebackType
from typing import Any


class Deadline:
    """Context in which the connections that it watches are shut down when `limit_s` seconds are over."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.passed = False
        self._ends_at = time.monotonic() + limit_s
        self._watched: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(limit_s, self._end)
        self._timer.daemon = True

    def __enter__(self) -> "Deadline":
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._timer.cancel()
        with self._lock:
            for copy in self._watched:
                copy.close()
            self._watched.clear()

    def left_s(self) -> float:
        """Return the remaining time, s. Raises TimeoutError at its end."""
        left_s = self._ends_at - time.monotonic()
        if left_s <= 0:
            self.passed = True
            raise TimeoutError
        return left_s

    def watch(self, connection: socket.socket) -> None:
        """Shut a connection down at the end of the time, also within TLS that begins on it later."""
        # A copy of the descriptor: the socket gives its own to the one that encrypts.
        with self._lock:
            self._watched.append(connection.dup())

    def _end(self) -> None:
        with self._lock:
            self.passed = True
            for copy in self._watched:
                try:
                    copy.shutdown(socket.SHUT_RDWR)
                except OSError:  # the peer has closed it
                    continue

    def addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host. Raises OSError, TimeoutError.

        The system's resolver has no time-out of its own that a caller could set: it is left behind at the end.
        """
        found: list[Any] = []

        def look_up() -> None:
            try:
                found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
            except (OSError, UnicodeError) as error:
                found.append(error)

        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(self.left_s())
        if not found:
            self.passed = True
            raise TimeoutError
        if isinstance(found[0], Exception):
            raise found[0]
        return [str(info[4][0]) for info in found[0]]
