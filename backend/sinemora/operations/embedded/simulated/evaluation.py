"""Alert rules on loaded windows, in the order in which they would have arrived live."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from sinemora.alerts.detection import evaluator
from sinemora.alerts.models import AlertState, LateDataProgress
from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.store import invalidation, latest, roll_up
from sinemora.measurements.store.tiers import Tier

_PAUSE_S = 0.5


@contextmanager
def paused(tenant_id: UUID, mesh_id: UUID, *, reset: bool) -> Iterator[Session]:
    """Yield a session that locks the alert state of a mesh, so that workers do not evaluate it meanwhile.

    Without the pause they would take the newest window at once, and its faults for usual: a baseline learns from the
    windows before. `reset`: forget all that was learnt, as after an interrupted load. Call `keep` every minute.
    """
    with tenant_session(tenant_id) as session:
        state = session.scalars(select(AlertState).where(AlertState.mesh_id == mesh_id).with_for_update()).one()
        if reset:
            state.evaluated_until = state.looked_at = state.rule_states = state.baselines = state.baselines_at = None
            session.flush()
        yield session


def keep(session: Session) -> None:
    """Keep the database from ending the idle session of `paused`."""
    session.execute(text("SELECT 1"))


def evaluate(session: Session, mesh_id: UUID, end_s: int) -> None:
    """Evaluate the window with this end (Unix s) in a session of `paused`."""
    evaluator.evaluate(session, mesh_id, end_s, datetime.now(UTC))


def merge_minutes(tenant_key: int, mesh_key: int, keep: Callable[[], None]) -> None:
    """Merge the windows of a mesh into minutes, alternating with the worker that may be doing the same.

    Coarser tiers are left to the worker. `keep` is called after each step.
    """
    while True:
        keep()
        now = datetime.now(UTC)
        if roll_up.roll_up_mesh(tenant_key, mesh_key, Tier.MINUTE, now):
            continue
        with system_session() as session:
            if (tenant_key, mesh_key) not in invalidation.meshes(session, Tier.MINUTE, now):
                return
        time.sleep(_PAUSE_S)  # a worker merges this mesh


def note_newest(tenant_id: UUID, mesh_key: int) -> None:
    """Note that the newest windows are complete. The first reader does so, and would lock them until `paused` ends."""
    with tenant_session(tenant_id) as session:
        latest.ensure(session, mesh_key)


def leave_out_late_data(tenant_id: UUID, mesh_id: UUID) -> None:
    """Mark all minutes as evaluated: their windows arrived late, and `evaluate` has seen the recent ones."""
    with tenant_session(tenant_id) as session:
        session.merge(LateDataProgress(tenant_id=tenant_id, mesh_id=mesh_id, looked_until=datetime.now(UTC)))
