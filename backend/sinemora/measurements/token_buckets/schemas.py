"""JSON schemas of token buckets."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sinemora.kit.schemas import Read, Write
from sinemora.measurements.token_buckets.models import Direction, Source
from sinemora.measurements.token_buckets.tokens import Level


class TokenBucketWrite(Write):
    """Token bucket of a VM. `rate_mbit` is its refill in Mbit/s, `burst_kb` its depth in 1,000 bytes."""

    rate_mbit: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
    burst_kb: Annotated[float, Field(ge=2, le=1e9, allow_inf_nan=False, description="Depth, 1,000 bytes")]
    direction: Direction = Direction.SENT
    source: Source = Source.STATED


class TokenForecastRead(Read):
    """Tokens of a bucket at `at`, the end of the VM's newest window of traffic, and what follows at its present use."""

    at: datetime
    use_mbit: float
    level: Level
    tokens_kb: float
    tokens_min_kb: float
    tokens_max_kb: float
    empty_in_s: float | None
    empty_in_min_s: float | None
    empty_in_max_s: float | None
    full_in_s: float | None


class TokenBucketRead(Read):
    """Token bucket of a VM. `forecast` is null while its agent has reported no traffic for two minutes."""

    vm_id: UUID
    vm_name: str
    direction: Direction
    rate_mbit: float
    burst_kb: float
    source: Source
    version: int
    updated_at: datetime
    forecast: TokenForecastRead | None
