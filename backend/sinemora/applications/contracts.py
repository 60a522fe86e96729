"""Contracts of applications: a performance that is kept for a share of thirty days, and the account of it.

Each evaluated window of a mesh adds its seconds to a quarter of an hour of each application with a contract. Time that
nobody measured counts as neither kept nor broken.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from sinemora.applications import attach, queries, reading
from sinemora.applications.models import Application, ApplicationQuarter
from sinemora.kit.errors import ProductError
from sinemora.kit.percent import percent
from sinemora.measurements.aggregate.matrix import Statistic

PERIOD = timedelta(days=30)
"""Time over which a contract is kept."""
_QUARTER_S = 900
_KEPT = PERIOD + timedelta(days=32)
"""How long quarters are kept: the month before last is complete until the first of the next."""
FIELDS = frozenset({"objective", "kept_share", "curve", "curve_number", "reference_us"})
"""Fields of an application that its contract depends on."""
_KNOWN = 0.5
"""Least share of a time that must be measured for a rate of use."""


@dataclass(frozen=True, slots=True)
class ContractAccount:
    """Seconds of a time that were measured, and of these the seconds at or above the objective."""

    measured_s: int
    kept_s: int

    @property
    def kept(self) -> float | None:
        """Return the share of measured time that was kept; None where nothing was measured."""
        return self.kept_s / self.measured_s if self.measured_s else None


def stated(session: Session, mesh_id: UUID) -> dict[str, tuple[UUID, float]]:
    """Return id and objective of each application of a mesh with a contract, by name."""
    rows = session.execute(
        select(Application.name, Application.id, Application.objective).where(
            Application.mesh_id == mesh_id, Application.kept_share.is_not(None), Application.objective.is_not(None)
        )
    )
    return {name: (identity, objective) for name, identity, objective in rows if objective is not None}


def count(
    session: Session,
    contracts: Mapping[str, tuple[UUID, float]],
    performances: Mapping[str, float],
    ended_at_s: int,
    window_s: int,
) -> None:
    """Add a window to the accounts of these contracts, each once; a performance of NaN is unknown."""
    started_at = datetime.fromtimestamp((ended_at_s - window_s) // _QUARTER_S * _QUARTER_S, UTC)
    rows = [
        {
            "tenant_id": session.info["tenant_id"],
            "application_id": identity,
            "started_at": started_at,
            "measured_s": window_s,
            "kept_s": window_s if performances[name] >= objective else 0,
        }
        for name, (identity, objective) in sorted(contracts.items(), key=lambda item: item[1][0])
        if np.isfinite(performances.get(name, np.nan))
    ]
    if not rows:
        return
    statement = insert(ApplicationQuarter).values(rows)
    added = {name: getattr(ApplicationQuarter, name) + statement.excluded[name] for name in ("measured_s", "kept_s")}
    keys = [ApplicationQuarter.application_id, ApplicationQuarter.started_at]
    session.execute(statement.on_conflict_do_update(index_elements=keys, set_=added))
    if ended_at_s % 86_400 < window_s:
        session.execute(delete(ApplicationQuarter).where(ApplicationQuarter.started_at < started_at - _KEPT))


def account(session: Session, application_id: UUID, start: datetime, end: datetime) -> ContractAccount:
    """Return the account of an application over the quarters that begin in [`start`, `end`)."""
    measured, kept = (
        func.coalesce(func.sum(column), 0) for column in (ApplicationQuarter.measured_s, ApplicationQuarter.kept_s)
    )
    of_time = (ApplicationQuarter.started_at >= start, ApplicationQuarter.started_at < end)
    measured_s, kept_s = session.execute(
        select(measured, kept).where(ApplicationQuarter.application_id == application_id, *of_time)
    ).one()
    return ContractAccount(int(measured_s), int(kept_s))


def burn_rates(session: Session, mesh_id: UUID, at: datetime, over_s: int) -> dict[str, float]:
    """Return how fast each application with a contract used its budget: 1 uses it up in exactly thirty days.

    NaN where less than half of the time was measured.
    """
    since = at - timedelta(seconds=over_s)
    rates = {}
    for application in session.scalars(select(Application).where(Application.mesh_id == mesh_id)):
        if application.kept_share is None:
            continue
        found = account(session, application.id, since, at)
        known = found.measured_s >= _KNOWN * over_s and found.kept is not None
        rates[application.name] = (1 - (found.kept or 0.0)) / (1 - application.kept_share) if known else float("nan")
    return rates


def check(session: Session, application: Application) -> None:
    """Refuse a contract that makes no sense, or that no placement can keep at the delays of now.

    ProductError `contract_incomplete`, `contract_impossible`.
    """
    if application.kept_share is None:
        return
    if application.objective is None:
        raise ProductError(
            "contract_incomplete",
            422,
            "Contract incomplete: kept_share needs an objective, the performance to keep. State one, or omit it.",
            errors=[{"pointer": "#/kept_share", "message": "needs `objective`"}],
        )
    session.flush()
    if any(max(one.slots, one.slots_taken) > 1 for one in queries.carriers(session, application.mesh_id)):
        return  # tasks may share a VM, and have no round trip between them
    trips = reading.network(session, application.mesh_id, Statistic.MIN).round_trips_ns
    between = trips[~np.eye(len(trips), dtype=bool)]
    if not np.isfinite(between).any():
        return
    sensitivity = attach.sensitivity(application, attach.entries(session, [application])[application.id])
    nearest_ns = float(np.nanmin(between))
    best = float(sensitivity.curve(sensitivity.added_us(nearest_ns)))
    if application.objective > best:
        words = (
            f"at most {percent(best)} can be reached: no two VMs of the mesh are nearer than {nearest_ns / 1e3:.0f} µs"
        )
        raise ProductError(
            "contract_impossible",
            409,
            f"Contract impossible: {words}, and each has one slot. Lower the objective, add a nearer VM, or add slots.",
            errors=[{"pointer": "#/objective", "message": words}],
        )
