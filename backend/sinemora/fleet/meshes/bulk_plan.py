"""Orders of the bulk sender in the plans of agents: each end gets its part of them."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sinemora.fleet.meshes.plan import Member


@dataclass(frozen=True)
class BulkStepPlan:
    """Transfer between two members. Steps run by `phase`; `rate_bytes_per_s` caps all its connections."""

    index: int
    phase: int
    source: Member
    target: Member
    port: int
    bytes: int
    connections: int
    rate_bytes_per_s: int | None
    congestion: str | None
    mptcp: bool
    tls: bool


@dataclass(frozen=True)
class BulkPlan:
    """Order with its secrets: hexadecimal, and DER as base64. Times are Unix ns."""

    id: UUID
    starts_at_ns: int
    ends_at_ns: int
    secret: str
    certificate: str | None
    certificate_key: str | None
    steps: tuple[BulkStepPlan, ...]

    @property
    def members(self) -> set[UUID]:
        """Return the VMs that take part."""
        return {end.id for step in self.steps for end in (step.source, step.target)}


def bulk_plan(
    id: UUID,
    starts_at: datetime,
    ends_at: datetime,
    secret: bytes,
    steps: Sequence[Mapping[str, Any]],
    ends: Sequence[Sequence[Member | None]],
    tls: tuple[bytes, bytes] | None,
) -> BulkPlan:
    """Return the plan of a stored order. `ends` has the sources and the targets of its steps, `tls` is DER."""
    certificate, key = (None, None) if tls is None else (base64.b64encode(part).decode() for part in tls)
    fields = ("phase", "port", "bytes", "connections", "rate_bytes_per_s", "congestion", "mptcp", "tls")
    return BulkPlan(
        id,
        round(starts_at.timestamp() * 1e3) * 1_000_000,
        round(ends_at.timestamp() * 1e3) * 1_000_000,
        secret.hex(),
        certificate,
        key,
        tuple(
            BulkStepPlan(index=index, source=source, target=target, **{field: step[field] for field in fields})
            for index, (step, source, target) in enumerate(zip(steps, *ends, strict=True))
            if source is not None and target is not None
        ),
    )


def bulk_part(vm_key: int, plan: BulkPlan) -> dict[str, object]:
    """Return the part of an order that the agent of one VM runs (JSON). Only receivers get the key of TLS."""
    steps = [
        _step(step, end, other, role)
        for step in plan.steps
        for end, other, role in ((step.source, step.target, "sender"), (step.target, step.source, "receiver"))
        if end.key == vm_key
    ]
    receives = any(step.target.key == vm_key for step in plan.steps)
    return {
        "id": str(plan.id),
        "secret": plan.secret,
        "starts_at_ns": plan.starts_at_ns,
        "ends_at_ns": plan.ends_at_ns,
        "certificate": plan.certificate,
        "certificate_key": plan.certificate_key if receives else None,
        "steps": steps,
    }


def _step(step: BulkStepPlan, end: Member, other: Member, role: str) -> dict[str, object]:
    return {
        "index": step.index,
        "phase": step.phase,
        "role": role,
        "address": other.address,
        "port": step.port,
        "bytes": step.bytes,
        "connections": step.connections,
        "rate_bytes_per_s": step.rate_bytes_per_s,
        "congestion": step.congestion,
        "mptcp": step.mptcp,
        "tls": step.tls,
    }
