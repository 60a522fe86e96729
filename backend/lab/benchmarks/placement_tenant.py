"""Duration of a recommendation for a tenant, from the request to a running API to the stored result.

This process executes the job, as an idle worker would.
"""

import json
import secrets
import statistics
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import islice
from typing import Any
from uuid import UUID

from lab.benchmarks.storing import product as products
from lab.benchmarks.storing import worlds
from sinemora.jobs import executor
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.security import digest
from sinemora.measurements.store import inserts
from sinemora.tenants.models import ApiKey

TASKS = 9
"""Tasks of an application; each application has ten VMs."""
WINDOWS = 12
TIMES = 5


class Tenant:
    """A tenant of a running product, with applications on a measured mesh."""

    def __init__(self, product: products.Product, vms: int) -> None:
        self._product = product
        self._secret = f"sm_{secrets.token_urlsafe(24)}"
        with tenant_session(product.tenant_id) as session:
            session.add(
                ApiKey(
                    name=f"tenant-{vms}",
                    prefix=self._secret[:8],
                    secret_digest=digest(self._secret),
                    scopes=["read", "write"],
                    expires_at=datetime.now(UTC) + timedelta(days=1),
                )
            )
        self.mesh = f"tenant-{vms}"
        world = product.world(self.mesh, vms)
        newest = int(time.time()) // 10 * 10 - 20
        starts = [newest - 10 * at for at in range(WINDOWS)]
        rows = worlds.mesh_rows(7, world.tenant_key, world.mesh_key, world.vm_keys, starts, 10, 10)
        known = inserts.RosterKeys()
        while batch := list(islice(rows, 2_000)):
            with system_session() as session:
                new_rosters = inserts.store_frames(session, batch, known)[1]
            known.learn(new_rosters)
        for first in range(0, vms, TASKS + 1):
            name = f"{self.mesh}-application-{first:04}"
            tasks = [
                {"name": f"task-{at}", "vm": f"{self.mesh}-{first + at:04}", "root": at == 0} for at in range(TASKS)
            ]
            self.post(
                "/v1/applications", {"name": name, "mesh": self.mesh, "curve": "memcached-server", "tasks": tasks}
            )

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the response of the API."""
        headers = {"Authorization": f"Bearer {self._secret}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._product.url(path), json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=120) as reply:
            response: dict[str, Any] = json.load(reply)
        return response

    def recommendation(self) -> tuple[float, float, int]:
        """Return seconds from request to stored result, seconds of the request alone, and number of moves."""
        started = time.perf_counter()
        job = self.post("/v1/recommendations", {"mesh": self.mesh, "moves_max": 10})
        requested = time.perf_counter()
        executor.run(self._product.tenant_id, UUID(job["id"]))
        ended = time.perf_counter()
        done = json.loads(self._product.get(f"/v1/jobs/{job['id']}", "application/json"))
        if done["state"] != "succeeded":
            raise RuntimeError(f"the job {done['state']}: {done['problem']}")
        path = f"/v1/recommendations/{done['result']['recommendation_id']}"
        return (
            ended - started,
            requested - started,
            len(json.loads(self._product.get(path, "application/json"))["steps"]),
        )


def measured(sizes: tuple[int, ...]) -> Iterator[tuple[int, float, dict[str, float]]]:
    """Yield (VMs, median milliseconds, detail) of each size, after a first recommendation that is not counted."""
    with products.running() as product:
        # Register the kind of job here: its queue reads settings, which are only known now.
        import_module("sinemora.recommendations.job")
        for vms in sizes:
            tenant = Tenant(product, vms)
            tenant.recommendation()
            runs = [tenant.recommendation() for _ in range(TIMES)]
            detail = {
                "request_ms": round(1000 * statistics.median(run[1] for run in runs), 1),
                "worst_ms": round(1000 * max(run[0] for run in runs), 1),
                "moves": runs[-1][2],
                "applications": -(-vms // (TASKS + 1)),
            }
            yield vms, 1000 * statistics.median(run[0] for run in runs), detail
