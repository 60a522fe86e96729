"""Orders of the bulk sender, each a trial: start within the limits of both agents, follow their reports, stop."""

import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cryptography.hazmat.primitives.serialization import Encoding
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.advisors.bulk.core.offer import Offer, offer_of
from sinemora.advisors.bulk.core.trial import Variant, order_of
from sinemora.advisors.bulk.schemas import BulkReport, TransportTrialCreate, TransportVariant
from sinemora.advisors.measured_path import member_named
from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.inventory.status import AgentStatus, status_of
from sinemora.fleet.meshes.models import TRIAL, BulkOrder
from sinemora.fleet.meshes.plan import Member
from sinemora.fleet.meshes.queries import active_bulk
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.certificates import self_signed
from sinemora.kit.config import settings
from sinemora.kit.errors import NotFound, ProductError, existing
from sinemora.recommendations.service import resolve_mesh

KEPT = 200
KEPT_FOR = timedelta(days=30)
SILENT_FOR = timedelta(seconds=15)
"""Time after the end of an order in which its last reports arrive."""
# The plan reaches the agents within a second or two.
_PREPARATION = timedelta(seconds=3)
# Connections of all transfers of an order, as the agent allows them.
_CONNECTIONS_MAX = 256


def start(session: Session, actor: Actor, body: TransportTrialCreate) -> BulkOrder:
    """Store the order of a trial; the plans of its agents carry it until it is over.

    ProductError `mesh_unknown`, `vm_not_in_mesh`, `path_same_ends`, `bulk_sender_off`, `bulk_agent_silent`,
    `bulk_limit_exceeded`, `bulk_transport_unavailable`, `bulk_vm_busy`.
    """
    mesh = mesh_state(session, resolve_mesh(session, body.mesh).id)
    ends = (member_named(mesh, body.source, "#/source"), member_named(mesh, body.target, "#/target"))
    source, target = ends
    if source.id == target.id:
        raise ProductError(
            "path_same_ends",
            422,
            f"No path: {source.name} is both ends. Choose two VMs.",
            errors=[{"pointer": "#/target", "message": "must differ from the source"}],
        )
    offers = [_offer(session, end) for end in ends]
    transports = [body.a if variant is Variant.A else body.b for variant in order_of(body.rounds)]
    step_bytes = round(1e6 * body.size_mb)
    _check_transports(transports[:2], ends, offers)
    _check_size(transports, step_bytes, ends, offers)
    quotas.lock(session)
    _check_free(session, ends)
    _delete_old(session)
    now = datetime.now(UTC)
    starts_at = (now + _PREPARATION).replace(microsecond=0) + timedelta(seconds=1)
    # Both ends get the certificate of this order, and senders accept no other key.
    is_secret = body.a.tls or body.b.tls
    der, key = self_signed("sinemora bulk sender", Encoding.DER) if is_secret else (None, None)
    common = {
        "source_vm_id": str(source.id),
        "source": source.name,
        "target_vm_id": str(target.id),
        "target": target.name,
        "port": offers[1].port,
        "bytes": step_bytes,
        "rate_bytes_per_s": min(offer.rate_max_bytes_per_s for offer in offers),
    }
    row = BulkOrder(
        mesh_id=mesh.id,
        vm_ids=sorted(end.id for end in ends),
        secret=secrets.token_bytes(32),
        certificate=der,
        certificate_key=key,
        request=body.model_dump(mode="json"),
        steps=[common | {"phase": at, **transport.model_dump()} for at, transport in enumerate(transports)],
        progress={},
        starts_at=starts_at,
        ends_at=starts_at + timedelta(seconds=min(offer.seconds_max for offer in offers)),
        requested_by=actor.name,
    )
    session.add(row)
    session.flush()
    session.refresh(row)
    size = step_bytes * len(transports)
    audit.record(session, actor, "bulk_run.created", row.id, mesh.name, size_bytes=size)
    return row


def get(session: Session, run_id: UUID) -> BulkOrder:
    """Return an order. ProductError `bulk_run_unknown`."""
    known = select(BulkOrder).where(BulkOrder.id == run_id, BulkOrder.kind == TRIAL)
    return existing(session.scalars(known).one_or_none(), "bulk run")


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


def _offer(session: Session, member: Member) -> Offer:
    """Return the offer of a member, which must be connected."""
    agent = get_vm(session, member.id).agent
    offer = None if agent is None else offer_of(agent.description)
    if agent is None or offer is None or member.address is None:
        raise ProductError(
            "bulk_sender_off",
            409,
            f"Bulk sender off on {member.name}: set `bulk_sender = true` there and start sinemora-transfer, then"
            " try again.",
        )
    now = datetime.now(UTC)
    status = status_of(None, agent.last_report_at, agent.report_every_s, now, settings().stale_windows)
    if status is not AgentStatus.reporting:
        raise ProductError(
            "bulk_agent_silent", 409, f"Agent not connected: that of {member.name}. Start it, then try again."
        )
    return offer


def _check_transports(transports: Iterable[TransportVariant], ends: Sequence[Member], offers: Sequence[Offer]) -> None:
    controls = offers[0].congestion_controls
    for transport in transports:
        if transport.congestion is not None and transport.congestion not in controls:
            raise _unavailable(
                f"{ends[0].name} cannot use the congestion control {transport.congestion}: its agent may set"
                f" {', '.join(controls) or 'none'}"
            )
        for wanted, name, has in (
            (transport.mptcp, "MPTCP", [offer.mptcp for offer in offers]),
            (transport.tls, "TLS", [offer.tls for offer in offers]),
        ):
            if wanted and not all(has):
                raise _unavailable(f"{ends[has.index(False)].name} has no {name}")


def _check_size(
    transports: Sequence[TransportVariant], step_bytes: int, ends: Sequence[Member], offers: Sequence[Offer]
) -> None:
    """Raise ProductError for an order that an agent would refuse."""
    for end, offer, verb in zip(ends, offers, ("sends", "receives"), strict=True):
        if step_bytes * len(transports) > offer.bytes_max:
            raise _exceeded(f"{end.name} {verb} at most {offer.bytes_max / 1e6:.4g} MB in a run (`bulk_max_size`)")
    if sum(transport.connections for transport in transports) > _CONNECTIONS_MAX:
        raise _exceeded(f"{ends[0].name} sends over at most {_CONNECTIONS_MAX} connections in a run")


def _check_free(session: Session, ends: Iterable[Member]) -> None:
    taken = {id for row in active_bulk(session) for id in row.vm_ids}
    busy = [end.name for end in ends if end.id in taken]
    if busy:
        raise ProductError(
            "bulk_vm_busy",
            409,
            f"Already running: {' and '.join(sorted(busy))} {'takes' if len(busy) == 1 else 'take'} part in another"
            " run. Wait until it is over, or stop it.",
        )


def _delete_old(session: Session) -> None:
    newest = select(BulkOrder.id).order_by(BulkOrder.created_at.desc()).limit(KEPT - 1)
    old = (BulkOrder.created_at < datetime.now(UTC) - KEPT_FOR) | BulkOrder.id.not_in(newest)
    session.execute(delete(BulkOrder).where(old), execution_options={"synchronize_session": False})


def _exceeded(why: str) -> ProductError:
    return ProductError("bulk_limit_exceeded", 409, f"Over the limit of an agent: {why}. Send less.")


def _unavailable(why: str) -> ProductError:
    return ProductError("bulk_transport_unavailable", 409, f"Transport not available: {why}.")
