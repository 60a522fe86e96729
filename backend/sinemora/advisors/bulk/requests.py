"""Use cases that start runs: a trial of two transports, and a planned transfer."""

from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.advisors.bulk import orders
from sinemora.advisors.bulk.core import trial
from sinemora.advisors.bulk.core.trial import Variant
from sinemora.advisors.bulk.orders import Step
from sinemora.advisors.bulk.schemas import TransferRunCreate, TransportTrialCreate, TransportVariant
from sinemora.advisors.measured_path import member_named
from sinemora.advisors.transfers.service import plan_transfers
from sinemora.fleet.meshes.models import BulkKind, BulkOrder
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError
from sinemora.recommendations.service import resolve_mesh

_GBIT = 1e9 / 8
# A transfer below it would hardly be seen, and its sender would sleep for long.
_RATE_MIN = 125_000


def start_trial(session: Session, actor: Actor, body: TransportTrialCreate) -> BulkOrder:
    """Start the comparison of two transports.

    ProductError `mesh_unknown`, `vm_not_in_mesh`, `path_same_ends` and those of `orders.offers` and `orders.start`.
    """
    mesh = mesh_state(session, resolve_mesh(session, body.mesh).id)
    source, target = member_named(mesh, body.source, "#/source"), member_named(mesh, body.target, "#/target")
    if source.id == target.id:
        raise ProductError(
            "path_same_ends",
            422,
            f"No path: {source.name} is both ends. Choose two VMs.",
            errors=[{"pointer": "#/target", "message": "must differ from the source"}],
        )
    offered = orders.offers(session, (source, target))
    rate = min(offer.rate_max_bytes_per_s for offer in offered.values())
    transports = {Variant.A: body.a, Variant.B: body.b}
    steps = [
        Step(source, target, at, round(1e6 * body.size_mb), transports[variant], rate)
        for at, variant in enumerate(trial.order_of(body.rounds))
    ]
    return orders.start(session, actor, mesh, BulkKind.trial, steps, offered, body.model_dump(mode="json"))


def start_transfers(session: Session, actor: Actor, body: TransferRunCreate) -> BulkOrder:
    """Plan transfers within the limits of their agents, and start them all at once.

    ProductErrors of `plan_transfers`, `orders.offers` and `orders.start`.
    """
    mesh = mesh_state(session, resolve_mesh(session, body.mesh or "").id)
    ends = {
        name: member_named(mesh, name, f"#/transfers/{at}/{field}")
        for at, one in enumerate(body.transfers)
        for field, name in (("source", one.source), ("target", one.target))
    }
    members = {member.id: member for member in ends.values()}
    offered = orders.offers(session, members.values())
    capacities = body.capacities_gbit | {
        member.name: min(
            body.capacities_gbit.get(member.name, body.capacity_gbit),
            offered[member.id].rate_max_bytes_per_s / _GBIT,
        )
        for member in members.values()
    }
    planned = plan_transfers(session, body.model_copy(update={"capacities_gbit": capacities}))
    by_name = {member.name: member for member in members.values()}
    steps = [
        Step(
            by_name[row.source],
            by_name[row.target],
            0,
            max(round(row.size_bytes), 1),
            TransportVariant(connections=row.connections),
            max(round(row.rate_mbit * 125_000), _RATE_MIN),
        )
        for row in planned.transfers
    ]
    request = body.model_dump(mode="json") | {"bound_s": planned.bound_s}
    return orders.start(session, actor, mesh, BulkKind.transfers, steps, offered, request)
