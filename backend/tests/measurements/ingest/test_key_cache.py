"""Keys of tenants, with reads that take as long as the test wants."""

import asyncio
import time
from uuid import uuid4

import numpy as np
import pytest

from sinemora.measurements.ingest import key_cache
from sinemora.measurements.ingest.key_cache import KEPT_S, KeyCache, TenantKeys

pytestmark = pytest.mark.anyio

TENANT = uuid4()


def keys(read_s: float, *vm_keys: int) -> TenantKeys:
    return TenantKeys(read_s, {}, np.array(vm_keys, np.int64), 1.0)


async def test_a_read_that_takes_longer_than_keys_are_kept_is_used_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_cache, "_read", lambda _: keys(time.monotonic() - KEPT_S, 7))
    found = await asyncio.wait_for(KeyCache().of(TENANT, set(), [], 0.0), 5)
    assert found.vm_keys.tolist() == [7]


async def test_a_key_is_gone_only_after_a_read_that_began_later(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[TenantKeys] = []

    def read(_: object) -> TenantKeys:
        reads.append(keys(time.monotonic(), *([7] if not reads else [7, 8])))
        return reads[-1]

    monkeypatch.setattr(key_cache, "_read", read)
    asked = [np.array([8, 9], np.int64)]
    async with asyncio.timeout(10):
        cache = KeyCache()
        await cache.of(TENANT, set(), [], time.monotonic())
        found = await cache.of(TENANT, set(), asked, time.monotonic())
        assert found.known(asked[0]).tolist() == [True, False]
        for _ in range(3):  # 9 is gone: no one waits for it again
            assert await cache.of(TENANT, set(), asked, time.monotonic()) is found
    assert len(reads) == 2
