"""A mesh whose agents report window by window; servers for notifications."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from sinemora.alerts.detection import evaluator
from sinemora.alerts.evaluation import tracking
from sinemora.alerts.models import AlertRule, Incident
from sinemora.alerts.rules import service as rules
from sinemora.fleet.meshes.plan import is_client
from sinemora.kit.db import tenant_session
from tests.alerts.notifications.servers import Hooks
from tests.api_clients import AgentCaller, MakeMesh, Member, MeshWorld, SetTo
from tests.mail_server import serve
from tests.measurements.reports import sent_together, window_start
from tests.measurements.worlds import Raw, simple
from tests.statements import call, execute

QUIET_NS = 200_000
Slow = dict[tuple[int, int], int]
"""One-way delays, ns, of paths by the numbers of source and target."""


@dataclass
class Watched:
    """An evaluated mesh; `slow` paths (source, target by number) take the ns given, `lossy` pairs lose half of the
    requests, `unmeasured` pairs have no window.
    """

    world: MeshWorld
    slow: Slow = field(default_factory=dict)
    lossy: set[frozenset[int]] = field(default_factory=set)
    unmeasured: set[frozenset[int]] = field(default_factory=set)
    started_at_s: int = field(default_factory=lambda: window_start(120))

    @property
    def owner(self) -> Member:
        return self.world.owner

    def report(self, windows: int = 1, *, slow: Slow | None = None, leave_out: tuple[int, ...] = ()) -> int:
        """Report windows from all agents, those of an agent together; return the end of the last (Unix s).

        `slow` are the slow paths from now on; without it they stay.
        """
        self.slow = self.slow if slow is None else slow
        starts = [self.started_at_s + 10 * n for n in range(windows)]
        measured = self._measured(leave_out)
        sent_together(self.world.key, ((agent, peers, start) for agent, peers in measured for start in starts))
        self.started_at_s += 10 * windows
        return self.started_at_s

    def _measured(self, leave_out: tuple[int, ...]) -> Iterator[tuple[AgentCaller, dict[int, Raw]]]:
        """Yield what each agent measures of its peers in a window."""
        keys = [agent.vm_key for agent in self.world.agents]
        for number, agent in enumerate(self.world.agents):
            if number in leave_out:
                continue
            peers: dict[int, Raw] = {}
            for other, key in enumerate(keys):
                measured = frozenset((number, other)) not in self.unmeasured
                if other != number and measured and is_client(agent.vm_key, key):
                    peers[key] = simple(
                        self.slow.get((number, other), QUIET_NS),
                        self.slow.get((other, number), QUIET_NS),
                        lost=8 if frozenset((number, other)) in self.lossy else 0,
                    )
            yield agent, peers

    def evaluate(self, ended_at_s: int, at: datetime | None = None) -> Any:
        """Evaluate a due window as the worker does, now or at another time."""
        with tenant_session(self.owner.tenant_id) as session:
            rules.create_default_rules(session, self.world.id)
            return evaluator.evaluate(session, self.world.id, ended_at_s, at or datetime.now(UTC))

    def make_late(self) -> None:
        """Report a window that has waited for its evaluation for thirteen minutes."""
        self.report()
        hung = "UPDATE alert_states SET looked_at = now() - interval '13 minutes', reported_until = evaluated_until"
        execute(f"{hung} WHERE mesh_id = :mesh", {"mesh": self.world.id})

    def window(self, slow: Slow | None = None, **options: Any) -> Any:
        """Report and evaluate a window."""
        return self.evaluate(self.report(slow=slow, **options))

    def windows(self, count: int, slow: Slow | None = None) -> Any:
        """Report windows, and evaluate them one after the other; return the result of the last."""
        ended_at_s = self.report(count, slow=slow)
        return [self.evaluate(ended_at_s - 10 * back) for back in reversed(range(count))][-1]

    def calm(self, still_slow: Slow | None = None) -> None:
        """Report windows until incidents about other paths have ended: after 20 s without them, not 180.

        `test_slow_egress_is_one_incident_until_it_ends` waits for all; most of the time of a test would pass with it.
        """
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tracking, "SETTLED_S", 20)
            self.windows(11, still_slow or {})

    def rules(self) -> list[dict[str, Any]]:
        """Return the enabled rules."""
        rows = self.owner.get("/v1/alert-rules", params={"mesh_id": str(self.world.id)}).json()["items"]
        return [rule for rule in rows if rule["enabled"]]

    def add_rule(self, name: str, condition: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Create a rule of the mesh."""
        body = {"mesh_id": str(self.world.id), "name": name, "condition": condition, **fields}
        return self.owner.created("/v1/alert-rules", body)

    def preview(self, source: int, target: int, condition: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Preview a rule on a path between two VMs by their numbers; return the result or the problem."""
        ends = {f"{end}_id": str(self.world.agents[vm].vm_id) for end, vm in (("source", source), ("target", target))}
        body = {"mesh_id": str(self.world.id), "name": "preview", "condition": condition, **ends, **fields}
        return self.owner.post("/v1/alert-rule-previews", json=body).json()

    def add_application(self, name: str, *vms: str, **fields: Any) -> dict[str, Any]:
        """Create an application whose first task, on the first VM, is the root."""
        tasks = [{"vm": vm, "root": at == 0} for at, vm in enumerate(vms)]
        body = {"name": name, "mesh": self.world.name, "curve": "memcached-server", "tasks": tasks, **fields}
        return self.owner.created("/v1/applications", body)

    def incident(self) -> dict[str, Any]:
        """Return the only incident, with all of its details."""
        (found,) = self.incidents()
        return self.whole(found)

    def whole(self, incident: dict[str, Any]) -> dict[str, Any]:
        """Return an incident of the list with all of its details."""
        return self.owner.get(f"/v1/incidents/{incident['id']}").json()

    def incidents(self, **params: Any) -> list[dict[str, Any]]:
        """Return the incidents of the list."""
        return self.owner.get("/v1/incidents", params=params).json()["items"]


@pytest.fixture
def watched(owner: Member, make_mesh: MakeMesh) -> Watched:
    """Six VMs in three zones under one rule: above 1 ms in two of three windows."""
    return watch(owner, make_mesh(owner, 6))


def watch(owner: Member, world: MeshWorld) -> Watched:
    """Put a mesh under one rule: above 1 ms in two of three windows."""
    evaluator.forget()
    mesh = Watched(world)
    # Through the API, to switch off the seventeen default rules takes as long as many a test.
    call(rules.create_default_rules, world.id, tenant=owner.tenant_id)
    execute(update(AlertRule).where(AlertRule.mesh_id == world.id).values(enabled=False))
    condition = {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50", "above": 1_000_000}
    mesh.add_rule("Above a millisecond", condition, runbook_url="https://runbooks.example/slow")
    return mesh


SLOW_NS = 5_000_000


def silence_of(label: str, value: str, comment: str = "known") -> dict[str, Any]:
    """Return the body of a silence that does not end."""
    matchers = [{"label": label, "value": value}]
    return {"comment": comment, "matchers": matchers, "ends_at": "2099-01-01T00:00:00Z"}


def egress(watched: Watched, vm: int) -> Slow:
    return {(vm, other): SLOW_NS for other in range(len(watched.world.agents)) if other != vm}


def later(watched: Watched, pause: timedelta) -> None:
    """Let the end of all incidents, and its notice, be that much longer ago."""
    with tenant_session(watched.owner.tenant_id) as session:
        for row in session.scalars(select(Incident)).all():
            row.first_onset_at -= pause
            row.seen_at -= pause
            row.onset_at -= pause
            row.opened_at -= pause
            row.episodes = [[at_s - round(pause.total_seconds()) for at_s in episode] for episode in row.episodes]
            if row.ended_at is not None:
                row.ended_at -= pause
            if row.end_notice_at is not None:
                row.end_notice_at -= pause


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    yield from serve(Hooks())


@pytest.fixture
def local(set_to: SetTo, mail_settings: None) -> None:
    """Settings with local receivers, a secret key and a mail server."""
    set_to(receiver_networks="127.0.0.0/8")
