"""Since when paths or zone pairs have been unusual, and their last hour, from stored steps.

The last hour is read as minutes, and as windows where they are not merged yet; the 23 hours before it as quarters of an
hour, and only for pairs that were unusual all that hour. The steps around an onset are then read again in finer tiers.
A return to the usual delay that is shorter than a quarter of an hour and more than an hour ago is not seen.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.lru_cache import LruCache
from sinemora.measurements.aggregate import corrections as clock_corrections
from sinemora.measurements.aggregate.runs import DeadBand, StoredStep, UnusualRun, last_run, replaced
from sinemora.measurements.codec import llq16, unpacking
from sinemora.measurements.codec.frame import INBOUND, OUTBOUND
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.schemas import By
from sinemora.measurements.store import corrections
from sinemora.measurements.store import frames as frame_queries
from sinemora.measurements.store.pair_frames import PairStep, pair_frames
from sinemora.measurements.store.tiers import Tier, floor

_HOUR, _DAY = timedelta(hours=1), timedelta(hours=24)
_P50 = 0
# Windows of a minute arrive until then; a step that ended earlier is kept in memory.
_SETTLED_S = 60
_steps: LruCache[tuple[int, int, bool, Tier, PairStep], int] = LruCache(100_000, max_age_s=900)


@dataclass(frozen=True, slots=True)
class PairNow:
    """Path or zone pair by the keys of its ends, its dead band, and its newest step, which is unusual."""

    source: int
    target: int
    band: DeadBand
    now: StoredStep


@dataclass(frozen=True, slots=True)
class UnusualHistory:
    """Start of the run of unusual steps (Unix s), which is longer if not `is_onset_known`, and the last hour."""

    onset_at_s: int
    is_onset_known: bool
    last_hour: tuple[StoredStep, ...]


def histories(session: Session, mesh: MeshState, by: By, pairs: Sequence[PairNow]) -> list[UnusualHistory]:
    if not pairs:
        return []
    reader = _Reader(session, mesh, by, max(pair.now.ended_at_s for pair in pairs))
    last_hours = reader.read([(pair, reader.last_hour) for pair in pairs])
    known = [_ending(steps, pair.now) for pair, steps in zip(pairs, last_hours, strict=True)]
    sequences = list(known)
    runs = [_run(steps, pair) for pair, steps in zip(pairs, sequences, strict=True)]
    longer = [at for at, run in enumerate(runs) if run.before is None]
    for at, steps in zip(longer, reader.read([(pairs[at], reader.before) for at in longer]), strict=True):
        sequences[at] = [*steps, *sequences[at]]
    for finer in reader.finer_tiers:
        runs = [_run(steps, pair) for pair, steps in zip(pairs, sequences, strict=True)]
        slots = [reader.around(steps, run, finer) for steps, run in zip(sequences, runs, strict=True)]
        for at, steps in enumerate(reader.read(list(zip(pairs, slots, strict=True)))):
            sequences[at] = _ending(replaced(sequences[at], steps), pairs[at].now)
    return [
        _history(_run(steps, pair), steps, tuple(hour))
        for pair, steps, hour in zip(pairs, sequences, known, strict=True)
    ]


def _run(steps: Sequence[StoredStep], pair: PairNow) -> UnusualRun:
    run = last_run(steps, pair.band)
    assert run is not None, "the newest step is unusual"
    return run


def _history(run: UnusualRun, steps: Sequence[StoredStep], last_hour: tuple[StoredStep, ...]) -> UnusualHistory:
    return UnusualHistory(steps[run.first].started_at_s, run.before is not None, last_hour)


def _ending(steps: Sequence[StoredStep], now: StoredStep) -> list[StoredStep]:
    """Return the steps up to the newest window, which comes last."""
    return [*(step for step in steps if step.started_at_s < now.started_at_s), now]


@dataclass(frozen=True, slots=True)
class _Slot:
    """Step of a tier, by its start and end (Unix s)."""

    tier: Tier
    started_at_s: int
    ended_at_s: int


class _Reader:
    """Reads steps of pairs of a mesh that end with a window which ended at `until_s`."""

    def __init__(self, session: Session, mesh: MeshState, by: By, until_s: int) -> None:
        self._session, self._mesh, self._is_zone = session, mesh, by is By.ZONE
        # Zones have no frames of windows.
        self.finer_tiers = (Tier.MINUTE,) if self._is_zone else (Tier.MINUTE, Tier.RAW)
        until = utc(until_s)
        start = floor(until - _HOUR, Tier.QUARTER.step_s)
        merged = frame_queries.rolled_until(session, mesh.key).get(Tier.MINUTE, start)
        merged = min(max(merged, start), floor(until, Tier.MINUTE.step_s))
        self.last_hour = self._slots(Tier.MINUTE, start, merged)
        if not self._is_zone:
            self.last_hour += self._slots(Tier.RAW, merged, until)
        self.before = self._slots(Tier.QUARTER, floor(until - _DAY, Tier.QUARTER.step_s), start)

    def _step_s(self, tier: Tier) -> int:
        return self._mesh.window_s if tier is Tier.RAW else tier.step_s

    def _slots(self, tier: Tier, start: datetime, end: datetime) -> list[_Slot]:
        """Return all steps of a tier that start in a range."""
        step_s = self._step_s(tier)
        starts = range(round(start.timestamp()), round(end.timestamp()), step_s)
        return [_Slot(tier, at, at + step_s) for at in starts]

    def around(self, steps: Sequence[StoredStep], run: UnusualRun, tier: Tier) -> list[_Slot]:
        """Return the steps of a finer tier in the first step of a run and in the usual step before it."""
        slots: list[_Slot] = []
        for at in (run.before, run.first):
            if at is None:
                continue
            step = steps[at]
            if step.ended_at_s - step.started_at_s > self._step_s(tier):
                slots += self._slots(tier, utc(step.started_at_s), utc(step.ended_at_s))
        return slots

    def read(self, wanted: Sequence[tuple[PairNow, Sequence[_Slot]]]) -> list[list[StoredStep]]:
        """Return the steps of each pair; those that are not stored have no delay."""
        asked: dict[Tier, set[PairStep]] = {}
        for pair, slots in wanted:
            for slot in slots:
                asked.setdefault(slot.tier, set()).add(PairStep(slot.started_at_s, pair.source, pair.target))
        found = {tier: self._delays(tier, steps) for tier, steps in asked.items()}
        return [
            [
                StoredStep(
                    slot.started_at_s,
                    slot.ended_at_s,
                    found[slot.tier].get(PairStep(slot.started_at_s, pair.source, pair.target)),
                )
                for slot in slots
            ]
            for pair, slots in wanted
        ]

    def _delays(self, tier: Tier, wanted: set[PairStep]) -> dict[PairStep, int]:
        """Return the one-way p50 (ns) of the steps that have one, from the cache where they are in it."""
        mesh = (self._session.info["tenant_key"], self._mesh.key, self._is_zone, tier)
        delays = {step: delay for step in wanted if (delay := _steps.get((*mesh, step))) is not None}
        read = self._stored(tier, sorted(wanted - delays.keys()))
        settled_s = time.time() - _SETTLED_S
        for step, delay in read.items():
            if step.started_at_s + tier.step_s < settled_s:
                _steps.put((*mesh, step), delay)
        return delays | read

    def _stored(self, tier: Tier, wanted: Sequence[PairStep]) -> dict[PairStep, int]:
        found = pair_frames(self._session, self._mesh.key, tier, wanted, zones=self._is_zone)
        if not found:
            return {}
        stored = [path for _, path in found]
        stats = unpacking.stats_at([path.stats for path in stored], np.array([path.at for path in stored], np.int64))
        if not self._is_zone:  # frames of zones are merged from corrected delays
            starts = [path.started_at_s for path in stored]
            clients, targets = (
                np.array([pick(step, path.forward) for step, path in found], np.int64) for pick in (_client, _server)
            )
            shifts = corrections.at_starts(self._session, self._mesh.key, set(starts))
            stats = clock_corrections.corrected(
                stats, clock_corrections.shifting(shifts, starts, [1] * len(starts), clients, targets)
            )
        directions = np.where([path.forward for path in stored], OUTBOUND, INBOUND)
        codes = stats.quantiles[_P50, directions, np.arange(len(stored))].astype(np.int64)
        delays = llq16.values_of(np.maximum(codes - 1, 0))
        rows = zip(found, codes.tolist(), delays.tolist(), strict=True)
        return {step: int(delay) for (step, _), code, delay in rows if code > 0}


def _client(step: PairStep, forward: bool) -> int:
    return step.source if forward else step.target


def _server(step: PairStep, forward: bool) -> int:
    return step.target if forward else step.source
