"""Bounded cache of decoded and merged frames, shared by queries. Results do not depend on it."""

from collections.abc import Hashable
from functools import lru_cache
from typing import Any

from sinemora.kit.config import settings
from sinemora.kit.lru_cache import LruCache
from sinemora.measurements import metrics


@lru_cache
def shared_cache() -> LruCache[Hashable, Any]:
    """Return the cache of this process. Sizes are bytes."""
    return LruCache(settings().remembered_mb << 20, on_resize=metrics.CACHED.set)
