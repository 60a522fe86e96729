"""Orders of the bulk sender: start within the limits of every agent, follow their reports, stop."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.serialization import Encoding
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.advisors.bulk.core.offer import Offer, offer_of
from sinemora.advisors.bulk.schemas import BulkReport, TransportVariant
from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.inventory.status import AgentStatus, status_of
from sinemora.fleet.meshes.models import BulkKind, BulkOrder
from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.fleet.meshes.queries import active_bulk
from sinemora.kit.certificates import self_signed
from sinemora.kit.config import settings
from sinemora.kit.errors import NotFound, ProductError, existing

KEPT = 200
KEPT_FOR = timedelta(days=30)
SILENT_FOR = timedelta(seconds=15)
"""Time after the end of an order in which its last reports arrive."""
# The plan reaches the agents within a second or two.
_PREPARATION = timedelta(seconds=3)
# Connections of one VM in all transfers of an order, as the agent allows them.
_CONNECTIONS_MAX = 256


@dataclass(frozen=True, slots=True)
class Step:
    """Transfer of an order. `rate_bytes_per_s` is a cap."""

    source: Member
    target: Member
    phase: int
    bytes: int
    transport: TransportVariant
    rate_bytes_per_s: int


def offers(session: Session, members: Iterable[Member]) -> dict[UUID, Offer]:
    """Return the offer of each member, which must be connected.

    ProductError `bulk_sender_off`, `bulk_agent_silent`.
    """
    now = datetime.now(UTC)
    found = {}
    for member in members:
        agent = get_vm(session, member.id).agent
        offer = None if agent is None else offer_of(agent.description)
        if agent is None or offer is None or member.address is None:
            raise ProductError(
                "bulk_sender_off",
                409,
                f"Bulk sender off on {member.name}: set `bulk_sender = true` there and start sinemora-transfer, then"
                " try again.",
            )
        status = status_of(None, agent.last_report_at, agent.report_every_s, now, settings().stale_windows)
        if status is not AgentStatus.reporting:
            raise ProductError(
                "bulk_agent_silent", 409, f"Agent not connected: that of {member.name}. Start it, then try again."
            )
        found[member.id] = offer
    return found


def start(
    session: Session,
    actor: Actor,
    mesh: MeshState,
    kind: BulkKind,
    steps: Sequence[Step],
    offered: dict[UUID, Offer],
    request: dict[str, Any],
) -> BulkOrder:
    """Store an order; the plans of its agents carry it until it is over.

    ProductError `bulk_limit_exceeded`, `bulk_transport_unavailable`, `bulk_vm_busy`.
    """
    _check(steps, offered)
    vm_ids = {end.id for step in steps for end in (step.source, step.target)}
    quotas.lock(session)
    _check_free(session, mesh, vm_ids)
    _delete_old(session)
    now = datetime.now(UTC)
    starts_at = (now + _PREPARATION).replace(microsecond=0) + timedelta(seconds=1)
    seconds = min(offered[id].seconds_max for id in vm_ids)
    # Both ends get the certificate of this order, and senders accept no other key.
    is_secret = any(step.transport.tls for step in steps)
    der, key = self_signed("sinemora bulk sender", Encoding.DER) if is_secret else (None, None)
    row = BulkOrder(
        mesh_id=mesh.id,
        kind=kind,
        vm_ids=sorted(vm_ids),
        secret=secrets.token_bytes(32),
        certificate=der,
        certificate_key=key,
        request=request,
        steps=[_stored(step, offered[step.target.id].port) for step in steps],
        progress={},
        starts_at=starts_at,
        ends_at=starts_at + timedelta(seconds=seconds),
        requested_by=actor.name,
    )
    session.add(row)
    session.flush()
    session.refresh(row)
    size = sum(step.bytes for step in steps)
    audit.record(session, actor, "bulk_run.created", row.id, mesh.name, of=kind.value, size_bytes=size)
    return row


def get(session: Session, run_id: UUID) -> BulkOrder:
    """Return an order. ProductError `bulk_run_unknown`."""
    return existing(session.get(BulkOrder, run_id), "bulk run")


def stop(session: Session, actor: Actor, run_id: UUID) -> BulkOrder:
    """Stop an order; repeating is no error, and one that is over stays as it is. ProductError `bulk_run_unknown`."""
    row, now = get(session, run_id), datetime.now(UTC)
    if row.stopped_at is None and row.finished_at is None and now < row.ends_at:
        row.stopped_at = now
        _forget_secrets(row)
        audit.record(session, actor, "bulk_run.stopped", row.id, str(row.id))
        session.flush()
    return row


def report(session: Session, agent: AgentIdentity, body: BulkReport) -> None:
    """Store what an agent reports of its transfers. ProductError `bulk_run_unknown`."""
    statement = select(BulkOrder).where(BulkOrder.id == body.order_id).with_for_update()
    row = session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()
    if row is None or agent.vm_id not in row.vm_ids:
        raise NotFound("bulk run")
    progress = dict(row.progress)
    for step in body.steps:
        if step.index < len(row.steps) and row.steps[step.index]["source_vm_id"] == str(agent.vm_id):
            progress[str(step.index)] = step.model_dump(mode="json", exclude={"index"})
    row.progress = progress
    if row.finished_at is not None or row.stopped_at is not None:
        return
    if body.error is not None:
        row.error = f"{get_vm(session, agent.vm_id).name}: {body.error}"
    failed = next((at for at, one in progress.items() if one["error"]), None)
    if row.error is None and failed is not None:
        ends = row.steps[int(failed)]
        row.error = f"{ends['source']} to {ends['target']}: {progress[failed]['error']}"
    done = [one for one in progress.values() if one["elapsed_us"]]
    if row.error is not None or len(done) == len(row.steps):
        row.finished_at = datetime.now(UTC)
        _forget_secrets(row)


def _forget_secrets(row: BulkOrder) -> None:
    row.secret = row.certificate = row.certificate_key = None


def _stored(step: Step, port: int) -> dict[str, Any]:
    return {
        "phase": step.phase,
        "source_vm_id": str(step.source.id),
        "source": step.source.name,
        "target_vm_id": str(step.target.id),
        "target": step.target.name,
        "port": port,
        "bytes": step.bytes,
        "rate_bytes_per_s": step.rate_bytes_per_s,
        **step.transport.model_dump(),
    }


def _check(steps: Sequence[Step], offered: dict[UUID, Offer]) -> None:
    """Raise ProductError for an order that an agent would refuse."""
    for step in steps:
        _check_transport(step, offered)
    for end in ("source", "target"):
        sizes: dict[UUID, int] = {}
        connections: dict[UUID, int] = {}
        for step in steps:
            member = step.source if end == "source" else step.target
            sizes[member.id] = sizes.get(member.id, 0) + step.bytes
            connections[member.id] = connections.get(member.id, 0) + step.transport.connections
            verb = "sends" if end == "source" else "receives"
            if sizes[member.id] > offered[member.id].bytes_max:
                most = offered[member.id].bytes_max
                raise _exceeded(f"{member.name} {verb} at most {most / 1e6:.4g} MB in a run (`bulk_max_size`)")
            if connections[member.id] > _CONNECTIONS_MAX:
                raise _exceeded(f"{member.name} {verb} over at most {_CONNECTIONS_MAX} connections in a run")


def _check_transport(step: Step, offered: dict[UUID, Offer]) -> None:
    transport, ends = step.transport, (step.source, step.target)
    controls = offered[step.source.id].congestion_controls
    if transport.congestion is not None and transport.congestion not in controls:
        raise _unavailable(
            f"{step.source.name} cannot use the congestion control {transport.congestion}: its agent may set"
            f" {', '.join(controls) or 'none'}"
        )
    for wanted, name, has in (
        (transport.mptcp, "MPTCP", [offered[end.id].mptcp for end in ends]),
        (transport.tls, "TLS", [offered[end.id].tls for end in ends]),
    ):
        if wanted and not all(has):
            raise _unavailable(f"{ends[has.index(False)].name} has no {name}")


def _check_free(session: Session, mesh: MeshState, vm_ids: Collection[UUID]) -> None:
    busy = {id for row in active_bulk(session) for id in row.vm_ids} & set(vm_ids)
    if busy:
        names = {member.id: member.name for member in mesh.members}
        named = ", ".join(sorted(names.get(id, str(id)) for id in busy))
        take = "takes" if len(busy) == 1 else "take"
        raise ProductError(
            "bulk_vm_busy",
            409,
            f"Already running: {named} {take} part in another run. Wait until it is over, or stop it.",
        )


def _delete_old(session: Session) -> None:
    newest = select(BulkOrder.id).order_by(BulkOrder.created_at.desc()).limit(KEPT - 1)
    old = (BulkOrder.created_at < datetime.now(UTC) - KEPT_FOR) | BulkOrder.id.not_in(newest)
    session.execute(delete(BulkOrder).where(old), execution_options={"synchronize_session": False})


def _exceeded(why: str) -> ProductError:
    return ProductError("bulk_limit_exceeded", 409, f"Over the limit of an agent: {why}. Send less.")


def _unavailable(why: str) -> ProductError:
    return ProductError("bulk_transport_unavailable", 409, f"Transport not available: {why}.")
