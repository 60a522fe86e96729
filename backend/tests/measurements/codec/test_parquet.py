"""Frames as a Parquet object: every row comes back, and a query reads few row groups."""

from collections.abc import Sequence

import numpy as np
import pytest

from sinemora.measurements.codec import parquet
from sinemora.measurements.codec.parquet import NUMBERS, SKETCH, STATS, AgedRows, ParquetError

_US = 1_000_000


def rows(sources: int, steps: int, blob_bytes: int) -> AgedRows:
    rng = np.random.default_rng(sources)
    return parquet.rows_of(
        [
            (source, step * 60 * _US, 0, 60, 7, 5, 6, step * 60 * _US + 61_500_000, rng.bytes(9), rng.bytes(blob_bytes))
            for step in range(steps)
            for source in range(1, sources + 1)
        ]
    )


class Storage:
    """An object, and the bytes that were fetched of it."""

    def __init__(self, content: bytes) -> None:
        self.content, self.fetched = content, 0

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        self.fetched += sum(end - start for start, end in ranges)
        return [self.content[start:end] for start, end in ranges]


@pytest.mark.parametrize(("sources", "steps", "blob_bytes"), [(1, 1, 0), (3, 5, 10), (40, 200, 300), (2, 90, 30_000)])
def test_every_row_comes_back(sources: int, steps: int, blob_bytes: int):
    written = rows(sources, steps, blob_bytes)
    storage = Storage(parquet.write(written, 60, {"tier": "probe_frames_1m"}))
    footer = parquet.read_footer(storage.fetch, len(storage.content))
    found = parquet.joined(parquet.read_groups(storage.fetch, footer, range(footer.rows.size), (STATS, SKETCH)))
    found = found.take(np.lexsort((found.source, found.started_at)))
    assert all(np.array_equal(getattr(found, name), getattr(written, name)) for name in NUMBERS)
    assert (found.stats, found.sketches) == (written.stats, written.sketches)


def test_a_query_of_some_sources_or_of_some_time_reads_a_part():
    storage = Storage(parquet.write(rows(100, 240, 2_000), 60, {}))
    footer = parquet.read_footer(storage.fetch, len(storage.content))
    hour = 3600 * _US
    for start, end, sources, share in (
        (0, 4 * hour, {50}, 0.1),
        (hour, hour + 60 * _US, None, 0.3),
        (0, 1, {50}, 0.05),
    ):
        storage.fetched = 0
        groups = footer.groups(start, end, sources)
        found = parquet.joined(parquet.read_groups(storage.fetch, footer, groups, (STATS, SKETCH)))
        assert storage.fetched < share * len(storage.content)
        chosen = (found.started_at >= start) & (found.started_at < end)
        chosen &= np.isin(found.source, list(sources or found.source))
        assert chosen.sum() == -(-(end - start) // (60 * _US)) * (1 if sources else 100)


def test_numbers_alone_are_read_without_the_blocks():
    storage = Storage(parquet.write(rows(100, 240, 2_000), 60, {}))
    footer = parquet.read_footer(storage.fetch, len(storage.content))
    parquet.read_groups(storage.fetch, footer, range(footer.rows.size), ())
    assert storage.fetched < 0.05 * len(storage.content)


@pytest.mark.parametrize("damage", ["short", "page", "footer"])
def test_a_damaged_object_is_refused(damage: str):
    content = parquet.write(rows(20, 100, 500), 60, {})
    changed = {
        "short": content[:-20],
        "page": content[:400] + bytes(100_000) + content[100_400:],
        "footer": content[:-40] + bytes(32) + content[-8:],
    }[damage]
    with pytest.raises(ParquetError):
        _read(Storage(changed), len(content))


def _read(storage: Storage, size: int) -> None:
    footer = parquet.read_footer(storage.fetch, size)
    parquet.read_groups(storage.fetch, footer, range(footer.rows.size), (STATS, SKETCH))
