"""Runs of the bulk sender as the API shows them: transfers, result, disturbance of the measurements."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.advisors.bulk import schemas
from sinemora.advisors.bulk.core import trial
from sinemora.advisors.bulk.core.offer import offer_of
from sinemora.advisors.bulk.core.trial import Change, TrialVerdict, Variant
from sinemora.advisors.bulk.orders import SILENT_FOR
from sinemora.advisors.measured_path import delays_between, statistic_ns
from sinemora.applications.schemas import Named
from sinemora.fleet.inventory.models import Agent
from sinemora.fleet.meshes.models import BulkOrder
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.percent import percent, signed_percent
from sinemora.measurements.aggregate.fairness import jain_index
from sinemora.measurements.query.responses import DistributionItem

_BEFORE = timedelta(minutes=1)
_NEVER_BEGAN = "No report arrived: the agents did not run it."
_OUT_OF_TIME = "The time of the run was over before all bytes were sent."
_ADVICE = {
    TrialVerdict.SHORTER: "B takes {mean} ({low} to {high}): use it for such transfers.",
    TrialVerdict.LONGER: "B takes {mean} ({low} to {high}): keep A.",
    TrialVerdict.UNCERTAIN: "No difference is shown ({low} to {high}): keep A, or try more rounds or more bytes.",
}
_CHANGE_SHOWN = 10.0
"""Largest change of time that is printed as a number: intervals of a few uneven rounds reach further."""
_UNFINISHED = "Two rounds are needed for an interval."


def summary(session: Session, row: BulkOrder) -> schemas.BulkRunSummary:
    """Convert to a list item."""
    return schemas.BulkRunSummary(**_summary(session, row))


def read(session: Session, row: BulkOrder) -> schemas.BulkRunRead:
    """Convert with transfers, result and disturbance."""
    transfers = [_transfer(row, at) for at in range(len(row.steps))]
    return schemas.BulkRunRead(
        **_summary(session, row),
        transfers=transfers,
        trial=_trial(row, transfers),
        disturbance=_disturbance(session, row, transfers),
    )


def senders(session: Session, mesh_id: UUID) -> list[schemas.BulkSenderRead]:
    """Return the bulk senders of the VMs of a mesh, in the order of its matrices. ProductError `mesh_unknown`."""
    mesh = mesh_state(session, mesh_id)
    of_members = Agent.vm_id.in_([member.id for member in mesh.members])
    agents = {row.vm_id: row for row in session.scalars(select(Agent).where(of_members, Agent.revoked_at.is_(None)))}
    reads = []
    for member in mesh.members:
        agent = agents.get(member.id)
        offer = None if agent is None else offer_of(agent.description)
        reads.append(
            schemas.BulkSenderRead(
                vm=Named(id=member.id, name=member.name),
                is_on=offer is not None,
                bytes_max=None if offer is None else offer.bytes_max,
                rate_max_mbit=None if offer is None else offer.rate_max_bytes_per_s * 8e-6,
                seconds_max=None if offer is None else offer.seconds_max,
                congestion_controls=[] if offer is None else list(offer.congestion_controls),
                mptcp=offer is not None and offer.mptcp,
                tls=offer is not None and offer.tls,
            )
        )
    return reads


def _summary(session: Session, row: BulkOrder) -> dict[str, Any]:
    now = datetime.now(UTC)
    size = sum(step["bytes"] for step in row.steps)
    sent = sum(min(_sent(row, at), step["bytes"]) for at, step in enumerate(row.steps))
    names = {UUID(step[f"{end}_vm_id"]): step[end] for step in row.steps for end in ("source", "target")}
    status, error = _status(row, now)
    return {
        "id": row.id,
        "mesh": Named(id=row.mesh_id, name=mesh_state(session, row.mesh_id).name),
        "status": status,
        "progress": sent / size if size else 0.0,
        "vms": [Named(id=id, name=name) for id, name in names.items()],
        "size_bytes": size,
        "requested_by": row.requested_by,
        "created_at": row.created_at,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "error": error,
    }


def _status(row: BulkOrder, now: datetime) -> tuple[schemas.BulkStatus, str | None]:
    if row.stopped_at is not None:
        return schemas.BulkStatus.STOPPED, None
    if row.error is not None:
        return schemas.BulkStatus.FAILED, row.error
    if row.finished_at is not None:
        return schemas.BulkStatus.COMPLETED, None
    if now > row.ends_at + SILENT_FOR:
        return schemas.BulkStatus.FAILED, _OUT_OF_TIME if row.progress else _NEVER_BEGAN
    began = any(one["started_at_ns"] for one in row.progress.values())
    return (schemas.BulkStatus.RUNNING if began else schemas.BulkStatus.WAITING), None


def _sent(row: BulkOrder, at: int) -> int:
    return sum(one["bytes"] for one in row.progress.get(str(at), {}).get("connections", ()))


def _transfer(row: BulkOrder, at: int) -> schemas.BulkTransferRead:
    step, progress = row.steps[at], row.progress.get(str(at), {})
    elapsed_s = progress.get("elapsed_us", 0) / 1e6 or None
    connections = [one for one in progress.get("connections", ()) if one["elapsed_us"]]
    rates = [one["bytes"] / one["elapsed_us"] for one in connections]
    ends = [one["elapsed_us"] for one in connections]
    several = elapsed_s is not None and len(connections) > 1
    rate = step["rate_bytes_per_s"]
    started_ns = progress.get("started_at_ns", 0)
    return schemas.BulkTransferRead(
        index=at,
        variant=trial.order_of(row.request["rounds"])[at],
        source=Named(id=step["source_vm_id"], name=step["source"]),
        target=Named(id=step["target_vm_id"], name=step["target"]),
        size_bytes=step["bytes"],
        sent_bytes=_sent(row, at),
        connections=step["connections"],
        rate_cap_mbit=None if rate is None else rate * 8e-6,
        started_at=datetime.fromtimestamp(started_ns / 1e9, UTC) if started_ns else None,
        elapsed_s=elapsed_s,
        rate_mbit=None if elapsed_s is None else step["bytes"] * 8e-6 / elapsed_s,
        jain=jain_index(rates) if several else None,
        slowest_share=max(ends) / fmean(ends) if several else None,
        error=progress.get("error"),
    )


def _trial(row: BulkOrder, transfers: Sequence[schemas.BulkTransferRead]) -> schemas.TrialRead:
    found = trial.change([one.elapsed_s for one in transfers])
    a, b = (
        _variant(schemas.TransportVariant.model_validate(row.request[variant.value]), transfers, variant)
        for variant in (Variant.A, Variant.B)
    )
    return schemas.TrialRead(
        a=a,
        b=b,
        change=None if found is None else schemas.ChangeRead.model_validate(found),
        advice=_UNFINISHED if found is None else _advice(found),
    )


def _advice(found: Change) -> str:
    mean = f"{percent(abs(found.mean))} {'less' if found.mean < 0 else 'more'} time"
    high = signed_percent(found.high) if found.high <= _CHANGE_SHOWN else f"over {signed_percent(_CHANGE_SHOWN, 0)}"
    return _ADVICE[found.verdict].format(mean=mean, low=signed_percent(found.low), high=high)


def _variant(
    transport: schemas.TransportVariant, transfers: Iterable[schemas.BulkTransferRead], variant: Variant
) -> schemas.VariantRead:
    done = [one for one in transfers if one.variant is variant and one.elapsed_s is not None]
    times = [one.elapsed_s for one in done if one.elapsed_s is not None]
    indices = [one.jain for one in done if one.jain is not None]
    shares = [one.slowest_share for one in done if one.slowest_share is not None]
    return schemas.VariantRead(
        transport=transport,
        done=len(done),
        mean_s=fmean(times) if times else None,
        slowest_s=max(times, default=None),
        jain=fmean(indices) if indices else None,
        slowest_share=fmean(shares) if shares else None,
    )


def _span(transfers: Iterable[schemas.BulkTransferRead]) -> tuple[datetime, datetime] | None:
    """Return when the first transfer began and the last one ended, of those that ended."""
    spans = [
        (one.started_at, one.started_at + timedelta(seconds=one.elapsed_s))
        for one in transfers
        if one.started_at is not None and one.elapsed_s is not None
    ]
    if not spans:
        return None
    return min(start for start, _ in spans), max(end for _, end in spans)


def _disturbance(
    session: Session, row: BulkOrder, transfers: Sequence[schemas.BulkTransferRead]
) -> list[schemas.DisturbanceRead]:
    """Return the delays of both directions before and while bytes were sent; none before the first transfer ended."""
    span = _span(transfers)
    if span is None:
        return []
    mesh = mesh_state(session, row.mesh_id)
    names = {member.id: member.name for member in mesh.members}
    pair = (transfers[0].source.id, transfers[0].target.id)
    if not names.keys() >= set(pair):
        return []
    # Whole windows: a run may be shorter than one.
    start, end = (_at_window(at, mesh.window_s, up) for at, up in zip(span, (False, True), strict=True))
    (during,) = delays_between(session, mesh, [pair], start, end)
    (before,) = delays_between(session, mesh, [pair], start - _BEFORE, start)
    return [
        schemas.DisturbanceRead(
            path=f"{names[one]} to {names[other]}",
            before_p50_us=_us(quiet, "p50"),
            before_p99_us=_us(quiet, "p99"),
            during_p50_us=_us(loaded, "p50"),
            during_p99_us=_us(loaded, "p99"),
        )
        for (one, other), quiet, loaded in zip((pair, pair[::-1]), before, during, strict=True)
    ]


def _at_window(at: datetime, window_s: int, up: bool) -> datetime:
    """Return the start of the window that contains a time, or its end."""
    number = int(at.timestamp()) // window_s + up
    return datetime.fromtimestamp(number * window_s, UTC)


def _us(item: DistributionItem, statistic: str) -> float | None:
    return statistic_ns(item, statistic) / 1e3 if item.count else None
