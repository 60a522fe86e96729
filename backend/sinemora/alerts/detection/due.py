"""When a window of a mesh is due for evaluation. Pure; times are Unix s by the clock of the database.

A mesh is evaluated at its own newest reported window, not at the window that the wall clock names. Each agent is waited
for as long as its reports have lately taken to arrive. So reports that are always late cost their lateness, and no rule
sees places that reports could not have filled yet. Only silence of agents is judged by the wall clock.
"""

import math
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

GRACE_S = 3.0
"""Least time after a window's end for agents that have not reported it."""
LATENESS_MAX_S = 120.0
"""Most time that late reports are waited for; what comes later is evaluated as late data."""
ACTIVE_FOR = timedelta(days=1)
"""Meshes without a report for this long are not evaluated."""
STALE_WINDOWS = 3
# The next report may take a little longer than the last one.
_JITTER_S = 1.5
# Time for a report to arrive and to be stored with its batch, when reports are counted as missing.
_SLACK_S = 10.0
_QUANTILE = 0.9
# Agents send again this long after the backend was away.
_RETURNS_WITHIN_S = 60.0
_HALF_LIFE_S = 60.0
# Silence is looked at after this share of the time that it lasts, within these limits.
_SILENCE_SHARE, _SILENCE_MIN_S, _SILENCE_MAX_S = 0.1, 10.0, 300.0


@dataclass(frozen=True, slots=True)
class BlockReports:
    """Blocks of frames whose newest window ends at one time; `received_s`: when the last of them was received."""

    ended_s: int
    count: int
    received_s: float

    @property
    def delay_s(self) -> float:
        """Return how long after the end of their window they were received."""
        return self.received_s - self.ended_s


@dataclass(frozen=True, slots=True)
class MeshReports:
    """What was reported of a mesh and evaluated so far, at the time `at_s`.

    `blocks`: newest windows first. `evaluated_s`: end of the newest evaluated window. `reported_s`: end of the newest
    reported one when the mesh was looked at last, at `looked_at_s`. `lateness_s`: how late reports were expected then.
    `skipped`: windows that were never evaluated.
    """

    tenant_id: UUID
    mesh_id: UUID
    window_s: int
    at_s: float
    blocks: list[BlockReports]
    evaluated_s: int | None = None
    looked_at_s: float = 0.0
    reported_s: int | None = None
    lateness_s: float = 0.0
    skipped: int = 0
    key: int = 0

    @property
    def newest_s(self) -> int:
        """Return the end of the newest reported window. One that ends in the future counts from its end on."""
        return min(self.blocks[0].ended_s, _floor(self.at_s + GRACE_S, self.window_s))

    @property
    def expected(self) -> list[BlockReports]:
        """Return the blocks that are still reported, by when the last report of each was received."""
        oldest_s = self.at_s - STALE_WINDOWS * self.window_s - _SLACK_S
        return [one for one in self.blocks if one.received_s >= oldest_s]


def due_end_s(mesh: MeshReports) -> int | None:
    """Return the end of the newest window that is due, None without one that is not evaluated.

    It is reported, and all agents have reported it or had the time that their reports take.
    """
    newest_s, evaluated_s = mesh.newest_s, _evaluated_s(mesh)
    if evaluated_s is None:
        return newest_s
    if newest_s <= evaluated_s:
        return None
    late_s = lateness_s(mesh)
    due_s = newest_s
    for block in mesh.expected:
        if block.ended_s < due_s:  # windows after its newest one: only once it had its time
            had_time_s = _floor(mesh.at_s - _wait_s(max(block.delay_s, late_s)), mesh.window_s)
            due_s = max(block.ended_s, min(due_s, had_time_s))
    return due_s if due_s > evaluated_s else None


def lateness_s(mesh: MeshReports) -> float:
    """Return how late reports of a mesh arrive: nine of ten by now, or by the last minutes if that was later."""
    blocks = sorted(mesh.expected, key=lambda one: one.delay_s)
    left = _QUANTILE * sum(one.count for one in blocks)
    now_s = 0.0
    for block in blocks:
        now_s, left = block.delay_s, left - block.count
        if left <= 0:
            break
    halved = math.exp2(-max(0.0, mesh.at_s - mesh.looked_at_s) / _HALF_LIFE_S)
    return min(max(now_s, mesh.lateness_s * halved, 0.0), LATENESS_MAX_S)


def silence_is_due(mesh: MeshReports) -> bool:
    """Return whether to look for silent agents of a mesh without new windows."""
    evaluated_s = _evaluated_s(mesh)
    if evaluated_s is None or mesh.newest_s > evaluated_s:
        return False
    looked_s = mesh.at_s - mesh.looked_at_s  # negative: the clock was stepped back
    return not 0 <= looked_s < pause_s(mesh.window_s, mesh.at_s - mesh.newest_s)


def pause_s(window_s: int, silent_s: float) -> float:
    """Return the time between two looks at a mesh without reports for `silent_s`: the longer, the longer it lasts."""
    return max(_SILENCE_MIN_S, window_s, min(_SILENCE_SHARE * silent_s, _SILENCE_MAX_S))


def lag_s(mesh: MeshReports, first_s: int | None = None, away: tuple[float, float] | None = None) -> float:
    """Return the seconds since the first window that is due and not evaluated could have been; 0 if none is due.

    `first_s`: end of the first window of a mesh that was never evaluated. `away`: last time in which no report could be
    stored. Windows of that time are late from their end on, and those of the minute after it are expected.
    """
    evaluated_s, is_due = _evaluated_s(mesh), due_end_s(mesh) is not None
    if evaluated_s is None:
        return max(0.0, mesh.at_s - (first_s or mesh.newest_s) - GRACE_S) if is_due else 0.0
    since_s = evaluated_s + mesh.window_s + _wait_s(lateness_s(mesh))
    left_s, back_s = away or (0.0, 0.0)
    missed = left_s - STALE_WINDOWS * mesh.window_s - _SLACK_S <= since_s < back_s
    if not is_due and not (missed and mesh.at_s < back_s + _RETURNS_WITHIN_S):
        return 0.0
    if mesh.reported_s is not None and not missed:  # after a silence they are due since they came, after the next look
        since_s = max(since_s, mesh.looked_at_s + pause_s(mesh.window_s, mesh.looked_at_s - mesh.reported_s))
    return max(0.0, mesh.at_s - since_s)


def not_ahead(evaluated_s: int | None, window_s: int, at_s: float) -> int | None:
    """Return the end of the newest evaluated window; None for one in the future: the clock was stepped back."""
    return None if evaluated_s is None or evaluated_s > at_s + GRACE_S + window_s else evaluated_s


def _evaluated_s(mesh: MeshReports) -> int | None:
    return not_ahead(mesh.evaluated_s, mesh.window_s, mesh.at_s)


def _wait_s(late_s: float) -> float:
    return max(GRACE_S, min(late_s, LATENESS_MAX_S) + _JITTER_S)


def _floor(at_s: float, window_s: int) -> int:
    return int(at_s // window_s) * window_s
