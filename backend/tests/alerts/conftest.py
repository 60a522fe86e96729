"""A mesh whose agents report window by window; servers for notifications."""

from collections.abc import Callable, Iterator
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
from tests.api_clients import AgentCaller, Member, MeshWorld
from tests.mail_server import serve
from tests.measurements.reports import sent_together, window_start
from tests.measurements.worlds import Raw, simple

QUIET_NS = 200_000


@dataclass
class Watched:
    """An evaluated mesh; `slow` paths (source, target by number) take the ns given, `lossy` pairs lose half of the
    requests, `unmeasured` pairs have no window.
    """

    world: MeshWorld
    slow: dict[tuple[int, int], int] = field(default_factory=dict)
    lossy: set[frozenset[int]] = field(default_factory=set)
    unmeasured: set[frozenset[int]] = field(default_factory=set)
    started_at_s: int = field(default_factory=lambda: window_start(120))

    @property
    def owner(self) -> Member:
        return self.world.owner

    def report(self, windows: int = 1, *, leave_out: tuple[int, ...] = ()) -> int:
        """Report windows from all agents, those of an agent together; return the end of the last (Unix s)."""
        starts = [self.started_at_s + 10 * n for n in range(windows)]
        sent_together(
            self.world.key,
            ((agent, peers, start) for agent, peers in self._measured(leave_out) for start in starts),
        )
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

    def window(self, **options: Any) -> Any:
        """Report and evaluate a window."""
        return self.evaluate(self.report(**options))

    def windows(self, count: int) -> Any:
        """Report windows, and evaluate them one after the other; return the result of the last."""
        ended_at_s = self.report(count)
        return [self.evaluate(ended_at_s - 10 * back) for back in reversed(range(count))][-1]

    def calm(self, still_slow: dict[tuple[int, int], int] | None = None) -> None:
        """Report windows until incidents about other paths have ended: after 20 s without them, not 180.

        `test_slow_egress_is_one_incident_until_it_ends` waits for all; most of the time of a test would pass with it.
        """
        self.slow = still_slow or {}
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tracking, "SETTLED_S", 20)
            self.windows(11)

    def rules(self) -> list[dict[str, Any]]:
        """Return the enabled rules."""
        rows = self.owner.get("/v1/alert-rules", params={"mesh_id": str(self.world.id)}).json()["items"]
        return [rule for rule in rows if rule["enabled"]]

    def incidents(self, **params: Any) -> list[dict[str, Any]]:
        """Return the incidents of the list."""
        incidents: list[dict[str, Any]] = self.owner.get("/v1/incidents", params=params).json()["items"]
        return incidents


@pytest.fixture
def watched(owner: Member, make_mesh: Callable[..., MeshWorld]) -> Watched:
    """Six VMs in three zones under one rule: above 1 ms in two of three windows."""
    return watch(owner, make_mesh(owner, 6))


def watch(owner: Member, world: MeshWorld) -> Watched:
    """Put a mesh under one rule: above 1 ms in two of three windows."""
    evaluator.forget()
    mesh = Watched(world)
    # Through the API, to switch off the seventeen default rules takes as long as many a test.
    with tenant_session(owner.tenant_id) as session:
        rules.create_default_rules(session, world.id)
        session.execute(update(AlertRule).where(AlertRule.mesh_id == world.id).values(enabled=False))
    owner.created(
        "/v1/alert-rules",
        {
            "mesh_id": str(world.id),
            "name": "Above a millisecond",
            "condition": {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50", "above": 1_000_000},
            "runbook_url": "https://runbooks.example/slow",
        },
    )
    return mesh


SLOW_NS = 5_000_000


def egress(watched: Watched, vm: int) -> dict[tuple[int, int], int]:
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
def local(set_to: Callable[..., None], mail_settings: None) -> None:
    """Settings with local receivers, a secret key and a mail server."""
    set_to(receiver_networks="127.0.0.0/8")
