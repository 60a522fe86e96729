"""Plans in memory, and waiting for them to change.

Thousands of agents wait at once, and none holds a connection or a thread: one query a second asks for the revisions of
all tenants somebody waits for, and only when one has changed are its plans read again, once for all its agents.
"""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from sinemora.kit.db import system_session, tenant_session
from sinemora.meshes import queries
from sinemora.meshes.plan import MeshState

log = structlog.get_logger(__name__)

POLL_S = 1.0
_TENANTS_KEPT = 256


@dataclass(frozen=True)
class TenantMeshes:
    """All meshes of a tenant at one moment, and the fingerprint that moment had."""

    fingerprint: int
    by_vm: dict[UUID, tuple[MeshState, ...]]


class PlanWatch:
    """One per process, on its event loop."""

    def __init__(self) -> None:
        # By tenant, with when the reading began (monotonic, s).
        self._kept: OrderedDict[UUID, tuple[float, TenantMeshes]] = OrderedDict()
        self._reading: dict[UUID, asyncio.Lock] = {}
        self._waiting: dict[UUID, set[tuple[int, asyncio.Future[bool]]]] = {}
        self._poller: asyncio.Task[None] | None = None
        self._closed = False

    async def meshes_of(self, tenant_id: UUID) -> TenantMeshes:
        """Return the tenant's meshes, not older than this call."""
        called_s = time.monotonic()
        async with self._reading.setdefault(tenant_id, asyncio.Lock()):
            began_s, kept = self._kept.get(tenant_id, (0.0, None))
            # A change wakes all agents of a tenant at once: one of them reads, and those that waited here meanwhile
            # find what was read after they asked.
            if kept is not None and began_s >= called_s:
                return kept
            began_s = time.monotonic()
            fresh = await run_in_threadpool(_read, tenant_id, kept)
            self._kept[tenant_id] = (began_s, fresh)
            self._kept.move_to_end(tenant_id)
            if len(self._kept) > _TENANTS_KEPT:
                gone, _ = self._kept.popitem(last=False)
                self._reading.pop(gone, None)
            return fresh

    async def changed(self, tenant_id: UUID, fingerprint: int, patience_s: float) -> bool:
        """Wait until the tenant's meshes differ from `fingerprint`; False when `patience_s` is over, or the API."""
        if self._closed:
            return False
        waiter = (fingerprint, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(tenant_id, set()).add(waiter)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll())
        try:
            return await asyncio.wait_for(waiter[1], patience_s)
        except TimeoutError:
            return False
        finally:
            waiters = self._waiting.get(tenant_id, set())
            waiters.discard(waiter)
            if not waiters:
                self._waiting.pop(tenant_id, None)

    async def close(self) -> None:
        """Let everybody go: the process ends. Safe to repeat."""
        self._closed = True
        if self._poller is not None:
            self._poller.cancel()
        for waiters in self._waiting.values():
            for _, future in waiters:
                if not future.done():
                    future.set_result(False)

    async def _poll(self) -> None:
        while self._waiting:
            started = time.monotonic()
            try:
                now = await run_in_threadpool(_fingerprints, list(self._waiting))
            except SQLAlchemyError as error:
                log.warning("plans not watched", error=str(error).strip())
                now = {}
            for tenant_id, fingerprint in now.items():
                for seen, future in self._waiting.get(tenant_id, ()):
                    if seen != fingerprint and not future.done():
                        future.set_result(True)
            await asyncio.sleep(max(0.0, POLL_S - (time.monotonic() - started)))


def _fingerprints(tenant_ids: list[UUID]) -> dict[UUID, int]:
    with system_session() as session:
        found = queries.fingerprints(session, tenant_ids)
    return {tenant_id: found.get(tenant_id, 0) for tenant_id in tenant_ids}


def _read(tenant_id: UUID, kept: TenantMeshes | None) -> TenantMeshes:
    with tenant_session(tenant_id) as session:
        # Read before the meshes: a change in between makes the fingerprint old, and the next wait ends at once.
        fingerprint = queries.fingerprints(session, [tenant_id]).get(tenant_id, 0)
        if kept is not None and kept.fingerprint == fingerprint:
            return kept
        by_vm: dict[UUID, list[MeshState]] = {}
        for mesh in queries.mesh_states(session):
            for member in mesh.members:
                by_vm.setdefault(member.id, []).append(mesh)
    return TenantMeshes(fingerprint, {vm_id: tuple(meshes) for vm_id, meshes in by_vm.items()})
