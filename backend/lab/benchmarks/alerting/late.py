"""Reports that are late: always, by a gap, or from some agents. And what evaluation of many meshes costs.

`extra_windows` runs on a simulated clock: when windows are due, and the rules on them. The others store frames in a
database and evaluate them as the workers do.
"""

import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from lab.benchmarks.alerting.stack import fire_at_once
from lab.benchmarks.storing.product import Product, World, key_of
from lab.benchmarks.storing.worlds import frame_of, frame_rows, peers, window
from sinemora.alerts.detection import due, evaluator, late_data, rounds
from sinemora.alerts.detection.due import BlockReports, MeshReports
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.rule import Symptom, defaults
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.alerts.models import Incident
from sinemora.alerts.rules import service as rules
from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.store import inserts
from sinemora.measurements.store.roll_up import roll_up_mesh
from sinemora.measurements.store.tiers import Tier
from sinemora_client.commands import Terminal

VMS = 6
_TICK_S = 0.5
_WINDOWS_BEFORE, _WINDOWS_AFTER = 130, 30
# Reports take this long when nothing delays them.
_DELAYS_S = (0.5, 2.2)
# Windows this late are noticed when their minutes are merged again, not by live evaluation.
_BY_MINUTES_S = 150
_SPIKE_WINDOWS, _SLOW_NS, _QUIET_NS = 3, 5_000_000, 200_000


def extra_windows(late_s: float, window_s: int, seed: int) -> float | None:
    """Return how many windows later a lost path is found because reports are late, beyond their lateness itself.

    The reports of half of the agents vary in their lateness. None: it is not found.
    """
    in_time, found = _seconds_to_incident(0.0, window_s, seed), _seconds_to_incident(late_s, window_s, seed)
    if in_time is None or found is None:
        return None
    return max(0.0, found - in_time - late_s) / window_s


def _seconds_to_incident(late_s: float, window_s: int, seed: int) -> float | None:
    rng = np.random.default_rng(seed)
    windows = _WINDOWS_BEFORE + _WINDOWS_AFTER
    ends_s = window_s * np.arange(1, windows + 1)
    jitter = 1 + 0.2 * rng.standard_normal((windows, VMS)) * (np.arange(VMS) < VMS // 2)
    arrivals_s = ends_s[:, None] + rng.uniform(*_DELAYS_S, (windows, VMS)) + late_s * np.clip(jitter, 0.5, 1.0)
    arrivals_s = np.maximum.accumulate(arrivals_s, axis=0)  # agents send the oldest first
    base = rng.uniform(1e5, 3e5, (VMS, VMS))
    noise = rng.standard_normal((windows, VMS, VMS)) * 3e3
    state, mesh_rules = EvaluationState(np.arange(VMS)), defaults(window_s)
    evaluated_s, lateness_s, looked_s = None, 0.0, 0.0
    now_s = float(ends_s[0])
    while now_s < ends_s[-1]:
        now_s += _TICK_S
        newest = (arrivals_s <= now_s).sum(axis=0) - 1
        if newest.max() < 0:
            continue
        blocks = [BlockReports(int(ends_s[n]), 1, float(arrivals_s[n, vm])) for vm, n in enumerate(newest) if n >= 0]
        blocks.sort(key=lambda one: -one.ended_s)
        mesh = MeshReports(uuid4(), uuid4(), window_s, now_s, blocks, evaluated_s, looked_s, evaluated_s, lateness_s)
        due_s = due.due_end_s(mesh)
        if due_s is None:
            continue
        first_s = due_s if evaluated_s is None else evaluated_s + window_s
        for end_s in range(first_s, due_s + 1, window_s):
            at = end_s // window_s - 1
            lost = at >= _WINDOWS_BEFORE
            seen = _window(end_s, window_s, base + noise[at], arrivals_s[at] <= now_s, lost=lost)
            detections = step(state, mesh_rules, seen).detections
            if lost and any(Symptom.LOSS in one.symptoms for one in detections):
                return now_s - float(ends_s[_WINDOWS_BEFORE - 1])
        evaluated_s, lateness_s, looked_s = due_s, due.lateness_s(mesh), now_s
    return None


def _window(end_s: int, window_s: int, delay: np.ndarray, arrived: np.ndarray, *, lost: bool) -> EvaluationWindow:
    """Return a window of the agents that have reported it; `lost`: the pair 0-1 loses all packets."""
    planned = ~np.eye(VMS, dtype=bool)
    gone = np.zeros((VMS, VMS), bool)
    gone[0, 1] = gone[1, 0] = lost
    known = planned & arrived[:, None]

    def values(metric: Metric, statistic: Statistic) -> np.ndarray:
        if metric is Metric.LOSS:
            return np.where(known, gone, np.nan).astype(np.float32)
        return np.where(known & ~gone, 500.0 if metric is Metric.CLOCK_ERROR else delay, np.nan).astype(np.float32)

    none = np.zeros(VMS, bool)
    return EvaluationWindow(end_s, window_s, np.arange(VMS), np.arange(VMS) % 3, planned, values, none)


class StoredMesh:
    """A mesh whose windows are stored one after the other, beginning an hour ago."""

    def __init__(self, stack: Product, name: str, vms: int = VMS) -> None:
        self.world: World = stack.world(name, vms, zones=3)
        self.tenant_id = stack.tenant_id
        self.start_s = int(time.time() - 5400) // 10 * 10
        with tenant_session(self.tenant_id) as session:
            rules.create_default_rules(session, self.world.mesh_id)
        fire_at_once(Terminal(stack.url(""), key_of(self.tenant_id, "write")), self.world.mesh_id, above_ms=1)
        keys = self.world.vm_keys
        self._quiet = [window(np.random.default_rng(at), key, peers(keys, at)) for at, key in enumerate(keys)]

    def quiet(self, slow: int | None = None) -> None:
        """Let paths be as usual in the windows that are stored from now on; those of VM `slow` take long."""
        keys = self.world.vm_keys
        for at, key in enumerate(keys):
            targets = peers(keys, at)
            values = np.full((2, len(targets), 10), _QUIET_NS, np.int64)
            values[:, [slow is not None and (at == slow or target == keys[slow]) for target in targets]] = _SLOW_NS
            self._quiet[at] = frame_of(key, targets, values)

    def store(self, start_s: int, vms: Iterable[int]) -> None:
        """Store the window of some VMs that starts at a time."""
        world = self.world
        rows = [
            row for vm in vms for row in frame_rows(world.tenant_key, world.mesh_key, self._quiet[vm], [start_s], 10)
        ]
        known = inserts.RosterKeys()
        with system_session() as session:
            inserts.store_frames(session, rows, known)

    def evaluate(self, start_s: int) -> None:
        """Evaluate the mesh up to the window that starts at a time."""
        with tenant_session(self.tenant_id) as session:
            evaluator.evaluate(session, self.world.mesh_id, start_s + 10, datetime.now(UTC))


def gap_spike_missed(stack: Product, gap_s: int, seed: int, *, whole: bool) -> bool:
    """Return whether a spike is never found that lies in a gap of reporting, of the whole mesh or of one agent."""
    mesh = StoredMesh(stack, f"gap-{gap_s}-{seed}-{whole}")
    mesh.quiet()
    everyone, gone = range(VMS), range(VMS) if whole else [0]
    present = [vm for vm in everyone if vm not in gone]
    before, gap, start_s = 40, max(1, gap_s // 10), mesh.start_s
    for number in range(before):
        mesh.store(start_s + 10 * number, everyone)
        mesh.evaluate(start_s + 10 * number)
    with tenant_session(mesh.tenant_id) as session:
        late_data.evaluate_late_data(session, mesh.world.mesh_id, datetime.now(UTC))
    first_s = start_s + 10 * before
    for number in range(gap) if present else ():
        mesh.store(first_s + 10 * number, present)
        mesh.evaluate(first_s + 10 * number)
    spike = range(gap // 3, gap // 3 + min(_SPIKE_WINDOWS, gap))
    for number in range(gap):  # the agents send what they kept, the oldest first
        if number == spike.start:
            mesh.quiet(slow=0)
        elif number == spike.stop:
            mesh.quiet()
        mesh.store(first_s + 10 * number, gone)
    mesh.quiet()
    for number in range(gap, gap + 3):
        mesh.store(first_s + 10 * number, everyone)
        mesh.evaluate(first_s + 10 * number)
    if present and gap_s > _BY_MINUTES_S:
        while roll_up_mesh(mesh.world.tenant_key, mesh.world.mesh_key, Tier.MINUTE, datetime.now(UTC)):
            pass
    with tenant_session(mesh.tenant_id) as session:
        late_data.evaluate_late_data(session, mesh.world.mesh_id, datetime.now(UTC) + timedelta(minutes=10))
        return not _spike_is_known(session, mesh.world.mesh_id, first_s + 10 * spike.start, first_s + 10 * spike.stop)


def _spike_is_known(session: Session, mesh_id: UUID, first_s: int, last_s: int) -> bool:
    rows = session.scalars(select(Incident).where(Incident.mesh_id == mesh_id)).all()
    return any(first_s - 60 <= row.opened_at.timestamp() <= last_s + 60 for row in rows)


def meshes_per_core(stack: Product, meshes: int, windows: int) -> tuple[float, float]:
    """Return how many meshes of ten VMs a core evaluates in a window of 10 s, and the share of the database's time.

    The processor time is that of the process that evaluates; baselines and rules are those of a new mesh.
    """
    worlds = [StoredMesh(stack, f"core-{number}", 10) for number in range(meshes)]
    start_s, spent, database = worlds[0].start_s, 0.0, 0.0
    for number in range(windows):
        for mesh in worlds:
            mesh.store(start_s + 10 * number, range(10))
        began, began_database = time.process_time(), stack.database_cpu_s()
        rounds.run(0)
        if number > 1:  # rules and seasons are known
            spent += time.process_time() - began
            database += stack.database_cpu_s() - began_database
    with system_session() as session:
        evaluated = session.scalar(
            text("SELECT count(*) FROM alert_states WHERE evaluated_until = to_timestamp(:end)"),
            {"end": start_s + 10 * windows},
        )
    assert evaluated == meshes, f"{evaluated} of {meshes} meshes were evaluated"
    return 10 * meshes * (windows - 2) / spent, database / spent
