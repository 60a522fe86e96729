"""What this process remembers of what it has read and merged: bounded, and never needed for an answer to be right."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from sinemora.kit.config import settings
from sinemora.measurements import metrics


class LruCache:
    """Values by key, the least used of them forgotten beyond `bytes_max`. For any number of threads.

    Values are shared: nobody changes them.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """The value, None when there is none."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, value: Any, nbytes: int) -> None:
        """Remember a value that takes `nbytes`, in place of what was there."""
        with self._lock:
            self._bytes -= self._values.pop(key, (None, 0))[1]
            if nbytes <= self._bytes_max:
                self._values[key] = value, nbytes
                self._bytes += nbytes
            while self._bytes > self._bytes_max:
                self._bytes -= self._values.popitem(last=False)[1][1]
            metrics.CACHED.set(self._bytes)


_memory: LruCache | None = None
_made = threading.Lock()


def shared_cache() -> LruCache:
    """That of this process."""
    global _memory
    with _made:
        if _memory is None:
            _memory = LruCache(settings().remembered_mb << 20)
        return _memory
