"""Tiers: the intervals at which frames are stored, and the choice of tiers for a query. Pure.

Reported windows are merged to minutes, minutes to quarters of an hour, those to hours, and hours to days (UTC). Every
tier above the windows also has frames of zones.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

WINDOW_S = 10


class Tier(StrEnum):
    """Tier of frames: as reported or merged. The value is the name of the table. Finest first."""

    RAW = "probe_frames"
    MINUTE = "probe_frames_1m"
    QUARTER = "probe_frames_15m"
    HOUR = "probe_frames_1h"
    DAY = "probe_frames_1d"

    @property
    def table(self) -> str:
        """Return the table of frames of VMs."""
        return self.value

    @property
    def zone_table(self) -> str:
        """Return the table of frames of zones. LookupError for reported windows, which have none."""
        if self is Tier.RAW:
            raise LookupError("reported windows are not merged by zone")
        return self.value.replace("probe", "zone")

    @property
    def step_s(self) -> int:
        """Return the length of one step, s; for windows their usual length."""
        return _STEPS_S[self]

    @property
    def finer(self) -> "Tier":
        """Return the tier that this one is merged from. LookupError for reported windows."""
        at = ROLLED.index(self) if self in ROLLED else -1
        if at < 0:
            raise LookupError("reported windows are not merged from a finer tier")
        return ROLLED[at - 1] if at else Tier.RAW

    @property
    def coarser(self) -> "Tier | None":
        """Return the tier merged from this one, if any."""
        after = (*ROLLED, None)
        return after[0] if self is Tier.RAW else after[ROLLED.index(self) + 1]


ROLLED = (Tier.MINUTE, Tier.QUARTER, Tier.HOUR, Tier.DAY)
_STEPS_S = dict(zip(Tier, (WINDOW_S, 60, 900, 3600, 86_400), strict=True))

_PART_S = 300


class TierRange(NamedTuple):
    """Part of a range and its tier: frames that began in [start, end)."""

    tier: Tier
    start: datetime
    end: datetime

    @property
    def is_step(self) -> bool:
        """Return whether this is a single step of a merged tier."""
        return self.tier is not Tier.RAW and (self.end - self.start).total_seconds() == self.tier.step_s


def parts_of(part: TierRange) -> list[TierRange]:
    """Cut a tier range so that most parts stay equal when the range moves.

    Minutes are cut at multiples of five, the rest into single minutes. Reported windows and longer steps stay whole.
    """
    if part.tier is not Tier.MINUTE:
        return [part]
    parts, at = [], part.start
    while at < part.end:
        after = at + timedelta(seconds=_PART_S)
        if floor(at, _PART_S) != at or after > part.end:
            after = at + timedelta(seconds=Tier.MINUTE.step_s)
        parts.append(TierRange(Tier.MINUTE, at, after))
        at = after
    return parts


def choose(started_at: datetime, ended_at: datetime, points_max: int, window_s: int = WINDOW_S) -> Tier:
    """Return the finest tier that covers a range in at most `points_max` steps; days when none does."""
    span_s = (ended_at - started_at).total_seconds()
    for tier in Tier:
        if span_s <= points_max * (window_s if tier is Tier.RAW else tier.step_s):
            return tier
    return Tier.DAY


def floor(at: datetime, step_s: int) -> datetime:
    """Return the last whole step at or before a time; `step_s` divides a day."""
    return datetime.fromtimestamp(int(at.timestamp() // step_s) * step_s, UTC)


def ceil(at: datetime, step_s: int) -> datetime:
    """Return the first whole step at or after a time; `step_s` divides a day."""
    before = floor(at, step_s)
    return before if before == at else before + timedelta(seconds=step_s)


def cover(
    start: datetime,
    end: datetime,
    rolled_until: Mapping[Tier, datetime],
    kept_from: Mapping[Tier, datetime],
    usable: Sequence[Tier] = ROLLED,
) -> tuple[datetime, datetime, list[TierRange]]:
    """Return the readable range and its tier ranges: the coarsest steps inside, finer ones at its ends.

    `rolled_until` is the end of the merged frames of a tier (a tier without any is not used), `kept_from` their start.
    The range grows to whole steps of the finest tier that reaches back to its start, at least minutes. Unmerged steps
    are read as reported windows.
    """
    reaching = [tier for tier in usable if kept_from.get(tier, start) <= start] or [usable[-1]]
    start = floor(start, reaching[0].step_s)
    end = ceil(end, Tier.MINUTE.step_s)
    return start, end, _cover(start, end, list(reversed(usable)), rolled_until)


def _cover(start: datetime, end: datetime, tiers: Sequence[Tier], until: Mapping[Tier, datetime]) -> list[TierRange]:
    if start >= end:
        return []
    if not tiers:
        return [TierRange(Tier.RAW, start, end)]
    coarsest, finer = tiers[0], tiers[1:]
    if coarsest not in until:
        return _cover(start, end, finer, until)
    first = ceil(start, coarsest.step_s)
    last = min(floor(end, coarsest.step_s), until[coarsest])
    if first >= last:
        return _cover(start, end, finer, until)
    return [
        *_cover(start, first, finer, until),
        TierRange(coarsest, first, last),
        *_cover(last, end, finer, until),
    ]
