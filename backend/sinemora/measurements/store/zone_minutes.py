"""SQL of minutes between zones and of chosen paths as plain columns, which people read with SQL."""

from typing import Any

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate import zones
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
INSERT INTO {{table}} (tenant_key, mesh_key, started_at, source_{{ends}}_key, target_{{ends}}_key, {_NAMES})
SELECT %t, %t, to_timestamp(%t), i.* FROM unnest(%t::int[], %t::int[]{", %t::bigint[]" * (1 + len(VALUES))}) AS i
ON CONFLICT (tenant_key, mesh_key, started_at, source_{{ends}}_key, target_{{ends}}_key) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in ("exchanges", *VALUES))}
"""
_ZONES = _STORE.format(table="zone_minutes", ends="zone")
_PATHS = _STORE.format(table="path_minutes", ends="vm")
_CHOSEN = text(
    "SELECT a.key, b.key FROM sql_paths p JOIN tenants t ON t.id = p.tenant_id"
    " JOIN vms a ON a.id = p.vm_id JOIN vms b ON b.id = p.peer_id WHERE t.key = :tenant_key"
)


def chosen_paths(session: Session, tenant_key: int) -> Ints:
    """Return the paths that are chosen for a tenant as numbers (`_numbers`), in a system session."""
    ends = np.array(session.execute(_CHOSEN, {"tenant_key": tenant_key}).all(), np.int64).reshape(-1, 2)
    return _numbers(ends[:, 0], ends[:, 1])


def paths_of(piece: Piece, chosen: Ints) -> Piece | None:
    """Return those of the chosen paths that a piece with sketches has, each once; None for none of them."""
    at = np.flatnonzero(np.isin(_numbers(piece.clients, piece.targets), chosen))
    if not at.size or piece.sketches is None:
        return None
    some = Piece(piece.clients[at], piece.targets[at], piece.stats.take(at), piece.sketches.take(at))
    keys = np.unique(np.concatenate((some.clients, some.targets)))
    return zones.merge_zones(some, keys, keys)  # each VM as one zone


def _numbers(ends: Ints, others: Ints) -> Ints:
    """Return one number of each unordered pair of VM keys."""
    return np.minimum(ends, others) << 32 | np.maximum(ends, others)


def store(session: Session, tenant_key: int, mesh_key: int, started_at_s: int, merged: Piece) -> None:
    """Store a minute of merged pairs of zones, in a system session; it replaces the same minute merged earlier.

    A pair of zones becomes a row each way. Within one zone both directions are the same paths, so there is one row.
    """
    _store(session, _ZONES, (tenant_key, mesh_key, started_at_s), merged)


def store_paths(session: Session, tenant_key: int, mesh_key: int, started_at_s: int, merged: Piece) -> None:
    """Store a minute of paths between VMs as `store` does, each with a row each way."""
    _store(session, _PATHS, (tenant_key, mesh_key, started_at_s), merged)


def _store(session: Session, statement: str, minute: tuple[int, int, int], merged: Piece) -> None:
    # Always in the same order, so that two processes do not wait for one another.
    columns = columns_of(merged)
    if columns[0]:
        session.connection().exec_driver_sql(statement, (*minute, *columns))


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
