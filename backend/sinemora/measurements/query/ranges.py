"""Time ranges of queries: validation, choice of tiers, and reading of frames."""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from sinemora.kit.errors import ProductError
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.store import frames
from sinemora.measurements.store.retention import kept_from_of, with_pins
from sinemora.measurements.store.tiers import ROLLED, Tier, TierRange, cover

# Shorter ranges are merged from windows, longer ones from minutes and unmerged windows.
_RAW_RANGE = timedelta(minutes=5)
# Valid years, so that arithmetic on times never leaves the calendar.
YEARS = range(1970, 2200)


def check_range(start: datetime, end: datetime) -> None:
    """Check that `start` is before `end` and both are valid times. ProductError `range_invalid`."""
    check_time(start)
    check_time(end)
    if start >= end:
        raise ProductError("range_invalid", 422, "Invalid range: `from` must be before `to`.")


def check_ends(start: datetime | None, end: datetime | None) -> None:
    """Check that both ends of a range are set, or neither. ProductError `range_invalid`."""
    if (start is None) != (end is None):
        raise ProductError("range_invalid", 422, "Invalid range: set both `from` and `to`, or neither.")


def check_time(at: datetime) -> None:
    """Check that a time has a time zone and is in `YEARS`. ProductError `range_invalid`."""
    if at.tzinfo is None:
        raise ProductError("range_invalid", 422, "Invalid time: it needs a time zone, as in 2026-11-20T10:00:00Z.")
    if at.year not in YEARS:
        raise ProductError("range_invalid", 422, f"Invalid time: the year must be {YEARS.start} to {YEARS.stop - 1}.")


def tiers(
    session: Session, mesh_key: int, start: datetime, end: datetime, usable: Sequence[Tier] = ROLLED
) -> tuple[datetime, datetime, list[TierRange]]:
    """Return a range extended to whole steps, and the tiers that it is read from. Unmerged steps are raw."""
    kept_from = kept_from_of(datetime.now(UTC))
    if start < kept_from[Tier.RAW]:
        kept_from = with_pins(kept_from, frames.pins_over(session, mesh_key, start, end))
    if end - start < _RAW_RANGE and start >= kept_from[Tier.RAW]:
        return start, end, [TierRange(Tier.RAW, start, end)]
    return cover(start, end, frames.rolled_until(session, mesh_key), kept_from, usable)


def read_frames(
    session: Session,
    mesh_key: int,
    parts: Sequence[TierRange],
    *,
    sketches: bool,
    vm_keys: Collection[int] | None,
    budget: ReadBudget,
    by_client: bool = False,
    by_time: bool = False,
) -> Iterator[list[StoredFrame]]:
    """Yield the frames of tier ranges in chunks, in the orders of `store.frames`, and report progress to the budget.

    ProductError `range_too_large`.
    """
    total = sum(frames.count_frames(session, mesh_key, part, vm_keys) for part in parts)
    budget.check(total)
    read = 0
    for group in [list(parts)] if by_client else [[part] for part in parts]:
        for chunk in frames.frames(
            session, mesh_key, group, sketches=sketches, vm_keys=vm_keys, by_client=by_client, by_time=by_time
        ):
            yield chunk
            read += len(chunk)
            budget.report(read / max(total, 1))


def utc(at_s: int) -> datetime:
    """Convert Unix seconds to a time."""
    return datetime.fromtimestamp(at_s, UTC)
