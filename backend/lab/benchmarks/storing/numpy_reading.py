"""The reference for reading and merging: the same frames, decoded and merged in one process with numpy alone."""

import time

import numpy as np
from sqlalchemy import text

from lab.benchmarks.storing.product import World
from sinemora.kit.db import system_session
from sinemora.measurements.codec.frame import QUANTILES, Columns, Sketches, Stats
from sinemora.measurements.store.tiers import Tier
from tests.measurements.oracle import frame, llq16

DIRECTIONS = 3


def matrix_ms(world: World, tier: Tier, started_at_s: int) -> float:
    """Return the ms to read p50 and p99 of every path from the sketches of one step of a tier."""
    began_s = time.perf_counter()
    for stats, sketches in _blocks(world, tier, started_at_s, tier.step_s):
        bins = llq16.quantiles(sketches.words, sketches.lengths.reshape(-1), (0.5, 0.99))
        llq16.values_of(bins).reshape(2, DIRECTIONS, stats.targets)
    return (time.perf_counter() - began_s) * 1000


def roll_up_s(world: World, minute_s: int) -> float:
    """Return the seconds to read the windows of a minute, merge those of each VM, and encode the minute."""
    began_s = time.perf_counter()
    for parts in _by_vm(world, minute_s):
        size = parts[0][0].targets
        columns = np.concatenate([stats.columns.reshape(8, -1) for stats, _ in parts], axis=1)
        pairs = np.tile(np.arange(DIRECTIONS * size), len(parts))
        merged: Columns = frame.merge_columns(columns, pairs, DIRECTIONS * size).reshape(8, DIRECTIONS, size)
        words = np.concatenate([sketches.words for _, sketches in parts])
        lengths = np.concatenate([sketches.lengths.reshape(-1) for _, sketches in parts])
        words, of_pairs = llq16.merge(words, pairs[llq16.owners_of(lengths)], DIRECTIONS * size)
        codes = llq16.quantiles(words, of_pairs, QUANTILES) + 1
        whole = Sketches(of_pairs.reshape(DIRECTIONS, size), words)
        first = parts[0][0]
        quantiles = codes.reshape(len(QUANTILES), DIRECTIONS, size).astype(np.uint16)
        stats = Stats(merged, quantiles, first.flows, first.asymmetry_source, first.by_flow)
        frame.encode_stats(stats)
        frame.encode_sketches(whole, stats)
    return time.perf_counter() - began_s


def _by_vm(world: World, minute_s: int) -> list[list[tuple[Stats, Sketches]]]:
    """Return the decoded windows of a minute, those of a VM and block together."""
    found: dict[tuple[int, int], list[tuple[Stats, Sketches]]] = {}
    for vm_key, block, stats, sketch in _rows(world, Tier.RAW, minute_s, 60):
        found.setdefault((vm_key, block), []).append(_decoded(stats, sketch))
    return list(found.values())


def _blocks(world: World, tier: Tier, start_s: int, seconds: int) -> list[tuple[Stats, Sketches]]:
    return [_decoded(stats, sketch) for _, _, stats, sketch in _rows(world, tier, start_s, seconds)]


def _decoded(stats: bytes, sketch: bytes) -> tuple[Stats, Sketches]:
    decoded = frame.decode_stats(stats)
    return decoded, frame.decode_sketches(sketch, decoded)


def _rows(world: World, tier: Tier, start_s: int, seconds: int) -> list[tuple[int, int, bytes, bytes]]:
    statement = text(
        f"SELECT vm_key, block, stats, sketch FROM {tier} WHERE mesh_key = :mesh"
        " AND started_at >= to_timestamp(:start) AND started_at < to_timestamp(:end)"
    )
    with system_session() as session:
        rows = session.execute(statement, {"mesh": world.mesh_key, "start": start_s, "end": start_s + seconds})
        return [(vm_key, block, bytes(stats), bytes(sketch)) for vm_key, block, stats, sketch in rows]
