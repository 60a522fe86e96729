"""Turns of queries: a tenant that asks for much at once waits for itself, not others for it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from sinemora.kit.errors import ProductError

AT_ONCE = max(2, len(os.sched_getaffinity(0)) // 2)
"""Queries of a tenant that run at once in each process: each merges on a processor and holds a connection."""
WAITING_MAX = 60
"""Queries of a tenant that wait, in each process."""


@dataclass(slots=True)
class _Own:
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    number: int = 0


_tenants: dict[UUID, _Own] = {}


@asynccontextmanager
async def turn(tenant_id: UUID) -> AsyncIterator[None]:
    """Wait for a turn of the tenant, and hold it for the block. ProductError `queries_too_many` (429)."""
    own = _tenants.setdefault(tenant_id, _Own())
    if own.number >= AT_ONCE + WAITING_MAX:
        raise ProductError(
            "queries_too_many",
            429,
            f"Too many queries at once: {own.number} of this tenant run or wait. Send fewer at a time.",
            headers={"Retry-After": "2"},
        )
    own.number += 1
    try:
        async with own.turns:
            yield
    finally:
        own.number -= 1
        if not own.number:
            del _tenants[tenant_id]
