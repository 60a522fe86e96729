"""Callers that open a connection for each request, at once, and count what came of it."""

import http.client
import threading
import time
from dataclasses import dataclass, field


@dataclass
class Callers:
    """Threads that ask for `/healthz` of a port of this machine until the block ends."""

    threads: int
    port: int
    answered: int = 0
    refused: int = 0
    broken: int = 0
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _running: list[threading.Thread] = field(default_factory=list, repr=False)

    def __enter__(self) -> "Callers":
        self._running = [threading.Thread(target=self._ask) for _ in range(self.threads)]
        for thread in self._running:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._running:
            thread.join()

    def _ask(self) -> None:
        while not self._ended.is_set():
            fate = self._once()
            with self._lock:
                setattr(self, fate, getattr(self, fate) + 1)
            time.sleep(0.02)

    def _once(self) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", "/healthz")
            return "answered" if connection.getresponse().status == 200 else "broken"
        except ConnectionRefusedError:
            return "refused"
        except (OSError, http.client.HTTPException):
            return "broken"
        finally:
            connection.close()
