"""Bounded cache: the one class that every cache of a process uses."""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """Values by key, safe for any number of threads; the least recently used are dropped beyond `capacity`.

    Values are shared and must not be changed. A value is dropped `max_age_s` seconds after it was put. `on_resize`
    receives the sum of sizes after each change.
    """

    def __init__(
        self, capacity: int, *, max_age_s: float = math.inf, on_resize: Callable[[int], None] | None = None
    ) -> None:
        self._capacity = capacity
        self._max_age_s = max_age_s
        self._on_resize = on_resize
        self._size = 0
        self._entries: OrderedDict[Key, tuple[Value, int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """Return the value of `key`; None when there is none or it is too old."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or time.monotonic() >= entry[2]:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Key, value: Value, size: int = 1) -> None:
        """Store a value of `size`, replacing an earlier one. A value larger than the capacity is not stored."""
        with self._lock:
            self._drop(key)
            if size <= self._capacity:
                self._entries[key] = value, size, time.monotonic() + self._max_age_s
                self._size += size
            while self._size > self._capacity:
                self._size -= self._entries.popitem(last=False)[1][1]
            self._report_size()

    def remove(self, key: Key) -> None:
        """Drop the value of `key`, if there is one."""
        with self._lock:
            self._drop(key)
            self._report_size()

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._entries.clear()
            self._size = 0
            self._report_size()

    def _report_size(self) -> None:
        if self._on_resize is not None:
            self._on_resize(self._size)

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= entry[1]
