"""Price difference of a recommendation: the compute mix of each moved application before and after the moves."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.advisors.compute_mix import offers, price_basis
from sinemora.advisors.compute_mix.basis_schemas import ApplicationPriceRead, PlacementMixRead, PriceDifferenceRead
from sinemora.advisors.compute_mix.offers import PricedService
from sinemora.advisors.compute_mix.schemas import SplitRead
from sinemora.advisors.measured_path import delays_between, statistic_ns
from sinemora.applications import queries as applications
from sinemora.applications.models import Application
from sinemora.applications.reading import links_of
from sinemora.applications.schemas import Named
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError
from sinemora.measurements.schemas import Span
from sinemora.recommendations.schemas import MoveRead
from sinemora.recommendations.service import get_recommendation, read

_NO_BASIS = "No price basis: give the load, the response target and the VM prices of {name} on the page Compute mix."
_DELETED = "{name} is no longer declared."
_UNMEASURED = "No path of the application was measured in these windows."

Places = dict[UUID, UUID | None]
"""VM of each task; None while it waits."""
Pair = tuple[UUID, UUID]


def price_difference(session: Session, recommendation_id: UUID) -> PriceDifferenceRead:
    """Return the price difference of a recommendation. ProductError `recommendation_unknown`."""
    recommendation = read(session, get_recommendation(session, recommendation_id))
    mesh = mesh_state(session, recommendation.mesh.id)
    declared = {row.id: row for row in applications.applications_of(session, mesh.id)}
    window = recommendation.result.evidence.window
    steps: dict[UUID, list[MoveRead]] = {}
    for step in recommendation.steps:
        steps.setdefault(step.application.id, []).append(step)
    reads = [
        _application(session, mesh, declared.get(id), moves[0].application, moves, window)
        for id, moves in steps.items()
    ]
    known = [row for row in reads if row.difference_per_hour is not None]
    currencies = {row.currency for row in known}
    total = sum(row.difference_per_hour or 0.0 for row in known) if len(currencies) == 1 else None
    return PriceDifferenceRead(
        recommendation_id=recommendation.id,
        window=window,
        currency=currencies.pop() if len(currencies) == 1 else None,
        difference_per_hour=total,
        applications=reads,
    )


def _application(
    session: Session, mesh: MeshState, row: Application | None, name: Named, moves: list[MoveRead], window: Span
) -> ApplicationPriceRead:
    basis = None if row is None else price_basis.of_application(session, row.id)
    if row is None or basis is None:
        return _without(name, (_DELETED if row is None else _NO_BASIS).format(name=name.name))
    try:
        priced = offers.priced(session, price_basis.service_of(basis))
    except ProductError as error:  # its price list was deleted, or lost the entry
        return _without(name, error.detail)
    before, after = _places(row, moves)
    pairs = {side: _pairs(row, places) for side, places in (("before", before), ("after", after))}
    delays = _delays(session, mesh, set(pairs["before"]) | set(pairs["after"]), priced.statistic, window)
    names = {member.id: member.name for member in mesh.members}
    mixes = {side: _mix(priced, found, delays, names) for side, found in pairs.items()}
    splits = [mixes[side].split for side in ("after", "before")]
    costs = [None if split is None else split.cost_per_hour for split in splits]
    return ApplicationPriceRead(
        application=name,
        currency=priced.currency,
        statistic=priced.statistic,
        before=mixes["before"],
        after=mixes["after"],
        difference_per_hour=None if costs[0] is None or costs[1] is None else costs[0] - costs[1],
        reason=None,
    )


def _without(name: Named, reason: str) -> ApplicationPriceRead:
    return ApplicationPriceRead(
        application=name,
        currency=None,
        statistic=None,
        before=None,
        after=None,
        difference_per_hour=None,
        reason=reason,
    )


def _places(row: Application, moves: list[MoveRead]) -> tuple[Places, Places]:
    """Return the VM of each task before and after the moves; a task without a move is where it is now."""
    now: Places = {task.id: task.vm_id for task in row.tasks}
    first: Places = {}
    for move in moves:
        first.setdefault(move.task.id, None if move.source is None else move.source.id)
    last: Places = {move.task.id: move.target.id for move in moves}
    return now | first, now | last


def _pairs(row: Application, places: Places) -> list[Pair]:
    """Return the pairs of different VMs that links of an application connect."""
    links = links_of(row)
    at = [places[task.id] for task in row.tasks]
    ends = ((at[source], at[target]) for source, target in zip(links.sources, links.targets, strict=True))
    return sorted({(one, other) for one, other in ends if one is not None and other is not None and one != other})


def _delays(
    session: Session, mesh: MeshState, pairs: Iterable[Pair], statistic: str, window: Span
) -> dict[Pair, tuple[float, float]]:
    """Return the delays (µs) out and back of those pairs that were measured."""
    members = {member.id for member in mesh.members}
    asked = sorted(pair for pair in pairs if members.issuperset(pair))
    if not asked or window.from_ is None or window.to is None:
        return {}
    found = delays_between(session, mesh, asked, window.from_, window.to)
    return {
        pair: (statistic_ns(outbound, statistic) / 1e3, statistic_ns(inbound, statistic) / 1e3)
        for pair, (outbound, inbound) in zip(asked, found, strict=True)
        if outbound.count and inbound.count
    }


def _mix(
    priced: PricedService, pairs: list[Pair], delays: Mapping[Pair, tuple[float, float]], names: Mapping[UUID, str]
) -> PlacementMixRead:
    measured = [pair for pair in pairs if pair in delays]
    slowest = max(measured, key=lambda pair: sum(delays[pair]), default=None)
    outbound_us, inbound_us = (0.0, 0.0) if slowest is None else delays[slowest]
    found = priced.mix(outbound_us, inbound_us)
    unmeasured = bool(pairs) and slowest is None
    best = None if unmeasured else found.best
    return PlacementMixRead(
        path=None if slowest is None else f"{names[slowest[0]]} to {names[slowest[1]]}",
        outbound_us=outbound_us,
        inbound_us=inbound_us,
        budget_ms=found.budget_s * 1e3,
        paths=len(pairs),
        paths_measured=len(measured),
        vm=None if best is None else best.vm.name,
        split=None if best is None else SplitRead.model_validate(best.split),
        reason=_UNMEASURED if unmeasured else offers.reason(found),
    )
