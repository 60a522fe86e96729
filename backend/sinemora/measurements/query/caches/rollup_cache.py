"""Cache of merged parts of ranges: a range that moves shares most parts with the query before.

A part is cached with the version of its rows (their number and the time of their merge) and with the corrections of its
delays. Every query checks both, so late windows are never missed. Results are equal with and without the cache.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from sinemora.measurements.aggregate import merge
from sinemora.measurements.aggregate.merge import Piece
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.store import corrections, frames
from sinemora.measurements.store.frames import RowVersion
from sinemora.measurements.store.tiers import Tier, TierRange, parts_of

# With more pairs, or more reported windows, the parts do not fit into memory together.
_PAIRS_MAX = 1 << 16
_REPORTED_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class _Entry:
    """Merged part with the version of its source."""

    version: RowVersion
    corrected_by: tuple[tuple[int, int], ...]
    piece: Piece


def pieces(
    session: Session,
    mesh_key: int,
    tier_ranges: Sequence[TierRange],
    *,
    directions: Collection[int],
    zones: bool = False,
    budget: ReadBudget,
) -> list[Piece] | None:
    """Return the merged pairs of these tier ranges, with sketches of `directions`, if any.

    None when they do not fit into memory together: the caller then reads client by client. Frames of `zones` exist only
    in merged tiers, with corrected delays. ProductError `range_too_large`.
    """
    parts = [part for tier_range in tier_ranges for part in parts_of(tier_range)]
    versions = frames.versions(session, mesh_key, parts, zones=zones)
    budget.check(sum(version.rows for version in versions))
    if not zones and any(_too_many(part, version) for part, version in zip(parts, versions, strict=True)):
        return None
    sorted_directions = tuple(sorted(directions))
    applied: list[tuple[tuple[int, int], ...]] = [()] * len(parts)
    if not zones:
        applied = corrections.spans_at(session, mesh_key, [_starts(part) for part in parts])
    merged = []
    for number, (part, version, corrected_by) in enumerate(zip(parts, versions, applied, strict=True)):
        if version.rows:
            key = (session.info["tenant_key"], mesh_key, zones, part, sorted_directions)
            cached: _Entry | None = shared_cache().get(key)
            if cached is None or (cached.version, cached.corrected_by) != (version, corrected_by):
                cached = _Entry(version, corrected_by, _merged(session, mesh_key, part, sorted_directions, zones))
                if part.tier is not Tier.RAW:
                    shared_cache().put(key, cached, cached.piece.nbytes)
            merged.append(cached.piece)
        budget.report((number + 1) / len(parts))
    return merged


def _merged(session: Session, mesh_key: int, part: TierRange, directions: tuple[int, ...], zones: bool) -> Piece:
    words = bool(directions)
    if zones:
        chunks, known = frames.zone_frames(session, mesh_key, part, sketches=words, by_source=True), []
    else:
        chunks = frames.frames(session, mesh_key, [part], sketches=words, by_client=True)
        known = (
            corrections.in_range(session, mesh_key, part.start, part.end)
            if part.tier is Tier.RAW
            else corrections.at_starts(session, mesh_key, _starts(part))
        )
    return merge.joined(merge.by_client(chunks, known, directions, words_too=words))


def _starts(part: TierRange) -> list[int]:
    """Return the starts of the steps of a part, Unix s; none for reported windows, which are not cached."""
    if part.tier is Tier.RAW:
        return []
    return list(range(int(part.start.timestamp()), int(part.end.timestamp()), part.tier.step_s))


def _too_many(part: TierRange, version: RowVersion) -> bool:
    if part.tier is Tier.RAW:
        return version.targets > _REPORTED_MAX
    steps = (part.end - part.start).total_seconds() / part.tier.step_s
    return version.targets > _PAIRS_MAX * steps
