"""Figures of the API's security on a separate product: one JSON object a figure, commentary on stderr.

make bench-security                   everything, about 15 minutes
make bench-security ONLY=fuzz         some groups: fuzz
make bench-security REQUESTS=20000    fewer bad requests; SEED=2: others
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.securing.fuzz import fuzzed, fuzzed_over_http
from lab.benchmarks.securing.in_process import started
from lab.benchmarks.securing.tenant import furnished, known_ids, measured
from lab.benchmarks.storing.product import Product, key_of, running
from sinemora.kit import redis as kit_redis
from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.main import create_app

REQUESTS = 200_000
OVER_HTTP = 2_000


def fuzz(product: Product) -> None:
    """Count generated bad requests that get an answer of 5xx, or none."""
    requests, seed = int(os.environ.get("REQUESTS") or REQUESTS), int(os.environ.get("SEED") or 1)
    world = product.world("fuzz", 4)
    measured(product, world)
    app = _in_process()
    contract = app.openapi()
    editor = [("authorization", f"Bearer {key_of(product.tenant_id, 'write')}")]
    callers = {"editor": editor, "agent": [("authorization", f"Bearer {world.credentials[0]}")]}

    async def run() -> tuple[Any, dict[str, list[str]]]:
        async with started(app) as api:
            await furnished(api, contract, editor, world)
            ids = await known_ids(api, contract, editor)
            comment(f"known ids: {', '.join(f'{noun} {len(known)}' for noun, known in sorted(ids.items()))}")
            return await fuzzed(api, contract, callers, requests, seed), ids

    tally, ids = asyncio.run(run())
    over_http = fuzzed_over_http(product.url(""), contract, ids, editor, min(OVER_HTTP, requests // 10), seed + 1)
    for one in (tally, over_http):
        one.explain()
    sent = tally.statuses.total() + over_http.statuses.total()
    statuses = {str(status): count for status, count in sorted((tally.statuses + over_http.statuses).items())}
    figures.report("security_bad_requests", sent, over_http=over_http.statuses.total(), statuses=statuses)
    figures.report("security_500_inputs", tally.broken_count + over_http.broken_count)


def _in_process() -> FastAPI:
    """Return the API of this process, which counts no requests: limits have a group of their own."""
    # Read at import, when the settings named another server.
    celery.conf.update(broker_url=kit_redis.broker_url(settings().redis_url))
    settings().anonymous_limit_per_minute = settings().agent_reports_per_minute = 10**9
    return create_app()


GROUPS: dict[str, Callable[[Product], None]] = {"fuzz": fuzz}


def main() -> None:
    """Run the groups of `ONLY`, all by default."""
    chosen = [name for name in os.environ.get("ONLY", "").split(",") if name] or list(GROUPS)
    if unknown := set(chosen) - set(GROUPS):
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    with running() as product:
        for name in chosen:
            comment(f"── {name}")
            GROUPS[name](product)
    figures.finish()


if __name__ == "__main__":
    main()
