"""Input of evaluation: windows from stored frames, silent agents, applications below their objective."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.detection.queries import AgentTimes
from sinemora.alerts.evaluation.baseline import Flags, Floats
from sinemora.alerts.evaluation.breach import Seasons, Values
from sinemora.alerts.evaluation.window import BucketForecast, EvaluationWindow
from sinemora.alerts.incidents.affected import newest
from sinemora.applications import queries as applications
from sinemora.fleet.inventory.status import STOPPED_FOR, AgentStatus, status_of, stopped_since
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import zone_of
from sinemora.kit.config import settings
from sinemora.measurements.aggregate import matrix, merge
from sinemora.measurements.aggregate.fairness import flow_shares
from sinemora.measurements.aggregate.matrix import Cells, CellState, Metric, Pairs, Statistic
from sinemora.measurements.query.axis import keys_of
from sinemora.measurements.store import corrections, frames
from sinemora.measurements.store.tiers import TierRange
from sinemora.measurements.token_buckets import service as token_buckets

# An agent ends its packet loop before it says that it stops, and answers others soon after it has described itself.
_STOPS_WITHIN_S = 5.0
_STARTS_WITHIN_S = 15.0
_AHEAD = timedelta(minutes=1)


def window_of(mesh: MeshState, pairs: Pairs, ended_at_s: int, lasts_s: int, seasons: Seasons) -> EvaluationWindow:
    """Return a window of these pairs, without silent members."""
    cells = cells_of(mesh, pairs)
    silent = np.zeros(len(mesh.members), np.bool_)
    values = values_of(cells)
    # Merged steps of a tier are longer than a window: most paths have one in them, so all count.
    turns = mesh.strategy.rotates and lasts_s == mesh.window_s
    return EvaluationWindow(
        ended_at_s,
        lasts_s,
        keys_of(mesh),
        zone_of(mesh),
        cells.planned,
        values,
        silent,
        seasons=seasons,
        packets=lambda: packets_of(cells),
        active=mesh.active(ended_at_s - lasts_s) if turns else None,
        period=(period := mesh.strategy.period if turns else 1),
        settling=-(-settings().alert_settling_s // (lasts_s * period)),
        flows=cache(lambda: flow_shares(pairs)),
    )


def pairs_of(session: Session, mesh: MeshState, tier_range: TierRange) -> Pairs:
    """Return the pairs of a mesh that were measured in one window, or one step of a tier."""
    stored = [one for chunk in frames.frames(session, mesh.key, [tier_range], sketches=False) for one in chunk]
    shifts = corrections.in_range(session, mesh.key, tier_range.start, tier_range.end)
    pairs, _ = merge.newest(stored, corrections=shifts)
    return pairs


def cells_of(mesh: MeshState, pairs: Pairs) -> Cells:
    """Return the cells of all paths of a mesh from the pairs of one window.

    No path of imported VMs is planned, so that all of them count.
    """
    has_agents = any(member.has_agent for member in mesh.members)
    planned = mesh.planned if has_agents else ~np.eye(len(mesh.members), dtype=np.bool_)
    return matrix.vm_cells(keys_of(mesh), planned, pairs, None, settings().stale_windows)


def values_of(cells: Cells) -> Values:
    """Return a function that computes matrices of cells, each once. Loss is 1 where nothing came back."""
    cache: dict[tuple[Metric, Statistic], Floats] = {}

    def values(metric: Metric, statistic: Statistic) -> Floats:
        matrix_values = cache.get((metric, statistic))
        if matrix_values is None:
            measured = matrix.measure(cells, metric, statistic)
            matrix_values = np.where(measured.valued, measured.values, np.nan).astype(np.float32)
            if metric is Metric.LOSS:
                matrix_values[~measured.valued & (measured.states == CellState.LOST)] = 1.0
            cache[metric, statistic] = matrix_values
        return matrix_values

    return values


def packets_of(cells: Cells) -> tuple[Floats, Floats]:
    """Return packets sent and lost by path, NaN where unknown."""
    sent, lost, known = matrix.packets(cells)
    counts = (np.where(known, count, np.nan).astype(np.float32) for count in (sent, np.minimum(lost, sent)))
    return next(counts), next(counts)


def away(mesh: MeshState, agents: Sequence[AgentTimes], start_s: float, end_s: float) -> Flags:
    """Return the members whose agent was stopped in order during a part of a window, for the time that it may be."""
    keys = set()
    for agent in agents:
        if agent.stopped_at is None:
            continue
        stopped_s = agent.stopped_at.timestamp()
        until_s = stopped_s + STOPPED_FOR.total_seconds()
        if agent.started_at is not None and agent.started_at > agent.stopped_at:
            until_s = min(until_s, agent.started_at.timestamp())
        if stopped_s - _STOPS_WITHIN_S < end_s and start_s < until_s + _STARTS_WITHIN_S:
            keys.add(agent.vm_key)
    return np.array([member.key in keys for member in mesh.members], np.bool_)


def without(window: EvaluationWindow, members: Flags) -> EvaluationWindow:
    """Return a window in which nothing is known of the paths from and to some members."""
    if not members.any():
        return window
    paths = members[:, None] | members[None, :]
    values, packets = window.values, window.packets

    def known_values(metric: Metric, statistic: Statistic) -> Floats:
        return np.where(paths, np.float32(np.nan), values(metric, statistic))

    def known_packets() -> tuple[Floats, Floats]:
        assert packets is not None
        sent, lost = packets()
        return np.where(paths, np.float32(np.nan), sent), np.where(paths, np.float32(np.nan), lost)

    return replace(window, values=known_values, packets=None if packets is None else known_packets)


def silent_members(mesh: MeshState, agents: Sequence[AgentTimes], since: datetime, at: datetime) -> Flags:
    """Return the members whose agent is overdue, given the start of uninterrupted evaluation of the mesh."""
    silent_keys = {
        agent.vm_key
        for agent in agents
        if status_of(
            None,
            # A report in the future: the clock was stepped back, and when it came is not known.
            since if agent.last_report_at > at + _AHEAD else max(agent.last_report_at, since),
            agent.report_every_s,
            at,
            settings().stale_windows,
            stopped_since(agent.stopped_at, agent.started_at),
        )
        is AgentStatus.silent
    }
    return np.array([member.key in silent_keys for member in mesh.members], np.bool_)


def performances(session: Session, mesh: MeshState) -> tuple[dict[str, float], dict[str, float]]:
    """Return by name the predicted performance of each application, and how far each with an objective is below it.

    NaN: unknown.
    """
    predicted, below = {}, {}
    predict = newest(session, mesh.id)
    for application in applications.applications_of(session, mesh.id):
        reached = predict(application)
        mean = None if reached is None else reached.mean()
        predicted[application.name] = float("nan") if mean is None else mean
        if application.objective is not None:
            below[application.name] = application.objective - predicted[application.name]
    return predicted, below


def bucket_forecasts(session: Session, mesh: MeshState, at: datetime) -> dict[int, BucketForecast]:
    """Return the token buckets of the members by key, with their forecasts by the traffic until now."""
    forecasts = {}
    for row in token_buckets.of_mesh(session, mesh.id):
        forecast = token_buckets.forecast_of(session, row, at)
        if forecast is not None:
            forecasts[row.vm.key] = token_buckets.bucket_of(row), forecast
    return forecasts
