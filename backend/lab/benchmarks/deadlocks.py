"""Two owners at once, `PAIRS` times, against a running product and its database; the tenant is deleted at last."""

import os
from typing import Any

import httpx2

from lab.benchmarks.figures import comment, report
from lab.benchmarks.recommending.collisions import collide
from lab.benchmarks.storing import product
from lab.benchmarks.storing.product import key_of

PAIRS = 2_000
_SHOWN = 20


def main(seed: int) -> None:
    """Print deadlocks, server errors and lost changes over all pairs."""
    with product.running() as running, httpx2.Client(base_url=running.url(""), timeout=60) as client:
        secret = key_of(running.tenant_id, "write")

        def call(method: str, path: str, body: Any = None, etag: str | None = None) -> tuple[int, Any]:
            headers = {"Authorization": f"Bearer {secret}"} | ({} if etag is None else {"If-Match": etag})
            answer = client.request(method, path, json=body, headers=headers)
            return answer.status_code, answer.json() if answer.content else None

        found = collide(call, running.tenant_id, int(os.environ.get("PAIRS") or PAIRS), seed)
    for words in [*found.failed, *found.lost][:_SHOWN]:
        comment(words)
    report("recommendations_deadlocks", max(found.deadlocks, len(found.failed)), pairs=found.pairs)
    report("recommendations_lost_changes", len(found.lost), pairs=found.pairs)
