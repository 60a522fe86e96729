"""Figures of the API's security on a separate product: one JSON object a figure, commentary on stderr.

make bench-security                   everything; the bad requests alone take about 15 minutes
make bench-security ONLY=fuzz,stalls  some groups: stalls endless isolation limited hostile fuzz
make bench-security REQUESTS=20000    fewer bad requests; SEED=2: others
"""

import asyncio
import os
from typing import Any

import numpy as np
from fastapi import FastAPI

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.securing import endless, isolation, limited, stalls
from lab.benchmarks.securing.fuzz import fuzzed
from lab.benchmarks.securing.in_process import started
from lab.benchmarks.securing.tenant import eventful, furnished, known_ids, measured
from lab.benchmarks.storing.product import Product, World, key_of, running, session_of
from lab.benchmarks.storing.programs import use_broker
from lab.benchmarks.traffic import of_agents
from sinemora.access.tenants.models import Role
from sinemora.kit.config import settings
from sinemora.main import create_app

REQUESTS = 200_000
STALL_S = 30.0
ENDLESS_S = 5.0


def stall(product: Product) -> None:
    """Measure the silence of the API while a stranger, then a reader, sends what is known to be expensive."""
    quiet = np.percentile(stalls.stall_ms(product.port, [], 5), 99)
    anonymous = stalls.stall_ms(product.port, stalls.anonymous_attacks(), STALL_S)
    detail = {"quiet_ms": float(quiet), "worst_ms": max(anonymous), "probes": len(anonymous)}
    figures.report("security_anonymous_stall_ms_p99", float(np.percentile(anonymous, 99)), **detail)
    regex = stalls.stall_ms(product.port, stalls.regex_attacks(product.secret), STALL_S / 2)
    p99 = float(np.percentile(regex, 99))
    figures.report("security_regex_stall_ms", p99, worst_ms=max(regex), probes=len(regex))


def memory(product: Product) -> None:
    """Measure the memory that strangers occupy with requests that do not end and answers that they do not read."""
    endless.growth_mb(product.port, product.rss_kb, "a body", 1)  # what the first requests load stays
    grown = {kind: endless.growth_mb(product.port, product.rss_kb, kind, ENDLESS_S) for kind in endless.KINDS}
    detail = {kind: round(mb, 1) for kind, mb in grown.items()}
    figures.report("security_anonymous_memory_mb", max(grown.values()), kinds=len(grown), by_kind=detail)


def apart(product: Product) -> None:
    """Measure what keeping tenants apart costs."""
    world = _measured_world(product, "apart")
    paths = ["/v1/vms?limit=100", "/v1/zones", f"/v1/meshes/{world.mesh_id}/matrix?metric=p50"]
    app = _in_process()

    async def run() -> tuple[float, dict[str, float]]:
        async with started(app) as api:
            return await isolation.overhead_percent(api, paths, _key(product, "read"))

    percent, by_path = asyncio.run(run())
    detail = {path: round(added, 1) for path, added in by_path.items()}
    figures.report("security_isolation_overhead_percent", percent, by_path=detail)


def limits() -> None:
    """Count what limited callers learn of hidden meshes."""
    found, sent = limited.leaks()
    figures.report("security_limited_leaks", found, requests=sent)


def fuzz(product: Product) -> None:
    """Count generated bad requests that get an answer of 5xx, or none."""
    requests, seed = int(os.environ.get("REQUESTS") or REQUESTS), int(os.environ.get("SEED") or 1)
    world = _measured_world(product, "fuzz")
    app = _in_process()
    contract = app.openapi()
    editor = _key(product, "write")

    def callers() -> dict[str, Any]:
        agent = [("authorization", f"Bearer {world.credentials[0]}")]
        return {"editor": editor, "agent": agent, "owner": session_of(product.tenant_id, Role.owner)}

    async def run() -> Any:
        async with started(app) as api:
            await furnished(api, contract, callers()["owner"], world)
            ids = await known_ids(api, contract, callers()["owner"])
            comment(f"known ids: {', '.join(f'{noun} {len(known)}' for noun, known in sorted(ids.items()))}")
            return await fuzzed(api, contract, callers, requests, seed)

    tally = asyncio.run(run())
    tally.explain()
    statuses = {str(status): count for status, count in sorted(tally.statuses.items())}
    figures.report("security_bad_requests", tally.statuses.total(), statuses=statuses)
    figures.report("security_500_inputs", tally.broken_count)


def _measured_world(product: Product, name: str) -> World:
    world = product.world(name, 4)
    eventful(product, world, measured(product, world))
    return world


def _key(product: Product, scope: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {key_of(product.tenant_id, scope)}")]


def _in_process() -> FastAPI:
    """Return the API of this process, which counts no requests: limits have tests of their own."""
    use_broker()
    settings().anonymous_limit_per_minute = settings().agent_reports_per_minute = 10**9
    return create_app()


if __name__ == "__main__":
    with running() as running_product:
        figures.run(
            {
                "stalls": lambda: stall(running_product),
                "endless": lambda: memory(running_product),
                "isolation": lambda: apart(running_product),
                "limited": limits,
                # Agents with the plan of a stolen backend and with forged packets, in networks of their own.
                "hostile": lambda: of_agents("hostile").run(),
                "fuzz": lambda: fuzz(running_product),
            }
        )
