"""Duration of a recommendation for a tenant, from the request to a running API to the stored result."""

import statistics
import time
from collections.abc import Iterator
from itertools import islice

from lab.benchmarks.recommending.api import Api
from lab.benchmarks.storing import product as products
from lab.benchmarks.storing import worlds
from sinemora.kit.db import system_session
from sinemora.measurements.store import inserts

TASKS = 9
"""Tasks of an application; each application has ten VMs."""
WINDOWS = 12
TIMES = 5


class Tenant:
    """A tenant of a running product, with applications on a measured mesh."""

    def __init__(self, product: products.Product, vms: int) -> None:
        self.mesh = f"tenant-{vms}"
        self._api = Api(product, self.mesh)
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
            body = {"name": name, "mesh": self.mesh, "curve": "memcached-server", "tasks": tasks}
            self._api.send("POST", "/v1/applications", body)

    def recommendation(self) -> tuple[float, float, int]:
        """Return seconds from request to stored result, seconds of the request alone, and number of moves."""
        answer, total_s, request_s = self._api.recommendation({"mesh": self.mesh, "moves_max": 10})
        return total_s, request_s, len(answer["steps"])


def measured(sizes: tuple[int, ...]) -> Iterator[tuple[int, float, dict[str, float]]]:
    """Yield (VMs, median milliseconds, detail) of each size, after a first recommendation that is not counted."""
    with products.running() as product:
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
