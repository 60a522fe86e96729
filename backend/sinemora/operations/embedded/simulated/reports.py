"""Windows of delays as the columns, sketches and messages of agents' reports, for many clients at once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import Columns, Sketches
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.ingest.agent_pb2 import Report

_NAMES = ("count", "sent", "lost", "min_ns", "mean_ns", "max_ns", "clock_error_ns")


def columns_of(
    delays_ns: Ints, counts: Ints, sent: npt.ArrayLike, lost: npt.ArrayLike, clock_error_ns: npt.ArrayLike
) -> Columns:
    """Return the columns of frames, shape (8, 3, pairs), from one-way delays [direction][pair][exchange] in ns.

    The first `counts` exchanges of a pair are measured. `sent` and `lost`: packets by direction and pair; -1 is not
    known.
    """
    every = _every(delays_ns)
    measured = np.arange(every.shape[2]) < counts[:, None]
    divisor = np.maximum(counts, 1)
    mean = np.rint(np.where(measured, every, 0).sum(axis=2) / divisor).astype(np.int64)
    deviations = np.where(measured, every - mean[..., None], 0).astype(np.float64)
    columns = np.zeros((8, *every.shape[:2]), np.int32)
    columns[frame.COUNT], columns[frame.SENT], columns[frame.LOST] = counts, sent, lost
    columns[frame.MIN] = np.where(measured, every, every.max(axis=2, keepdims=True)).min(axis=2)
    columns[frame.MAX] = np.where(measured, every, 0).max(axis=2)
    columns[frame.MEAN] = mean
    columns[frame.CLOCK_ERROR, :2] = clock_error_ns
    columns[frame.M2] = frame.m2_bits((deviations**2).sum(axis=2))
    columns[frame.MIN :, :, counts == 0] = 0
    return columns


def sketches_of(delays_ns: Ints, counts: Ints, sizes: Sequence[int]) -> list[Sketches]:
    """Return the sketches of each client. Pairs are ordered by client, `sizes` is the number of pairs of each."""
    every = _every(delays_ns)
    width = np.repeat(sizes, sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    # The words of a client follow one another: outbound, inbound, round trip.
    group = 3 * first + np.arange(3)[:, None] * width + np.arange(width.size) - first
    measured = np.arange(every.shape[2]) < counts[:, None]
    words = (llq16.bins_of(every[:, measured]) << 5).astype(np.uint16).reshape(-1)
    owners = group[:, np.repeat(np.arange(width.size), counts)].reshape(-1)
    merged, lengths = llq16.merge(words, owners, group.size)
    cuts = np.concatenate(([0], np.cumsum(lengths)))
    sketches = []
    low = 0
    for size in sizes:
        high = low + 3 * size
        sketches.append(Sketches(lengths[low:high].reshape(3, size), merged[cuts[low] : cuts[high]]))
        low = high
    return sketches


def add_window(
    message: Report,
    mesh_key: int,
    started_at_s: int,
    window_s: int,
    targets: Ints,
    columns: Columns,
    sketches: Sketches,
) -> None:
    """Add a window with one source port per target to a report. `targets`: VM keys, ascending."""
    window = message.windows.add(mesh_key=mesh_key, started_at_s=started_at_s, window_s=window_s)
    window.peer_keys.extend(targets.tolist())
    window.flows.extend([1] * targets.size)
    m2 = columns[frame.M2].view(np.float32)
    cuts = np.cumsum([0, *sketches.lengths.sum(axis=1)])
    for direction, part in enumerate((window.outbound, window.inbound, window.round_trip)):
        for column, name in enumerate(_NAMES):
            getattr(part, name).extend(columns[column, direction].tolist())
        part.m2.extend(m2[direction].tolist())
        part.sketch_words.extend(sketches.lengths[direction].tolist())
        part.sketch = sketches.words[cuts[direction] : cuts[direction + 1]].tobytes()


def _every(delays_ns: Ints) -> Ints:
    """Return the delays of both directions and, as a third one, their sum: the round trip."""
    return np.concatenate((delays_ns, delays_ns.sum(axis=0, keepdims=True)))
