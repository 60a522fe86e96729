"""Reading of single steps of some pairs: of VMs or of zones."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from sinemora.kit import cluster
from sinemora.measurements.codec.parquet import STATS
from sinemora.measurements.codec.stored import StoredPath
from sinemora.measurements.store.aged import catalogue, reading
from sinemora.measurements.store.aged.catalogue import AgedObject
from sinemora.measurements.store.binary_rows import fetch, targets_of, tenant_of
from sinemora.measurements.store.tiers import Tier

# The table is searched once for each start and source; a join could be planned as a scan of the whole range. `fence`
# prevents it, where it is possible.
_HEADS = """
SELECT w.source, w.start_s, f.block, f.roster_key
FROM unnest(%(sources)s::int[], %(starts)s::bigint[]) AS w(source, start_s)
CROSS JOIN LATERAL (
    SELECT block, roster_key FROM {table}
    WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s
      AND started_at = to_timestamp(w.start_s) AND {source} = w.source
    {fence}) f
"""
_STATS = """
SELECT w.number, f.stats
FROM unnest(%(sources)s::int[], %(starts)s::bigint[], %(blocks)s::smallint[])
     WITH ORDINALITY AS w(source, start_s, block, number)
CROSS JOIN LATERAL (
    SELECT stats FROM {table}
    WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s
      AND started_at = to_timestamp(w.start_s) AND {source} = w.source AND block = w.block
    {fence}) f
ORDER BY w.number
"""


class PairStep(NamedTuple):
    """Step of a pair: its start (Unix s) and the keys of source and target, of VMs or of zones."""

    started_at_s: int
    source: int
    target: int


def pair_frames(
    session: Session, mesh_key: int, tier: Tier, wanted: Collection[PairStep], *, zones: bool = False
) -> list[tuple[PairStep, StoredPath]]:
    """Return the stored blocks with these steps, whichever end was the client. Steps that are not stored are left out.

    `window_s` of the blocks is the usual one of the tier.
    """
    table, source = (tier.zone_table, "zone_key") if zones else (tier.table, "vm_key")
    names = {"table": table, "source": source, "fence": _fence(session)}
    mesh = {"tenant_key": tenant_of(session), "mesh_key": mesh_key}
    ends = sorted({(end, step.started_at_s) for step in wanted for end in (step.source, step.target)})
    if not ends:
        return []
    sources, starts = zip(*ends, strict=True)
    asked = {**mesh, "sources": list(sources), "starts": list(starts)}
    span = (datetime.fromtimestamp(min(starts), UTC), datetime.fromtimestamp(max(starts) + tier.step_s, UTC))

    def objects() -> list[AgedObject]:
        return catalogue.current(session, mesh["tenant_key"], mesh_key, table, *span)

    heads = catalogue.consistently(objects, lambda: fetch(session, _HEADS.format(**names), asked))
    aged = _aged(objects(), span, set(ends))
    heads += [(*key, roster_key) for key, (roster_key, _) in aged.items()]
    rosters = targets_of(session, {head[3] for head in heads})
    blocks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for end, start_s, block, roster_key in heads:
        blocks.setdefault((end, start_s), []).append((block, roster_key))
    found: list[tuple[PairStep, bool, int, int]] = []
    for step in wanted:
        for client, other in dict.fromkeys([(step.source, step.target), (step.target, step.source)]):
            for block, roster_key in blocks.get((client, step.started_at_s), ()):
                place = np.flatnonzero(rosters[roster_key] == other)
                if place.size:
                    found.append((step, client == step.source, block, int(place[0])))
    stats = _stats(session, _STATS.format(**names), mesh, found, aged)
    return [
        (step, StoredPath(forward, step.started_at_s, tier.step_s, place, blob, b""))
        for (step, forward, _, place), blob in zip(found, stats, strict=True)
        if blob is not None
    ]


def _fence(session: Session) -> str:
    return "" if cluster.divides_tenants(session.connection()) else "OFFSET 0"


def _aged(
    objects: Sequence[AgedObject], span: tuple[datetime, datetime], ends: Collection[tuple[int, int]]
) -> dict[tuple[int, int, int], tuple[int, bytes]]:
    """Return roster and packed columns of the aged blocks of these sources and starts, by (source, start, block)."""
    if not objects:
        return {}
    rows = reading.rows_in(objects, *span, sources={source for source, _ in ends}, columns=(STATS,))
    return {
        (source, at, block): (roster_key, stats)
        for source, at, _, roster_key, stats, _, block in reading.records(rows)
        if (source, at) in ends
    }


def _stats(
    session: Session,
    sql: str,
    mesh: dict[str, int],
    found: Sequence[tuple[PairStep, bool, int, int]],
    aged: Mapping[tuple[int, int, int], tuple[int, bytes]],
) -> list[bytes | None]:
    """Return the packed columns of each block, read once; None for one that was deleted meanwhile."""
    of = [(step.source if forward else step.target, step.started_at_s, block) for step, forward, block, _ in found]
    known = {key: blob for key, (_, blob) in aged.items()}
    distinct = sorted(set(of) - known.keys())
    if not distinct:
        return [known.get(key) for key in of]
    sources, starts, blocks = zip(*distinct, strict=True)
    rows = fetch(session, sql, {**mesh, "sources": list(sources), "starts": list(starts), "blocks": list(blocks)})
    stats = known | {distinct[number - 1]: blob for number, blob in rows}
    return [stats.get(key) for key in of]
