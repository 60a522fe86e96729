"""Replay of stored windows through evaluation, for back-tests and late data."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from sqlalchemy.orm import Session

from sinemora.alerts.detection import evaluation_input, seasons
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.rule import Rule
from sinemora.alerts.evaluation.tracking import IncidentChange, Track, Transition, advance
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store.tiers import Tier, TierRange

Complete = Callable[[EvaluationWindow], EvaluationWindow]
"""Adds silent agents and applications below their objective to a window of frames."""


@dataclass(frozen=True, slots=True)
class ReplaySpan:
    """Windows, or steps of a tier, that end from `first_s` to `last_s` (Unix s), one every `step_s`."""

    tier: Tier
    first_s: int
    last_s: int
    step_s: int


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One window and its changes; `tracks`: incidents so far by id, without those merged into others."""

    window: EvaluationWindow
    changes: list[IncidentChange]
    tracks: dict[str, Track]


def replay(
    session: Session,
    mesh: MeshState,
    rules: Sequence[Rule],
    state: EvaluationState,
    span: ReplaySpan,
    complete: Complete,
) -> Iterator[ReplayStep]:
    """Evaluate windows in order; updates `state`, baselines learn from each window."""
    tracks: dict[str, Track] = {}
    hours = seasons.new_cache()
    for ended_at_s in range(span.first_s, span.last_s + 1, span.step_s):
        usual = seasons.seasons_of(session, mesh, rules, ended_at_s, hours)
        tier_range = TierRange(span.tier, utc(ended_at_s - span.step_s), utc(ended_at_s))
        pairs = evaluation_input.pairs_of(session, mesh, tier_range)
        window = complete(evaluation_input.window_of(mesh, pairs, ended_at_s, span.step_s, usual))
        evaluation = step(state, rules, window)
        ids = [str(uuid4()) for _ in evaluation.detections]
        changes = advance(list(tracks.values()), evaluation.detections, window.zone_of, ended_at_s, span.step_s, ids)
        for change in changes:
            tracks[change.track.id] = change.track
            if change.transition is Transition.MERGED:
                del tracks[change.track.id]
        yield ReplayStep(window, changes, tracks)


def in_steps(rule: Rule, windows: float) -> Rule:
    """Return the rule for steps of several windows: M of N over about the same time, at least 1 of 1."""
    x, y = (max(1, -int(-one // windows)) for one in (rule.x, rule.y))
    return replace(rule, x=x, y=y)
