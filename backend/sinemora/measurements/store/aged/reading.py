"""Rows of aged ranges, read from object storage by row groups and columns.

Objects never change, so footers and row groups are cached by the id of the object.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import structlog

from sinemora.kit.errors import ProductError
from sinemora.kit.lru_cache import LruCache
from sinemora.kit.object_storage import ObjectMissing, StorageError, installation_storage
from sinemora.measurements.codec import parquet
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.parquet import AgedRows, Fetch, Footer, ParquetError
from sinemora.measurements.store.aged.catalogue import AgedObject

log = structlog.get_logger(__name__)

Record = tuple[Any, ...]
"""Row as the queries of frames select it: source, start (Unix s), window (s), roster, stats, sketch, block."""

_US = 1_000_000
_footers: LruCache[Any, Footer] = LruCache(256)
_groups: LruCache[Any, AgedRows] = LruCache(64 << 20)
_ROW_BYTES = 200
_ROWS_AT_ONCE = 4096


def rows_in(
    objects: Sequence[AgedObject],
    start: datetime,
    end: datetime,
    *,
    sources: Collection[int] | None = None,
    columns: Sequence[str] = (),
) -> AgedRows:
    """Return the rows in [start, end) of these sources (all by default), as they are stored, with further columns.

    ProductError `aged_data_unavailable`.
    """
    parts = [
        part
        for one in objects
        for part in _selected(one, _footer(one).groups(_us(start), _us(end), sources), start, end, sources, columns)
    ]
    return parquet.joined(parts)


def rows_at_most(objects: Sequence[AgedObject], start: datetime, end: datetime, sources: Collection[int] | None) -> int:
    """Return the number of rows of the row groups that [start, end) needs. ProductError `aged_data_unavailable`."""
    footers = [_footer(one) for one in objects]
    return sum(int(one.rows[one.groups(_us(start), _us(end), sources)].sum()) for one in footers)


def by_time(
    objects: Sequence[AgedObject],
    start: datetime,
    end: datetime,
    sources: Collection[int] | None,
    columns: Sequence[str],
) -> Iterator[Record]:
    """Yield the records in [start, end) by time, source and block; a stretch of an object at a time.

    ProductError `aged_data_unavailable`.
    """
    for one in objects:
        footer = _footer(one)
        chosen = footer.groups(_us(start), _us(end), sources)
        for group in _stretches(footer, chosen):
            rows = parquet.joined(_selected(one, group, start, end, sources, columns))
            yield from records(rows.take(np.lexsort((rows.block, rows.source, rows.started_at))))


def by_source(
    parts: Sequence[tuple[Sequence[AgedObject], datetime, datetime]],
    sources: Collection[int] | None,
    columns: Sequence[str],
) -> Iterator[Record]:
    """Yield the records of parts of time by source; some sources at a time. ProductError `aged_data_unavailable`."""
    thin = [rows_in(objects, start, end, sources=sources) for objects, start, end in parts]
    keys, counts = np.unique(
        np.concatenate([one.source for one in thin] or [np.empty(0, np.int64)]), return_counts=True
    )
    batches = np.cumsum(counts) // _ROWS_AT_ONCE
    for batch in np.unique(batches):
        some = keys[batches == batch].tolist()
        rows = parquet.joined(
            [rows_in(objects, start, end, sources=some, columns=columns) for objects, start, end in parts]
        )
        yield from records(rows.take(np.argsort(rows.source, kind="stable")))


def records(rows: AgedRows) -> Iterator[Record]:
    """Yield rows as the queries of frames return them; blocks of bytes that were not read are empty."""
    nothing = [b""] * rows.count
    return zip(
        rows.source.tolist(),
        (rows.started_at // _US).tolist(),
        rows.window_s.tolist(),
        rows.roster_key.tolist(),
        rows.stats or nothing,
        rows.sketches or nothing,
        rows.block.tolist(),
        strict=True,
    )


def steps_s(rows: AgedRows) -> Ints:
    """Return the starts of rows, Unix s."""
    return rows.started_at // _US


def _selected(
    one: AgedObject,
    groups: Sequence[int],
    start: datetime,
    end: datetime,
    sources: Collection[int] | None,
    columns: Sequence[str],
) -> list[AgedRows]:
    """Return the rows of some row groups that are in [start, end) and of these sources."""
    parts = []
    for rows in _read(one, groups, tuple(columns)):
        chosen = (rows.started_at >= _us(start)) & (rows.started_at < _us(end))
        if sources is not None:
            chosen &= np.isin(rows.source, list(sources))
        parts.append(rows if chosen.all() else rows.take(np.flatnonzero(chosen)))
    return parts


def _read(one: AgedObject, groups: Sequence[int], columns: tuple[str, ...]) -> list[AgedRows]:
    found = {group: rows for group in groups if (rows := _groups.get((one.id, group, columns))) is not None}
    missing = [group for group in groups if group not in found]
    if missing:
        footer = _footer(one)
        for group, rows in zip(
            missing, _answered(one, lambda fetch: parquet.read_groups(fetch, footer, missing, columns)), strict=True
        ):
            found[group] = rows
            _groups.put((one.id, group, columns), rows, rows.payload_bytes + _ROW_BYTES * rows.count)
    return [found[group] for group in groups]


def _footer(one: AgedObject) -> Footer:
    footer = _footers.get(one.id)
    if footer is None:
        footer = _answered(one, lambda fetch: parquet.read_footer(fetch, one.size_bytes))
        _footers.put(one.id, footer)
    return footer


def _answered(one: AgedObject, read: Any) -> Any:
    """Return what `read` makes of the object. ProductError `aged_data_unavailable`: a gap is never silent."""

    def fetch(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        return installation_storage().get_ranges(one.object_key, ranges)

    span = f"{one.started_at:%Y-%m-%dT%H:%MZ} to {one.ended_at:%Y-%m-%dT%H:%MZ}"
    try:
        function: Fetch = fetch
        return read(function)
    except ObjectMissing:
        reason = "their object is missing in the object storage; the operator can restore it from a copy"
    except StorageError as error:
        log.warning("object storage does not answer", object=one.object_key, error=str(error))
        reason = "the object storage does not answer; try again later"
    except ParquetError as error:
        log.error("aged object is damaged", object=one.object_key, error=str(error))
        reason = f"their object in the object storage is damaged: {error}"
    raise ProductError(
        "aged_data_unavailable",
        503,
        f"Aged measurements unavailable: {span}, {reason}.",
        headers={"Retry-After": "60"},
        started_at=one.started_at.isoformat(),
        ended_at=one.ended_at.isoformat(),
    ) from None


def _stretches(footer: Footer, groups: Sequence[int]) -> list[list[int]]:
    """Return row groups by stretch of time: those of one overlap in time, those of different ones do not."""
    stretches: list[list[int]] = []
    last = -1
    for group in sorted(groups, key=lambda at: int(footer.at_first[at])):
        if not stretches or footer.at_first[group] > last:
            stretches.append([])
        stretches[-1].append(group)
        last = max(last, int(footer.at_last[group]))
    return stretches


def _us(at: datetime) -> int:
    return round(at.timestamp() * _US)
