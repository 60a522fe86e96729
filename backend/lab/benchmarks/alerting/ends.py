"""Random sequences of what happens to an incident and to its notices, against the database, with receivers in process.

A Hypothesis state machine: windows with and without causes, people, silences, routes, renames, deletions, receivers
that refuse, lose answers or are not there, workers that die between sending and recording. At rest the last message of
each receiver must equal the state of each incident, and no incident may be open about what no longer exists. Time is
virtual: each rule may let some of it pass.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, ClassVar
from unittest.mock import patch
from uuid import UUID, uuid4

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from sqlalchemy import Connection, delete, event, select, text
from sqlalchemy.orm import Session

from lab.benchmarks.storing.product import make_world
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Role
from sinemora.access.tenants.service import create_owner
from sinemora.alerts.detection import tasks
from sinemora.alerts.evaluation.detections import Detection
from sinemora.alerts.evaluation.root_cause import Cause, Culprit, Hypothesis, Suspect
from sinemora.alerts.evaluation.rule import Severity, Symptom
from sinemora.alerts.evaluation.tracking import REMEMBERED_S, advance
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.alerts.incidents import gone, service, store
from sinemora.alerts.incidents import queries as incident_queries
from sinemora.alerts.models import (
    AlertRouting,
    AlertRule,
    Delivery,
    DeliveryState,
    Incident,
    IncidentState,
    Receiver,
    ReceiverKind,
    Silence,
)
from sinemora.alerts.notifications import delivery, dispatch, groups
from sinemora.alerts.notifications import service as notifications
from sinemora.alerts.notifications.delivery import Claim
from sinemora.alerts.notifications.messages import Notification
from sinemora.alerts.rules.load import rules_of
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes import service as meshes
from sinemora.fleet.meshes.models import MeshVm
from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit import db
from sinemora.kit.db import Identified, SessionMaker, tenant_session
from sinemora.kit.errors import ProductError
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.transaction_settings import set_tenant
from sinemora.measurements.query.ranges import utc

_ANY = IfMatch("*", required=False)
_WINDOW_S = 10
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
# Longer than the longest quiet time before an end is notified, and than all attempts of a notice.
_REST = timedelta(hours=26)
# Causes of windows: culprit and affected paths (source, target by number).
_CAUSES = (
    (Culprit(Suspect.PATH, 0, 1), ((0, 1),)),
    (Culprit(Suspect.PATH, 2, 1), ((2, 1),)),
    (Culprit(Suspect.INGRESS, 1), ((0, 1), (2, 1))),
    (Culprit(Suspect.EGRESS, 2), ((2, 0), (2, 1))),
)
_CRITICAL = {"label": "severity", "value": "critical"}
_TREES: tuple[dict[str, Any], ...] = (
    {"receivers": ["chat", "pager"]},
    {"receivers": ["chat"], "routes": [{"matchers": [_CRITICAL], "receivers": ["pager"]}]},
    {"receivers": ["chat", "pager"], "hold_s": 0},
    {"receivers": ["pager"], "routes": [{"matchers": [{"label": "vm", "value": "*-0000"}], "receivers": ["chat"]}]},
    {"receivers": []},
)
_OUTCOME = st.sampled_from(("accepted", "accepted", "refused for now", "answer lost", "not reached"))
_OUTCOMES = st.fixed_dictionaries({"chat": _OUTCOME, "pager": _OUTCOME})
_CAUSE = st.integers(0, len(_CAUSES) - 1)
_SEVERITY = st.sampled_from((*reversed(list(Severity)), Severity.CRITICAL))


class _Clock(datetime):
    """Clock of the modules under test; `sessions` that were opened so far are a microsecond apart."""

    present: ClassVar[datetime] = _BEGAN
    sessions: ClassVar[int] = 0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """Return the virtual time."""
        return cls.present


@contextmanager
def virtual_time(machine: type["Ends"]) -> Iterator[None]:
    """Let the modules that notify take their time and sessions from sequences, and leave tasks to them."""
    machine.tenant_key = db._tenant_key(machine.tenant_id)
    event.remove(SessionMaker, "after_begin", db._set_tenant)  # once for each sequence is enough
    try:
        with (
            db.engine().connect() as machine.connection,
            patch.object(db, "_transaction", machine.joined),
            patch.object(delivery, "figures_of", lambda *_: None),  # half of the time, and not looked at here
            patch.object(dispatch, "enqueue", lambda *_, **__: None),
            patch.object(notifications, "_count_by_hand", lambda _: None),
            patch.object(tasks, "announce", lambda *_: None),
            ExitStack() as clocks,
        ):
            for module in (dispatch, delivery, service, notifications, tasks):
                clocks.enter_context(patch.object(module, "datetime", _Clock))
            yield
    finally:
        event.listen(SessionMaker, "after_begin", db._set_tenant)


class Ends(RuleBasedStateMachine):
    """A mesh of three VMs, a rule, a webhook and PagerDuty. `strict`: faults raise, so that Hypothesis shrinks them."""

    tenant_id: ClassVar[UUID]
    tenant_key: ClassVar[int]
    connection: ClassVar[Connection]
    counts: ClassVar[Counter[str]] = Counter()
    strict: ClassVar[bool] = True

    @classmethod
    @contextmanager
    def joined(cls, *of_tenant: Any) -> Iterator[Session]:
        """Open a session in the one transaction of the present sequence, which is rolled back at its end."""
        _Clock.sessions += 1
        began_at = _Clock.present + timedelta(microseconds=_Clock.sessions)

        def stamp(session: Session, *_: Any) -> None:
            for row in session.new:
                if isinstance(row, Identified):
                    row.created_at = began_at

        info = {"tenant_id": cls.tenant_id, "tenant_key": cls.tenant_key, "mesh_limit": None}
        with SessionMaker(bind=cls.connection, info=info, join_transaction_mode="rollback_only") as session:
            event.listen(session, "before_flush", stamp)
            with session.begin():
                yield session

    @initialize(tree=st.sampled_from(_TREES), cause=_CAUSE, severity=_SEVERITY, outcomes=_OUTCOMES)
    def begin(self, tree: dict[str, Any], cause: int, severity: Severity, outcomes: dict[str, str]) -> None:
        """Create the mesh, and its first incident, of which receivers are told in some way."""
        self._create(tree)
        self.window([cause], severity, 10)
        self.deliver(outcomes, attempts=2, recorded=True)

    def _create(self, tree: dict[str, Any]) -> None:
        _Clock.present = _BEGAN
        self.last: dict[tuple[UUID, str], str] = {}
        self.claimed: list[tuple[Claim, delivery.Result]] = []
        self.is_excused = False
        self.history: list[str] = []
        self.actor = Actor(self.tenant_id, 0, "Bench", "user", uuid4(), "kim@sinemora.example", Role.owner)
        self.whole = self.connection.begin()
        self.connection.exec_driver_sql(set_tenant(self.tenant_id, self.tenant_key))
        self.mesh_id = make_world(self.tenant_id, "mesh", 3, zones=2).mesh_id
        with tenant_session(self.tenant_id) as session:
            receivers = [
                Receiver(name="chat", kind=ReceiverKind.webhook, settings={"url": "http://chat.example/"}),
                Receiver(name="pager", kind=ReceiverKind.pagerduty, settings={}),
            ]
            session.add_all(receivers)
            condition = {"kind": "threshold", "metric": "loss", "statistic": "mean", "above": 0.5}
            condition |= {"deviations": 0.0, "rise_ns": 0.0, "timescale": "short"}
            rule_row = AlertRule(mesh_id=self.mesh_id, name="Loss", enabled=True, severity=Severity.WARNING, scope={})
            rule_row.condition, rule_row.windows_x, rule_row.windows_y = condition, 1, 1
            rule_row.sources_min, rule_row.hold_s, rule_row.keep_firing_s = 1, 0, 0
            session.add_all([rule_row, AlertRouting(id=uuid4(), tree={"root": tree})])
            session.flush()
            self.rule_id = str(rule_row.id)

    def _mesh(self, session: Any) -> MeshState | None:
        with suppress(ProductError):
            return meshes.mesh_state(session, self.mesh_id)
        return None

    @rule(
        causes=st.lists(_CAUSE, max_size=2, unique=True),
        severity=_SEVERITY,
        after_s=st.sampled_from((10, 10, 60, 200, 1200)),
    )
    def window(self, causes: list[int], severity: Severity, after_s: int) -> None:
        """Evaluate a window with some causes, after some time."""
        self.time_passes(after_s)
        end_s = int(_Clock.present.timestamp()) // _WINDOW_S * _WINDOW_S
        with tenant_session(self.tenant_id) as session:
            mesh = self._mesh(session)
            if mesh is None or len(mesh.members) < 2:
                return
            size = len(mesh.members)
            detections = [one for at in causes if (one := self._detection(at, severity, size)) is not None]
            losses = np.full((size, size), 0.6, np.float32)
            keys, planned = np.array([member.key for member in mesh.members]), ~np.eye(size, dtype=bool)
            zones, none = np.zeros(size, np.int64), np.zeros(size, bool)
            window = EvaluationWindow(end_s, _WINDOW_S, keys, zones, planned, lambda *_: losses, none)
            state = EvaluationState(window.keys)
            rows = incident_queries.ongoing(session, mesh.id, utc(end_s - REMEMBERED_S))
            known, ids = store.tracks_of(rows, mesh), [str(uuid4()) for _ in detections]
            changes = advance(known, detections, window.zone_of, end_s, _WINDOW_S, ids)
            store.apply(session, mesh, rules_of(session, mesh), changes, rows, state, window, _Clock.present)

    def _detection(self, at: int, severity: Severity, size: int) -> Detection | None:
        culprit, paths = _CAUSES[at]
        ends = {end for path in paths for end in path} | {culprit.at}
        if max(ends) >= size:
            return None
        cells = np.array(sorted(source * size + target for source, target in paths), np.int64)
        cause = Cause((Hypothesis(culprit, 10.0, len(paths), len(paths)),), cells)
        return Detection(cause, {self.rule_id: len(paths)}, severity, 1, symptoms=frozenset((Symptom.LOSS,)))

    @rule(after_s=st.sampled_from((1, 40, 300, 1200, 20_000)))
    def time_passes(self, after_s: int) -> None:
        """Let time pass without a window."""
        _Clock.present += timedelta(seconds=after_s)

    @rule(outcomes=_OUTCOMES, attempts=st.integers(1, 4), recorded=st.booleans())
    def deliver(self, outcomes: dict[str, str], attempts: int, recorded: bool) -> None:
        """Make due attempts, which receivers treat in some way; record their results now or later."""
        self.outcome = outcomes
        self._deliver(attempts, recorded=recorded)

    def _deliver(self, attempts: int, *, recorded: bool) -> int:
        due = select(Delivery.id).where(Delivery.state == DeliveryState.waiting, Delivery.due_at <= _Clock.present)
        with tenant_session(self.tenant_id) as session:
            ids = session.scalars(due.order_by(Delivery.due_at, Delivery.id).limit(attempts)).all()
        for delivery_id in ids:
            with tenant_session(self.tenant_id) as session:
                claimed = delivery.claim(session, delivery_id, _Clock.present)
                if claimed is None:
                    continue
            result = self._received("chat" if claimed.kind is ReceiverKind.webhook else "pager", claimed)
            self.claimed.append((claimed, result))
            if recorded:
                self.record()
        return len(ids)

    @rule()
    def record(self) -> None:
        """Record the results of attempts."""
        while self.claimed:
            claimed, result = self.claimed.pop(0)
            with tenant_session(self.tenant_id) as session:
                delivery.record(session, claimed, result, _Clock.present)

    @rule()
    def restart(self) -> None:
        """Let the product stop after sending: results are lost."""
        self.claimed.clear()

    def _received(self, name: str, claimed: Claim) -> delivery.Result:
        """Return what a receiver does with a message, and remember those it accepts."""
        outcome = self.outcome[name]
        self.counts[f"message {outcome}"] += 1
        if outcome in ("not reached", "refused for now"):
            return delivery.Result(DeliveryState.waiting, outcome)
        for notice in claimed.content.incidents or (claimed.content,):
            self._accept(name, notice)
        if outcome == "answer lost":
            return delivery.Result(DeliveryState.waiting, outcome)
        return delivery.Result(DeliveryState.sent, "HTTP status 200")

    def _accept(self, name: str, notice: Notification) -> None:
        assert notice.incident_id is not None
        incident_id = UUID(notice.incident_id)
        self.history.append(f"{_Clock.present:%H:%M:%S} {name} {notice.about} {notice.title}")
        if notice.about != "resolved":
            with tenant_session(self.tenant_id) as session:
                row = session.get(Incident, incident_id)
                if row is None or groups.is_over(row, _Clock.present):
                    self._fault("sent after the end", name, notice.about)
        self.last[incident_id, name] = notice.about

    @rule(action=st.sampled_from((IncidentState.resolved, *IncidentState)))
    def person(self, action: IncidentState) -> None:
        """Let a person decide about the newest incident."""
        with tenant_session(self.tenant_id) as session:
            newest = session.scalars(select(Incident.id).order_by(Incident.opened_at.desc(), Incident.id)).first()
            if newest is not None and self._mesh(session) is not None:
                with suppress(ProductError):
                    service.decide(session, self.actor, newest, action, "", _ANY)

    @rule(on=st.booleans())
    def silence(self, on: bool) -> None:
        """Silence everything, or end all silences."""
        self.is_excused = True
        with tenant_session(self.tenant_id) as session:
            session.execute(delete(Silence))
            if on:
                matchers = [{"label": "mesh", "value": "*"}]
                times = {"starts_at": _Clock.present, "ends_at": _Clock.present + timedelta(hours=2)}
                session.add(Silence(comment="known", matchers=matchers, created_by="kim", **times))

    @rule(tree=st.sampled_from(_TREES))
    def reroute(self, tree: dict[str, Any]) -> None:
        """Replace the routes."""
        self.is_excused = True
        with tenant_session(self.tenant_id) as session:
            session.execute(delete(AlertRouting))
            session.add(AlertRouting(id=uuid4(), tree={"root": tree}))

    @rule(table=st.sampled_from(("receivers", "vms", "meshes")), name=st.sampled_from(("old", "new")))
    def rename(self, table: str, name: str) -> None:
        """Rename all receivers, VMs or meshes: routes and silences hold names."""
        self.is_excused = True
        with tenant_session(self.tenant_id) as session:
            session.execute(text(f"UPDATE {table} SET name = :name || left(id::text, 8)"), {"name": name})

    @rule(what=st.sampled_from(("vm", "member", "rule", "mesh", "receiver")), at=st.integers(0, 2))
    def remove(self, what: str, at: int) -> None:
        """Delete a VM, its membership, the rule, the mesh or a receiver."""
        with tenant_session(self.tenant_id) as session:
            mesh = self._mesh(session)
            members = () if mesh is None else mesh.members
            if what in ("vm", "member") and at < len(members):
                column = {"vm": Vm.id, "member": MeshVm.vm_id}[what]
                session.execute(delete(Vm if what == "vm" else MeshVm).where(column == members[at].id))
            elif what == "rule":
                session.execute(delete(AlertRule))
            elif what == "mesh" and mesh is not None and at == 0:
                meshes.delete_mesh(session, self.actor, self.mesh_id, _ANY)
            elif what == "receiver" and at == 0:
                session.execute(delete(Receiver).where(Receiver.kind == ReceiverKind.pagerduty))
                self.last = {key: about for key, about in self.last.items() if key[1] != "pager"}

    @rule()
    def send_again(self) -> None:
        """Let a person repeat the oldest delivery that has ended."""
        with tenant_session(self.tenant_id) as session:
            ended = select(Delivery.id).where(Delivery.state != DeliveryState.waiting).order_by(Delivery.created_at)
            oldest = session.scalars(ended.limit(1)).first()
            if oldest is not None:
                with suppress(ProductError):
                    notifications.redeliver(session, self.actor, oldest)

    @rule()
    def sweep(self) -> None:
        """End incidents about what no longer exists."""
        tasks.end_gone()

    def teardown(self) -> None:
        """Let everything come to rest, then compare."""
        if not hasattr(self, "last"):
            return
        try:
            self._rest()
        finally:
            self.whole.rollback()

    def _rest(self) -> None:
        self.outcome = dict.fromkeys(self.outcome, "accepted")
        self.record()
        for step in (60, 600, _REST.total_seconds(), _REST.total_seconds()):
            self.time_passes(int(step))
            tasks.end_gone()
            for _ in range(200):
                if not self._deliver(20, recorded=True):
                    break
        self.counts["sequences"] += 1
        self._compare()

    def _compare(self) -> None:
        with tenant_session(self.tenant_id) as session:
            rows = {row.id: row for row in session.scalars(select(Incident))}
            ended = select(Delivery.incident_id).where(Delivery.attempts > len(delivery.BACKOFF_S))
            given_up = set(session.scalars(ended))
            mesh = self._mesh(session)
            for row in rows.values():
                self.counts["incidents"] += 1
                is_open = row.state != IncidentState.resolved or row.ended_at is None
                if is_open and (mesh is None or gone.reason(session, row, mesh) is not None):
                    self._fault("open without subject", row.title, str(row.state))
        for (incident_id, name), about in self.last.items():
            found = rows.get(incident_id)
            is_over = found is None or groups.is_over(found, _Clock.present)
            # Another severity may have another route: then the receiver is not to hear of the return.
            is_excused = self.is_excused or found is None or Severity(found.severity) is Severity.CRITICAL
            wrong = about != "resolved" if is_over else about == "resolved" and not is_excused
            if wrong and incident_id not in given_up:
                self._fault("last message wrong", name, f"{about}, incident {'over' if is_over else 'open'}")

    def _fault(self, kind: str, *words: str) -> None:
        text_ = f"{kind}: {', '.join(words)}; messages: {self.history}"
        self.counts.update((kind, text_))
        if self.strict:
            raise AssertionError(text_)


def run(number: int, sequences: int) -> Counter[str]:
    """Run sequences of a number and return what was counted, faults also in words; they end nothing."""
    db.dispose(close=False)
    tenant_id = create_owner(f"Ends {number}", f"ends-{number}@sinemora.example", "correct horse battery").tenant_id
    Ends.tenant_id, Ends.counts, Ends.strict = tenant_id, Counter(), False
    often = settings(
        max_examples=sequences,
        stateful_step_count=15,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    with virtual_time(Ends):
        run_state_machine_as_test(with_seed(number)(Ends), settings=often)
    return Ends.counts
