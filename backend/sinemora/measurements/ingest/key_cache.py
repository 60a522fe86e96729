"""Cache of the meshes and VMs of each tenant, by the keys in reports: ingest reads the database every few seconds.

A mesh or VM that the cache lacks may be newer than the last read. Its measurements may be left out only after a read
that began when the report had arrived and found neither.
"""

import asyncio
import time
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from sinemora.access.tenants import quotas
from sinemora.access.tenants.models import Tenant
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import tenant_session
from sinemora.kit.lru_cache import LruCache
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.live.events import MeshRevision

KEPT_S = 5.0
# Reports with unknown keys wait for a read of their own, which begins at most this often.
READ_AGAIN_S = 0.5
_TENANTS_KEPT = 10_000
_GONE_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class TenantKeys:
    """Meshes by key, the sorted keys of all VMs, quota, plan and setting of a tenant, as read at `read_s` (monotonic).

    `gone_meshes` and `gone_vms` are keys named by reports that arrived before the read: it would have found them.
    """

    read_s: float
    meshes: dict[int, MeshRevision]
    vm_keys: Ints
    windows_per_s: float
    gone_meshes: set[int] = field(default_factory=set)
    gone_vms: set[int] = field(default_factory=set)
    plan: str | None = None
    service_traffic: bool = False

    def decides(self, mesh_keys: set[int], targets: list[Ints], arrived_s: float) -> bool:
        """Return True when each of these meshes and VMs is known or gone.

        A report that arrived at `arrived_s` (monotonic) names them. What it names and this later read lacks is gone.
        """
        meshes = mesh_keys - self.meshes.keys()
        vms = {key for keys in targets for key in keys[~self.known(keys)].tolist()}
        if arrived_s <= self.read_s:
            if len(self.gone_meshes) + len(self.gone_vms) < _GONE_KEPT:
                self.gone_meshes.update(meshes)
                self.gone_vms.update(vms)
            return True
        return meshes <= self.gone_meshes and vms <= self.gone_vms

    def known(self, keys: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return flags of the keys that are VMs of the tenant."""
        if not self.vm_keys.size:
            return np.zeros(keys.shape, bool)
        places = np.minimum(np.searchsorted(self.vm_keys, keys), self.vm_keys.size - 1)
        return np.asarray(self.vm_keys[places] == keys)


class KeyCache:
    """Keys of all tenants that reported lately; one object a process, on its event loop."""

    def __init__(self) -> None:
        self._kept: LruCache[UUID, TenantKeys] = LruCache(_TENANTS_KEPT)
        self._reading: dict[UUID, asyncio.Task[TenantKeys]] = {}

    def kept(self, tenant_id: UUID) -> TenantKeys | None:
        """Return the tenant's keys if they were read within `KEPT_S`, else None."""
        kept = self._kept.get(tenant_id)
        return kept if kept is not None and time.monotonic() - kept.read_s < KEPT_S else None

    async def of(self, tenant_id: UUID, mesh_keys: set[int], targets: list[Ints], arrived_s: float) -> TenantKeys:
        """Return keys of the tenant that decide about these, named by a report that arrived at `arrived_s`.

        At most `KEPT_S` old. `arrived_s` is monotonic.
        """
        while True:
            kept = self._kept.get(tenant_id)
            age_s = time.monotonic() - kept.read_s if kept is not None else KEPT_S
            if kept is not None and age_s < KEPT_S and kept.decides(mesh_keys, targets, arrived_s):
                return kept
            if age_s < READ_AGAIN_S:
                await asyncio.sleep(READ_AGAIN_S - age_s)
                continue
            reading = self._reading.get(tenant_id)
            if reading is None:  # many agents report at the same moment: one of them reads
                reading = self._reading[tenant_id] = asyncio.create_task(self._read(tenant_id))
            fresh = await asyncio.shield(reading)
            if fresh.decides(mesh_keys, targets, arrived_s):  # however long the read took
                return fresh

    async def _read(self, tenant_id: UUID) -> TenantKeys:
        try:
            fresh = await run_in_threadpool(_read, tenant_id)
            self._kept.put(tenant_id, fresh)
            return fresh
        finally:
            del self._reading[tenant_id]


def _read(tenant_id: UUID) -> TenantKeys:
    read_s = time.monotonic()
    with tenant_session(tenant_id) as session:
        vm_keys = np.sort(np.array(session.scalars(select(Vm.key)).all(), np.int64))
        limits = quotas.limits(session)
        traffic = session.get_one(Tenant, tenant_id).service_traffic
        return TenantKeys(
            read_s, _meshes(session), vm_keys, limits.windows_per_s, plan=limits.plan, service_traffic=traffic
        )


def _meshes(session: Session) -> dict[int, MeshRevision]:
    rows = session.execute(select(Mesh.key, Mesh.id, Mesh.revision))
    return {key: MeshRevision(mesh_id, revision) for key, mesh_id, revision in rows}
