"""Measurements of the benchmark's meshes: delays with heavy tails, as reports and as frames of any tier.

Delays are a base by pair (45 to 900 us) times gamma jitter, with spikes of 2 to 50 times in 0.3 % and 1 % loss.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import zstandard

from lab.benchmarks.storing.load import request_of
from lab.benchmarks.storing.product import World
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import Frame, Stats
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.ingest.agent_pb2 import Report
from sinemora.measurements.store.inserts import FrameRow
from sinemora.operations.embedded.simulated.reports import add_window, columns_of, sketches_of

SAMPLES = 10


def delays(rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
    """Return one-way delays, ns; the last axis is the values of one distribution."""
    base = rng.uniform(45e3, 900e3, (*shape[:-1], 1))
    values = base * rng.gamma(40, 1 / 40, shape)
    spiking = rng.random(shape) < 0.003
    values[spiking] *= rng.uniform(2, 50, int(spiking.sum()))
    return values.astype(np.int64)


def window(rng: np.random.Generator, vm_key: int, targets: npt.ArrayLike, samples: int = SAMPLES) -> Frame:
    """Return a frame of `samples` exchanges with each target."""
    keys = np.asarray(targets, np.int64)
    values, lost = delays(rng, (2, keys.size, samples)), rng.random((3, keys.size)) < 0.1
    return frame_of(vm_key, keys, values, lost, rng.integers(400, 900, (2, keys.size)))


def frame_of(
    vm_key: int,
    targets: npt.ArrayLike,
    values: Ints,
    lost: npt.ArrayLike = 0,
    clock_error_ns: npt.ArrayLike = 500,
    counts: npt.ArrayLike | None = None,
) -> Frame:
    """Return a frame of these delays [direction][target][exchange], the first `counts` of each target, all by default.

    `lost`: number of additional, lost exchanges; -1: not known.
    """
    keys, missing = np.asarray(targets, np.int64), np.asarray(lost)
    counts = np.broadcast_to(values.shape[2] if counts is None else counts, keys.size)
    columns = columns_of(values, counts, np.where(missing < 0, -1, counts + missing), missing, clock_error_ns)
    (sketches,) = sketches_of(values, counts, [keys.size])
    stats = Stats(
        columns,
        frame.quantile_codes(sketches),
        np.ones(keys.size, np.uint16),
        np.zeros(keys.size, np.uint8),
        np.empty((3, 2, 0), np.int32),
    )
    return Frame(vm_key, keys, stats, sketches)


def report(whole: Frame, mesh_key: int) -> Report:
    """Return the report of a frame; the caller sets the start of its window."""
    message = Report(sequence=1, agent_version="0.1.0")
    add_window(message, mesh_key, 0, 10, whole.targets, whole.stats.columns, whole.sketches)
    return message


def request_at(credential: str, message: Report, started_at_s: int) -> bytes:
    """Return a report whose window starts at a time (Unix s), as the bytes of an HTTP request."""
    message.sequence, message.windows[0].started_at_s = started_at_s // 10, started_at_s
    return request_of(credential, zstandard.compress(message.SerializeToString(), 3))


def reports(world: World) -> list[Report]:
    """Return a report of each VM of a mesh about the peers of which it is the client."""
    keys = world.vm_keys
    windows = (window(np.random.default_rng(i), key, peers(keys, i)) for i, key in enumerate(keys))
    return [report(whole, world.mesh_key) for whole in windows]


def peers(vm_keys: list[int], i: int) -> list[int]:
    """Return the peers of which VM `i` is the client: about half of the others."""
    n = len(vm_keys)
    half = [(i + step) % n for step in range(1, (n - 1) // 2 + 1)]
    if n % 2 == 0 and i < n // 2:
        half.append(i + n // 2)
    return sorted(vm_keys[at] for at in half)


def frame_rows(tenant_key: int, mesh_key: int, whole: Frame, starts: Iterable[int], step_s: int) -> Iterator[FrameRow]:
    """Yield the rows of a frame, block by block, at each start."""
    for number, block in enumerate(whole.blocks()):
        stats, words = frame.encode_stats(block.stats), frame.encode_sketches(block.sketches, block.stats)
        for start in starts:
            yield FrameRow(tenant_key, mesh_key, start, whole.vm_key, number, step_s, block.targets, stats, words)


def mesh_rows(
    seed: int, tenant_key: int, mesh_key: int, vm_keys: list[int], starts: list[int], step_s: int, samples: int
) -> Iterator[FrameRow]:
    """Yield frames of all VMs at each start. They share the payloads of eight VMs: only reading is measured."""
    rng = np.random.default_rng(seed)
    blocks: dict[tuple[int, int], list[FrameRow]] = {}
    for i, vm_key in enumerate(vm_keys):
        targets = np.array(peers(vm_keys, i), np.int64)
        kind = (i % 8, targets.size)
        if kind not in blocks:
            blocks[kind] = [*frame_rows(tenant_key, mesh_key, window(rng, vm_key, targets, samples), [0], step_s)]
        cuts = np.cumsum([row.targets.size for row in blocks[kind]])[:-1]
        for start in starts:
            for row, own in zip(blocks[kind], np.split(targets, cuts), strict=True):
                yield replace(row, started_at_s=start, vm_key=vm_key, targets=own)
