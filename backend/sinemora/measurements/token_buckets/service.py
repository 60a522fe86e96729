"""Use cases of token buckets."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.meshes.models import MeshVm
from sinemora.kit.errors import existing
from sinemora.kit.http.etag import IfMatch
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.vms.traffic import WINDOW_S
from sinemora.measurements.store import traffic
from sinemora.measurements.token_buckets.models import Direction, Source, TokenBucket
from sinemora.measurements.token_buckets.schemas import TokenBucketRead, TokenBucketWrite, TokenForecastRead
from sinemora.measurements.token_buckets.tokens import Bucket, TokenForecast, Use, forecast

_MBIT = 1e6 / 8
_KB = 1e3
# Windows since then are read one by one, earlier ones in steps.
_ONE_BY_ONE = timedelta(minutes=10)
_STEPS = 200
_SHORTEST, _LONGEST = timedelta(hours=1), timedelta(days=1)
# A forecast from older traffic is none.
FRESH = timedelta(minutes=2)


def put(session: Session, actor: Actor, vm_id: UUID, body: TokenBucketWrite, precondition: IfMatch) -> TokenBucket:
    """Set the token bucket of a VM. ProductError `vm_unknown`, `too_many_objects`, `version_changed`."""
    vm = get_vm(session, vm_id)
    # Two first buckets of a VM at once: the second replaces the first, as later ones do.
    quotas.lock(session)
    row = _of_vm(session, vm_id)
    precondition.check(row)
    values = {
        "direction": body.direction.value,
        "rate_bytes_per_s": body.rate_mbit * _MBIT,
        "depth_bytes": body.burst_kb * _KB,
        "source": body.source.value,
    }
    if row is None:
        row = TokenBucket(vm_id=vm_id, **values)
        session.add(row)
    else:
        for name, value in values.items():
            setattr(row, name, value)
    session.flush()
    session.refresh(row)
    audit.record(session, actor, "token_bucket.set", row.id, vm.name, rate_mbit=body.rate_mbit, burst_kb=body.burst_kb)
    return row


def get(session: Session, vm_id: UUID) -> TokenBucket:
    """Return the token bucket of a VM. ProductError `vm_unknown`, `token_bucket_unknown`."""
    get_vm(session, vm_id)
    return existing(_of_vm(session, vm_id), "token_bucket")


def delete(session: Session, actor: Actor, vm_id: UUID, precondition: IfMatch) -> None:
    """Delete the token bucket of a VM. ProductError `vm_unknown`, `token_bucket_unknown`, `version_changed`."""
    row = get(session, vm_id)
    precondition.check(row)
    audit.record(session, actor, "token_bucket.deleted", row.id, row.vm.name)
    session.delete(row)


def read(session: Session, row: TokenBucket, now: datetime | None = None) -> TokenBucketRead:
    """Convert a token bucket to its JSON form, with its forecast."""
    found = forecast_of(session, row, now or datetime.now(UTC))
    return TokenBucketRead.from_row(
        row,
        vm_name=row.vm.name,
        direction=Direction(row.direction),
        rate_mbit=row.rate_bytes_per_s / _MBIT,
        burst_kb=row.depth_bytes / _KB,
        source=Source(row.source),
        forecast=None if found is None else _forecast(found),
    )


def of_mesh(session: Session, mesh_id: UUID) -> list[TokenBucket]:
    """Return the token buckets of the VMs of a mesh, by name of the VM."""
    members = select(MeshVm.vm_id).where(MeshVm.mesh_id == mesh_id)
    rows = session.scalars(select(TokenBucket).where(TokenBucket.vm_id.in_(members))).all()
    return sorted(rows, key=lambda row: row.vm.name)


def forecast_of(session: Session, row: TokenBucket, now: datetime) -> TokenForecast | None:
    """Return the forecast of a bucket by the traffic before `now`; None without windows in the last minutes.

    It reads as many hours as a refill may take, so that what the bucket held before does not matter: from the last ten
    minutes all windows, from earlier times larger steps.
    """
    fill_s = row.depth_bytes / row.rate_bytes_per_s
    span = min(_LONGEST, max(_SHORTEST, timedelta(seconds=min(2 * fill_s, 1e6))))
    step_s = max(WINDOW_S, -(-int(span.total_seconds() / _STEPS) // WINDOW_S) * WINDOW_S)
    middle_s = int((now - _ONE_BY_ONE).timestamp()) // step_s * step_s
    start, middle = utc(middle_s - int(span.total_seconds())), utc(middle_s)
    older = uses_of(session, row, start, middle, step_s)
    newer = uses_of(session, row, middle, now)
    if not newer or newer[-1].started_at_s < (now - FRESH).timestamp():
        return None
    return forecast(bucket_of(row), (*older, *newer))


def bucket_of(row: TokenBucket) -> Bucket:
    return Bucket(row.rate_bytes_per_s, row.depth_bytes)


def uses_of(session: Session, row: TokenBucket, start: datetime, end: datetime, step_s: int = WINDOW_S) -> list[Use]:
    """Return the bytes that take tokens of a bucket, in steps that start in [start, end), oldest first."""
    sent = Direction(row.direction) is Direction.SENT
    return [
        Use(step.first_at_s, step.elapsed_ms / 1e3, step.bytes_sent if sent else step.bytes_received)
        for step in traffic.steps(session, row.vm.key, start, end, step_s)
    ]


def _of_vm(session: Session, vm_id: UUID) -> TokenBucket | None:
    return session.scalars(select(TokenBucket).where(TokenBucket.vm_id == vm_id)).one_or_none()


def _forecast(found: TokenForecast) -> TokenForecastRead:
    return TokenForecastRead.from_row(
        found,
        at=datetime.fromtimestamp(round(found.at_s), UTC),
        use_mbit=found.use / _MBIT,
        tokens_kb=found.tokens.expected / _KB,
        tokens_min_kb=found.tokens.least / _KB,
        tokens_max_kb=found.tokens.most / _KB,
        empty_in_min_s=found.empty_in_least_s,
        empty_in_max_s=found.empty_in_most_s,
    )
