"""Pairs of transactions that touch the same mesh at once: evaluation against changes and deletions by people.

Deadlocks are counted by the database. Rules on silent agents make each evaluation write incidents without any report.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import text

from sinemora.alerts.detection import evaluator, late_data
from sinemora.alerts.rules import service as rules
from sinemora.kit.db import system_session, tenant_session

_JOIN = """
INSERT INTO mesh_vms (tenant_id, mesh_id, vm_id)
SELECT m.tenant_id, :other, m.vm_id FROM mesh_vms m WHERE m.mesh_id = :mesh ON CONFLICT DO NOTHING
"""
Send = Callable[[str, str, object], int]
"""Sends a request (method, path, JSON) as the tenant; returns the status."""


class Contention:
    """Meshes of a tenant whose VMs are in two of them each, and what happens to them at once."""

    def __init__(self, send: Send, tenant_id: UUID, mesh_ids: list[UUID], seed: int) -> None:
        self._send, self._tenant_id, self._rng = send, tenant_id, random.Random(seed)
        self.meshes, self._looks = list(mesh_ids), dict.fromkeys(mesh_ids, 0)
        self.statuses: Counter[int] = Counter()
        self._from = datetime.now(UTC) + timedelta(minutes=10)
        with system_session() as session:
            pairs = zip(mesh_ids, mesh_ids[1:] + mesh_ids[:1], strict=True)
            session.execute(text(_JOIN), [{"mesh": mesh, "other": other} for mesh, other in pairs])
            silent = "UPDATE agents SET last_report_at = now() - interval '5 minutes' WHERE tenant_id = :tenant_id"
            session.execute(text(silent), {"tenant_id": tenant_id})
            vms = "SELECT id, zone_id FROM vms WHERE tenant_id = :tenant_id"
            self.vms = {id: zone for id, zone in session.execute(text(vms), {"tenant_id": tenant_id})}
        for mesh_id in mesh_ids:
            with tenant_session(tenant_id) as session:
                rules.create_default_rules(session, mesh_id)
            self._evaluate(mesh_id)

    def run(self, pairs: int) -> int:
        """Run pairs at once; return the deadlocks that the database counted."""
        before = deadlocks()
        with ThreadPoolExecutor(2) as pool:
            for _ in range(pairs):
                mesh_id = self._rng.choice(self.meshes)
                actions = (lambda mesh_id=mesh_id: self._evaluate(mesh_id)), self._change(mesh_id)
                for done in [pool.submit(action) for action in actions]:
                    done.result()
        time.sleep(2)  # servers report what they counted after a second
        return deadlocks() - before

    def _change(self, mesh_id: UUID) -> Callable[[], object]:
        """Return a change that touches a mesh: often one that leaves it there."""
        rng, number = self._rng, self._rng.random()
        vm_id = rng.choice(list(self.vms))
        mesh, vm, zone = f"/v1/meshes/{mesh_id}", f"/v1/vms/{vm_id}", f"/v1/zones/{self.vms[vm_id]}"
        name = {"name": f"n{rng.randrange(10**9)}"}
        changes: list[Callable[[], object]] = [
            lambda: self._request("PATCH", mesh, name),
            lambda: self._request("PATCH", mesh, {"strategy": rng.choice(["full", "event"])}),
            lambda: self._request("PATCH", vm, name),
            lambda: self._request("PATCH", zone, name),
            lambda: self._request("DELETE", f"{mesh}/vms/{vm_id}", None),
            lambda: self._late(mesh_id),
            lambda: self._evaluate(mesh_id),
        ]
        if number < 0.05 and len(self.meshes) > 2:
            self.meshes.remove(mesh_id)
            return lambda: self._request("DELETE", mesh, None)
        if number < 0.1 and len(self.vms) > 4:
            del self.vms[vm_id]
            return lambda: self._request("DELETE", vm, None)
        return rng.choice(changes)

    def _request(self, method: str, path: str, body: object) -> None:
        self.statuses[self._send(method, path, body)] += 1

    def _evaluate(self, mesh_id: UUID) -> None:
        self._looks[mesh_id] += 1
        at = self._from + timedelta(seconds=60 * self._looks[mesh_id])
        with tenant_session(self._tenant_id) as session:
            evaluator.evaluate(session, mesh_id, int(at.timestamp()) // 10 * 10, at)

    def _late(self, mesh_id: UUID) -> None:
        with tenant_session(self._tenant_id) as session:
            late_data.evaluate_late_data(session, mesh_id, datetime.now(UTC))


def deadlocks() -> int:
    """Return the number of deadlocks that the database has had."""
    counted = text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    with system_session() as session:
        return int(session.scalar(counted) or 0)
