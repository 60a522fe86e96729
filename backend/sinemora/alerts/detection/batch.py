"""Input of evaluation of several meshes of a tenant, read at once: a few statements for all of them.

A mesh of ten VMs is evaluated in a few milliseconds. Statements of its own for each kind of input would take longer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.alerts.detection import evaluation_input, queries
from sinemora.alerts.detection.queries import AgentTimes, LateBlock, MeshFacts
from sinemora.alerts.evaluation.breach import Seasons
from sinemora.alerts.evaluation.m_of_n import WINDOWS_MAX
from sinemora.alerts.evaluation.rule import Rule
from sinemora.alerts.evaluation.tracking import REMEMBERED_S
from sinemora.alerts.evaluation.window import EvaluationWindow
from sinemora.alerts.rules.load import rules_of_meshes
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import known_states
from sinemora.measurements.aggregate import merge
from sinemora.measurements.aggregate.corrections import HOLDS_S, Corrections
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.ingest import presence
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store import corrections, frames
from sinemora.measurements.store.frames import MeshFrames

LATE_S = 210
"""Late windows are noticed this long after their end. Later ones are noticed when their minutes are merged."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Windows of a mesh to evaluate: ends (Unix s) ascending; when the mesh was looked at last, None if never."""

    mesh_id: UUID
    ends_s: Sequence[int]
    looked_at_s: float | None


@dataclass(frozen=True, slots=True)
class MeshInput:
    """What evaluation of some windows of a mesh reads.

    `recent`: blocks of earlier windows received around the last look or later. `present_since`: since when agents could
    report, None if unknown.
    """

    mesh: MeshState
    rules: list[Rule]
    frames: MeshFrames
    corrections: list[Corrections]
    recent: list[LateBlock]
    agents: list[AgentTimes]
    facts: MeshFacts
    present_since: datetime | None

    def window(self, ended_at_s: int, seasons: Seasons) -> EvaluationWindow:
        """Return a window from its frames."""
        return self.window_of(self.frames.blocks.get(ended_at_s, []), ended_at_s, seasons)

    def window_of(self, blocks: Sequence[StoredFrame], ended_at_s: int, seasons: Seasons) -> EvaluationWindow:
        """Return a window from some of its frames."""
        start_s = ended_at_s - self.mesh.window_s
        shifts = [
            one for one in self.corrections if one.started_at_s < ended_at_s and one.ended_at_s > start_s - HOLDS_S
        ]
        pairs, _ = merge.newest(blocks, corrections=shifts)
        window = evaluation_input.window_of(self.mesh, pairs, ended_at_s, self.mesh.window_s, seasons)
        return evaluation_input.without(window, evaluation_input.away(self.mesh, self.agents, start_s, ended_at_s))


def late_reach_s(window_s: int) -> int:
    """Return how long after their end late windows of a mesh are noticed, s."""
    return max(LATE_S, WINDOWS_MAX * window_s + 60)


def read(session: Session, wanted: Sequence[Wanted]) -> dict[UUID, MeshInput]:
    """Return the input of meshes by id; those that are gone are omitted."""
    states = known_states(session, [one.mesh_id for one in wanted])
    wanted = [one for one in wanted if one.mesh_id in states]
    if not wanted:
        return {}
    ids = list(states)
    spans, looks = [], []
    for one in wanted:
        mesh = states[one.mesh_id]
        first, last = utc(one.ends_s[0] - mesh.window_s), utc(one.ends_s[-1])
        spans.append((mesh.key, first, last))
        if one.looked_at_s is not None:
            reach = utc(one.ends_s[0] - late_reach_s(mesh.window_s))
            looks.append((mesh.key, reach, first, datetime.fromtimestamp(one.looked_at_s, first.tzinfo)))
    stored = frames.windows_of_meshes(session, spans)
    late: dict[int, list[LateBlock]] = {}
    for block in queries.recent_blocks(session, looks) if looks else ():
        late.setdefault(block.mesh_key, []).append(block)
    # Late windows are corrected as well.
    first = min((look[1] for look in looks), default=min(span[1] for span in spans))
    keys = [mesh.key for mesh in states.values()]
    shifts = corrections.of_meshes(session, session.info["tenant_key"], keys, first, max(span[2] for span in spans))
    rules = rules_of_meshes(session, list(states.values()))
    agents = queries.agent_times(session, ids)
    known = queries.facts(session, ids, utc(min(one.ends_s[0] for one in wanted) - REMEMBERED_S))
    present_since = presence.present_since()
    return {
        mesh.id: MeshInput(
            mesh,
            rules[mesh.id],
            stored[mesh.key],
            shifts[mesh.key],
            late.get(mesh.key, []),
            agents[mesh.id],
            known[mesh.id],
            present_since,
        )
        for mesh in states.values()
        if mesh.id in known
    }
