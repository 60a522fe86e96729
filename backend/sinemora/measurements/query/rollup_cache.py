"""Merged stretches, remembered: a range that moves is mostly made of what was merged for the question before.

A stretch is remembered with the version of its rows, which is how many there are and when they were merged, and with
the corrections its delays were read with. Both are asked anew for every question, so windows that come late are never
missed. A range is merged from the same stretches whether they are remembered or not: this is about speed alone.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from sinemora.measurements.aggregate import merge
from sinemora.measurements.aggregate.merge import Piece
from sinemora.measurements.query.budget import Budget
from sinemora.measurements.query.shared_cache import shared_cache
from sinemora.measurements.store import corrections, frames
from sinemora.measurements.store.frames import RowVersion
from sinemora.measurements.store.tiers import Tier, TierRange, parts_of

# Of more pairs than these, or of more reported windows, pieces are too large to be held side by side.
_PAIRS_MAX = 1 << 16
_REPORTED_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class _Entry:
    """A merged stretch, and what it was merged from."""

    version: RowVersion
    corrected_by: tuple[tuple[int, int], ...]
    piece: Piece


def pieces(
    session: Session,
    mesh_key: int,
    stretches: Sequence[TierRange],
    *,
    directions: Collection[int],
    zones: bool = False,
    budget: Budget,
) -> list[Piece] | None:
    """Return the pairs of these stretches, each of one or more merged; with sketches of `directions`, if any.

    None when they are too many to be held together: they are then read client by client. Of frames between `zones`
    there are none as reported, and their delays are corrected already. ProductError `range_too_large`.
    """
    parts = [part for stretch in stretches for part in parts_of(stretch)]
    versions = frames.versions(session, mesh_key, parts, zones=zones)
    budget.check(sum(version.rows for version in versions))
    if not zones and any(_too_many(part, version) for part, version in zip(parts, versions, strict=True)):
        return None
    wanted = tuple(sorted(directions))
    applied: list[tuple[tuple[int, int], ...]] = [()] * len(parts)
    if not zones:
        applied = corrections.spans_at(session, mesh_key, [_starts(part) for part in parts])
    found = []
    for number, (part, version, by) in enumerate(zip(parts, versions, applied, strict=True)):
        if version.rows:
            key = (session.info["tenant_key"], mesh_key, zones, part, wanted)
            kept: _Entry | None = shared_cache().get(key)
            if kept is None or (kept.version, kept.corrected_by) != (version, by):
                kept = _Entry(version, by, _merged(session, mesh_key, part, wanted, zones))
                if part.tier is not Tier.RAW:
                    shared_cache().put(key, kept, kept.piece.nbytes)
            found.append(kept.piece)
        budget.report((number + 1) / len(parts))
    return found


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
    """When frames of this part start, Unix s. Windows as reported are never remembered: of them none."""
    if part.tier is Tier.RAW:
        return []
    return list(range(int(part.start.timestamp()), int(part.end.timestamp()), part.tier.step_s))


def _too_many(part: TierRange, version: RowVersion) -> bool:
    if part.tier is Tier.RAW:
        return version.targets > _REPORTED_MAX
    steps = (part.end - part.start).total_seconds() / part.tier.step_s
    return version.targets > _PAIRS_MAX * steps
