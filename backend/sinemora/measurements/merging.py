"""From stored frames to one window per pair: the newest, or all of a range merged, a bounded number at a time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.measurements import clocks, frame, rollup
from sinemora.measurements.clocks import Corrections
from sinemora.measurements.frame import Frame, Sketches, Stats
from sinemora.measurements.matrix import Pairs
from sinemora.measurements.queries import StoredFrame
from sinemora.measurements.sketch import Ints

# Merged pieces that may wait before they are merged with one another.
_PIECES_MAX = 8


@dataclass(frozen=True, slots=True)
class Piece:
    """Merged pairs, one client and target each; `sketches` is None where nobody asked for quantiles."""

    clients: Ints
    targets: Ints
    stats: Stats
    sketches: Sketches | None


def newest(
    stored: Sequence[StoredFrame], *, sketches: bool, corrections: Sequence[Corrections] = ()
) -> tuple[Pairs, Sketches | None]:
    """Every pair of every block; a pair that stands in two of them stands here twice."""
    piece = gathered(stored, corrections, sketches=sketches)
    sizes = [one.targets.size for one in stored]
    window = np.repeat(np.array([one.window_s for one in stored], np.int64), sizes)
    ended = np.repeat(np.array([one.started_at_s + one.window_s for one in stored], np.int64), sizes)
    return Pairs(piece.clients, piece.targets, ended, window, piece.stats), piece.sketches


def merged(
    chunks: Iterable[list[StoredFrame]], ended_at_s: int, *, sketches: bool, corrections: Sequence[Corrections] = ()
) -> tuple[Pairs, Sketches | None]:
    """Each pair once, with all its windows merged; they count as one that ended at `ended_at_s`."""
    pieces: list[Piece] = []
    for chunk in chunks:
        pieces.append(_merge([gathered(chunk, corrections, sketches=sketches)]))
        if len(pieces) > _PIECES_MAX:
            pieces = [_merge(pieces)]
    piece = _merge(pieces or [gathered([], (), sketches=sketches)])
    size = piece.clients.size
    ended, window = np.full(size, ended_at_s, np.int64), np.ones(size, np.int64)
    return Pairs(piece.clients, piece.targets, ended, window, piece.stats), piece.sketches


def whole(
    chunks: Iterable[list[StoredFrame]], ended_at_s: int, *, sketches: bool, corrections: Sequence[Corrections] = ()
) -> tuple[Pairs, Sketches | None]:
    """The same for frames of one step, each pair in one of them: nothing to merge, their own quantiles stand."""
    pieces = [gathered(chunk, corrections, sketches=sketches) for chunk in chunks]
    stats = frame.concatenate([piece.stats for piece in pieces])
    words = [piece.sketches for piece in pieces if piece.sketches is not None]
    empty = np.empty(0, np.int64)
    pairs = Pairs(
        np.concatenate([piece.clients for piece in pieces] or [empty]),
        np.concatenate([piece.targets for piece in pieces] or [empty]),
        np.full(stats.targets, ended_at_s, np.int64),
        np.ones(stats.targets, np.int64),
        stats,
    )
    return pairs, frame.concatenate_sketches(words) if sketches else None


def frames_of(stored: Iterable[StoredFrame]) -> list[Frame]:
    """Decoded frames, sketches included."""
    return [
        Frame(one.vm_key, one.targets, frame.decode_stats(one.stats), frame.decode_sketches(one.sketch))
        for one in stored
    ]


def corrected(plain: Frame, started_at_s: int, corrections: Sequence[Corrections]) -> Frame:
    """A frame of the window or step that starts at a time, with its one-way delays corrected."""
    shifts = clocks.at(corrections, started_at_s)
    return Frame(
        plain.vm_key,
        plain.targets,
        clocks.corrected(plain.stats, plain.vm_key, plain.targets, shifts),
        clocks.corrected_sketches(plain.sketches, plain.stats, plain.vm_key, plain.targets, shifts),
    )


def read(one: StoredFrame, corrections: Sequence[Corrections], *, sketches: bool) -> tuple[Stats, Sketches | None]:
    """A stored block with its one-way delays corrected."""
    shifts = clocks.at(corrections, one.started_at_s)
    stats = frame.decode_stats(one.stats)
    words = None
    if sketches:
        words = clocks.corrected_sketches(frame.decode_sketches(one.sketch), stats, one.vm_key, one.targets, shifts)
    return clocks.corrected(stats, one.vm_key, one.targets, shifts), words


def gathered(stored: Sequence[StoredFrame], corrections: Sequence[Corrections], *, sketches: bool) -> Piece:
    """Decoded pairs of all blocks, in their order, one-way delays corrected."""
    parts = [read(one, corrections, sketches=sketches) for one in stored]
    sizes = [one.targets.size for one in stored]
    empty = np.empty(0, np.int64)
    return Piece(
        np.repeat(np.array([one.vm_key for one in stored], np.int64), sizes),
        np.concatenate([one.targets for one in stored]) if stored else empty,
        frame.concatenate([stats for stats, _ in parts]),
        frame.concatenate_sketches([words for _, words in parts if words is not None]) if sketches else None,
    )


def _merge(pieces: Sequence[Piece]) -> Piece:
    pairs = np.concatenate([piece.clients << 32 | piece.targets for piece in pieces])
    keys, groups = np.unique(pairs, return_inverse=True)
    parts = [piece.sketches for piece in pieces if piece.sketches is not None]
    stats, sketches = rollup.merge_groups([piece.stats for piece in pieces], parts, groups.reshape(-1), keys.size)
    return Piece(keys >> 32, keys & 0xFFFFFFFF, stats, sketches if parts else None)
