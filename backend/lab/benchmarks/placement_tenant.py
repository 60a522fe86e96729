"""Duration of a recommendation for a tenant, from the request to a running API to the stored result."""

import statistics
import time
from collections.abc import Iterator

from lab.benchmarks.recommending.api import Api
from lab.benchmarks.store import fill
from lab.benchmarks.storing import product as products
from sinemora.measurements.store.tiers import Tier

TASKS = 9
"""Tasks of an application; each application has ten VMs."""
WINDOWS = 12
TIMES = 5


def declare(api: Api, mesh: str, vms: int) -> None:
    """Create applications on a measured mesh."""
    world = api.product.world(mesh, vms)
    newest = int(time.time()) // 10 * 10 - 20
    fill(world, Tier.RAW, [newest - 10 * at for at in range(WINDOWS)], 10)
    for first in range(0, vms, TASKS + 1):
        name = f"{mesh}-application-{first:04}"
        tasks = [{"name": f"task-{at}", "vm": f"{mesh}-{first + at:04}", "root": at == 0} for at in range(TASKS)]
        api.read("/v1/applications", {"name": name, "mesh": mesh, "curve": "memcached-server", "tasks": tasks})


def measured(sizes: tuple[int, ...]) -> Iterator[tuple[int, float, dict[str, float]]]:
    """Yield (VMs, median milliseconds, detail) of each size, after a first recommendation that is not counted."""
    with products.running() as product:
        api = Api(product)
        for vms in sizes:
            mesh = f"tenant-{vms}"
            declare(api, mesh, vms)
            runs = [api.recommendation({"mesh": mesh, "moves_max": 10}) for _ in range(TIMES + 1)][1:]
            detail = {
                "request_ms": round(1000 * statistics.median(requested_s for *_, requested_s in runs), 1),
                "worst_ms": round(1000 * max(total_s for _, total_s, _ in runs), 1),
                "moves": len(runs[-1][0]["steps"]),
            }
            yield vms, 1000 * statistics.median(total_s for _, total_s, _ in runs), detail
