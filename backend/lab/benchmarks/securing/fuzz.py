"""Send generated bad requests to the whole API and count the answers that are no answers."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lab.benchmarks.figures import comment
from lab.benchmarks.securing.bad_requests import BadRequest, BadRequests, operations
from lab.benchmarks.securing.in_process import InProcess
from lab.benchmarks.securing.tenant import known_ids

Headers = list[tuple[str, str]]
_ROUND, _WORKERS = 2_000, 8
_SHOWN_OF_EACH = 3


@dataclass
class Tally:
    """Answers by status, and what was answered with 5xx or not at all, by operation."""

    statuses: Counter[int] = field(default_factory=Counter)
    broken: dict[str, list[str]] = field(default_factory=dict)

    def add(self, request: BadRequest, status: int, body: bytes) -> None:
        """Count an answer."""
        self.statuses[status] += 1
        if status == 0 or status >= 500:
            self.broken.setdefault(request.operation, []).append(f"{status} {request.shown()} → {body[:200]!r}")

    @property
    def broken_count(self) -> int:
        """Return the number of requests answered with 5xx or not at all."""
        return sum(map(len, self.broken.values()))

    def explain(self) -> None:
        """Print some of the broken requests of each operation."""
        for operation, requests in sorted(self.broken.items()):
            comment(f"{operation}: {len(requests)} broken")
            for request in requests[:_SHOWN_OF_EACH]:
                comment(f"    {request}")


async def fuzzed(
    api: InProcess, contract: dict[str, Any], callers: Callable[[], dict[str, Headers]], requests: int, seed: int
) -> Tally:
    """Send `requests` bad requests in-process, as the caller that the operation needs.

    `callers` returns the headers of `agent`, `editor` and `owner`. Callers and ids are renewed now and then, since
    requests succeed too: they end sessions and delete objects.
    """
    tally, rng = Tally(), random.Random(seed)
    every = operations(contract)
    caller_of = {f"{one.method} {one.path}": _caller_of(one.described) for one in every}
    started = time.monotonic()
    for began in range(0, requests, _ROUND):
        headers = callers()
        generator = BadRequests(contract, rng, await known_ids(api, contract, headers["owner"]))
        waiting = iter([generator.of(rng.choice(every)) for _ in range(min(_ROUND, requests - began))])

        async def send_all(waiting: Any = waiting, headers: Any = headers) -> None:
            for request in waiting:
                tally.add(request, *await api.send(request, headers[caller_of[request.operation]]))

        await asyncio.gather(*(send_all() for _ in range(_WORKERS)))
        sent = tally.statuses.total()
        rate = sent / (time.monotonic() - started)
        comment(f"{sent:,} requests, {rate:.0f}/s, {tally.broken_count} broken, {dict(tally.statuses.most_common(8))}")
    return tally


def _caller_of(described: dict[str, Any]) -> str:
    """Return the caller that may use an operation: people alone use some, and only some roles."""
    if described["x-required-role"] == "agent":
        return "agent"
    is_for_owners = described.get("x-person-only") or described["x-required-role"] in ("admin", "owner")
    return "owner" if is_for_owners else "editor"
