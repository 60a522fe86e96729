"""SQL of minutes between zones as plain columns, which people read with SQL."""

from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate.matrix import Flags, nullable
from sinemora.measurements.aggregate.merge import Piece
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, INBOUND, LOST, MAX, MIN, OUTBOUND, ROUND_TRIP, SENT
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.store.sql_models import VALUES

_PERCENTILES = 3
"""p50, p90 and p99, the first of `frame.QUANTILES`."""
_NAMES = ", ".join(("exchanges", *VALUES))
# As text: a column without any value has no type that the binary format could name.
_STORE = f"""
INSERT INTO zone_minutes (tenant_key, mesh_key, started_at, source_zone_key, target_zone_key, {_NAMES})
SELECT %t, %t, to_timestamp(%t), i.* FROM unnest(%t::int[], %t::int[]{", %t::bigint[]" * (1 + len(VALUES))}) AS i
ON CONFLICT (tenant_key, mesh_key, started_at, source_zone_key, target_zone_key) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in ("exchanges", *VALUES))}
"""


def store(session: Session, tenant_key: int, mesh_key: int, started_at_s: int, merged: Piece) -> None:
    """Store a minute of merged pairs of zones, in a system session; it replaces the same minute merged earlier.

    A pair of zones becomes a row each way. Within one zone both directions are the same paths, so there is one row.
    """
    # Always in the same order, so that two processes do not wait for one another.
    columns = columns_of(merged)
    if columns[0]:
        session.connection().exec_driver_sql(_STORE, (tenant_key, mesh_key, started_at_s, *columns))


def columns_of(merged: Piece) -> list[list[Any]]:
    """Return source zones, target zones, exchanges and `VALUES` of the paths that sent packets, each as a list.

    None is not known.
    """
    between = merged.clients != merged.targets
    (forth, forth_known), (back, back_known) = (_values(merged, direction) for direction in (OUTBOUND, INBOUND))
    ends = np.array([merged.clients, merged.targets])
    ends = np.concatenate((ends, ends[::-1, between]), axis=1)
    values = np.concatenate((forth, back[:, between]), axis=1)
    known = np.concatenate((forth_known, back_known[:, between]), axis=1)
    used = known[1:].any(axis=0)
    order = np.lexsort((ends[1, used], ends[0, used]))
    return [
        *ends[:, used][:, order].tolist(),
        *nullable(values[:, used][:, order], known[:, used][:, order]),
    ]


def _values(merged: Piece, direction: int) -> tuple[Ints, Flags]:
    """Return exchanges and `VALUES` of one direction of each pair, shape (10, n), and the mask of known ones."""
    columns, quantiles = merged.stats.columns.astype(np.int64), merged.stats.quantiles[:_PERCENTILES]
    delays, measured = [], []
    for which in (direction, ROUND_TRIP):
        least, most = columns[MIN, which], columns[MAX, which]
        delays.append(llq16.values_within(quantiles[:, which], least, most))
        measured.append(columns[COUNT, which] > 0)
    one_way, both = measured
    sent, lost = columns[SENT, direction], columns[LOST, direction]
    rows = (columns[COUNT, direction], *delays[0], columns[CLOCK_ERROR, direction], *delays[1], sent, lost)
    known = (np.ones_like(one_way), *[one_way] * (_PERCENTILES + 1), *[both] * _PERCENTILES, sent > 0, lost >= 0)
    return np.array(rows), np.array(known)
