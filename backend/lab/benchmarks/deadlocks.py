"""Two owners at once, `PAIRS` times, against a running product and its database; the tenant is deleted at last."""

import os

from lab.benchmarks.figures import comment, report
from lab.benchmarks.recommending.collisions import collide
from lab.benchmarks.storing import product

PAIRS = 2_000
_SHOWN = 20


def main(seed: int) -> None:
    """Print deadlocks, server errors and lost changes over all pairs."""
    with product.running() as running:
        found = collide(running.call, running.tenant_id, int(os.environ.get("PAIRS") or PAIRS), seed)
    for words in [*found.failed, *found.lost][:_SHOWN]:
        comment(words)
    report("recommendations_deadlocks", max(found.deadlocks, len(found.failed)), pairs=found.pairs)
    report("recommendations_lost_changes", len(found.lost), pairs=found.pairs)
