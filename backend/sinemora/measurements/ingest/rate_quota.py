"""Rate quotas: a token bucket of windows for each tenant, two minutes deep, and one of reports for each agent.

Agents send what they spooled during an outage faster than it was measured. A refusal names the time after which to
retry; the agent keeps the report until then. Each process counts for itself.
"""

import math
import threading
from uuid import UUID

from sinemora.access.tenants.quotas import operator
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.kit.lru_cache import LruCache

DEPTH_S = 120.0
_TENANTS_KEPT = 10_000
_AGENTS_KEPT = 50_000


class RateQuotas:
    """Token buckets of all tenants; one object a process, for all threads. Time is an argument (monotonic, s)."""

    def __init__(self) -> None:
        self._left: LruCache[UUID, tuple[float, float]] = LruCache(_TENANTS_KEPT)
        self._lock = threading.Lock()

    def take(self, tenant_id: UUID, windows: int, per_s: float, now_s: float, plan: str | None = None) -> None:
        """Take `windows` out of a tenant's bucket. ProductError `windows_too_many` (429) with `Retry-After`.

        A bucket that is not empty accepts any one report, so that no report is too large for ever.
        """
        depth = per_s * DEPTH_S
        with self._lock:
            left, at_s = self._left.get(tenant_id) or (depth, now_s)
            left = min(depth, left + max(0.0, now_s - at_s) * per_s)
            is_empty = left <= 0 and windows > 0
            if not is_empty:
                self._left.put(tenant_id, (left - windows, now_s))
        if is_empty:
            wait_s = math.ceil(1 - left / per_s) if per_s else 60
            raise ProductError(
                "windows_too_many",
                429,
                f"This tenant may report {per_s:,.6g} windows of paths a second, and has reported more."
                f" Send this report again in {wait_s} s; {operator()} can raise the quota.",
                headers={"Retry-After": str(wait_s)},
                limit=per_s,
                plan=plan,
            )


class ReportRates:
    """Token buckets of the reports of all agents, a minute deep; one object a process. Time is monotonic, s."""

    def __init__(self) -> None:
        self._left: LruCache[UUID, tuple[float, float]] = LruCache(_AGENTS_KEPT)

    def take(self, agent_id: UUID, now_s: float) -> None:
        """Count a report before it is decoded. ProductError `reports_too_many` (429) with `Retry-After`."""
        depth = settings().agent_reports_per_minute
        left, at_s = self._left.get(agent_id) or (float(depth), now_s)
        left = min(depth, left + (now_s - at_s) * depth / 60)
        if left < 1:
            wait_s = math.ceil((1 - left) * 60 / depth)
            raise ProductError(
                "reports_too_many",
                429,
                f"Too many reports: more than {depth} in a minute from one agent. Send this one again in {wait_s} s.",
                headers={"Retry-After": str(wait_s)},
                limit=depth,
            )
        self._left.put(agent_id, (left - 1, now_s))
