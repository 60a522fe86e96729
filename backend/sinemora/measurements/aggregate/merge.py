"""From stored frames to one window per pair: the newest, or all of a range merged, a bounded number at a time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.measurements.aggregate import corrections as clock_corrections
from sinemora.measurements.aggregate import rollup
from sinemora.measurements.aggregate.corrections import Corrections
from sinemora.measurements.aggregate.matrix import Pairs
from sinemora.measurements.codec import frame, unpacking
from sinemora.measurements.codec.frame import Frame, Sketches, Stats
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.stored import StoredFrame, StoredPath
from sinemora.measurements.codec.unpacking import DIRECTIONS

# Targets that are decoded together, at least; a merge of more goes client by client.
_TARGETS_AT_ONCE = 1 << 17


@dataclass(frozen=True, slots=True)
class Piece:
    """Merged pairs, one client and target each; `sketches` is None where nobody asked for quantiles."""

    clients: Ints
    targets: Ints
    stats: Stats
    sketches: Sketches | None

    @property
    def nbytes(self) -> int:
        """Memory of its arrays."""
        stats = self.stats
        size = self.clients.nbytes + self.targets.nbytes + stats.columns.nbytes + stats.quantiles.nbytes
        size += stats.flows.nbytes + stats.asymmetry_source.nbytes + stats.by_flow.nbytes
        return size if self.sketches is None else size + self.sketches.lengths.nbytes + self.sketches.words.nbytes


def newest(
    stored: Sequence[StoredFrame], *, corrections: Sequence[Corrections] = (), sketches_of: Collection[int] = ()
) -> tuple[Pairs, Sketches | None]:
    """Return every pair of every block, with the sketches of some directions; a pair that stands in two stands here
    twice.
    """
    piece = gathered(stored, corrections, sketches_of)
    sizes = [one.targets.size for one in stored]
    window = np.repeat(np.array([one.window_s for one in stored], np.int64), sizes)
    ended = np.repeat(np.array([one.started_at_s + one.window_s for one in stored], np.int64), sizes)
    return Pairs(piece.clients, piece.targets, ended, window, piece.stats), piece.sketches


def merged(
    chunks: Iterable[list[StoredFrame]],
    ended_at_s: int,
    *,
    corrections: Sequence[Corrections] = (),
    quantiles_of: Collection[int] = (),
    words_too: bool = False,
) -> tuple[Pairs, Sketches | None]:
    """Return each pair once, with all its windows merged; they count as one that ended at `ended_at_s`.

    Frames come by client. Sketches are merged of the directions `quantiles_of` only, and kept with `words_too`.
    """
    found = by_client(chunks, corrections, tuple(quantiles_of), words_too=words_too)
    return _as_one(found, ended_at_s, words_too=words_too)


def together(pieces: Sequence[Piece], ended_at_s: int, *, words_too: bool = False) -> tuple[Pairs, Sketches | None]:
    """The same from pieces that may have pairs in common."""
    whole = [_merge(pieces, words_too=words_too)] if pieces else []
    return _as_one(whole, ended_at_s, words_too=words_too)


def joined(pieces: Sequence[Piece]) -> Piece:
    """Pieces of different pairs as one."""
    if len(pieces) == 1:
        return pieces[0]
    words = [piece.sketches for piece in pieces if piece.sketches is not None]
    empty = np.empty(0, np.int64)
    return Piece(
        np.concatenate([piece.clients for piece in pieces] or [empty]),
        np.concatenate([piece.targets for piece in pieces] or [empty]),
        frame.concatenate([piece.stats for piece in pieces]),
        frame.concatenate_sketches(words) if words else None,
    )


def by_client(
    chunks: Iterable[list[StoredFrame]],
    corrections: Sequence[Corrections],
    directions: Collection[int],
    *,
    words_too: bool,
) -> list[Piece]:
    """Frames that come by client as pieces of different clients, each pair merged once, by ascending keys."""
    pieces: list[Piece] = []
    parts: list[Piece] = []  # of one client, to be merged with what is still to come of it
    waiting: list[StoredFrame] = []
    for chunk in chunks:
        waiting += chunk
        if sum(one.targets.size for one in waiting) < _TARGETS_AT_ONCE:
            continue
        ready, waiting = _until_last_client(waiting)
        if ready:
            pieces.append(_merge([*parts, gathered(ready, corrections, directions)], words_too=words_too))
            parts = []
        if sum(one.targets.size for one in waiting) >= _TARGETS_AT_ONCE:
            parts = [_merge([*parts, gathered(waiting, corrections, directions)], words_too=bool(directions))]
            waiting = []
    if parts or waiting:
        pieces.append(_merge([*parts, gathered(waiting, corrections, directions)], words_too=words_too))
    return pieces


def whole(
    chunks: Iterable[list[StoredFrame]],
    ended_at_s: int,
    *,
    corrections: Sequence[Corrections] = (),
    sketches_of: Collection[int] = (),
) -> tuple[Pairs, Sketches | None]:
    """Return the same for frames of one step, each pair in one of them: nothing to merge, their own quantiles stand."""
    stored = [one for chunk in chunks for one in chunk]
    return _as_one([gathered(stored, corrections, sketches_of)], ended_at_s, words_too=bool(sketches_of))


def merged_zones(pieces: Sequence[Piece], between: Sequence[Frame], directions: Collection[int]) -> Piece:
    """Return each pair of zones once: merged pieces and frames, as they are, merged."""
    found = [
        *pieces,
        *(
            Piece(np.full(one.targets.size, one.vm_key), one.targets, one.stats, one.sketches if directions else None)
            for one in between
        ),
    ]
    return _merge(found or [gathered((), (), directions)], words_too=False)


def of_path(
    found: Sequence[StoredPath],
    ends: tuple[int, int],
    groups: Ints,
    size: int,
    corrections: Sequence[Corrections],
    *,
    merges: bool,
) -> Stats:
    """Windows of one pair of VMs by `groups` (`size` of them), outbound from the first of `ends`, corrected.

    With `merges` a group may have several, and their sketches are read; else each has one.
    """
    forward = np.array([one.forward for one in found], bool)
    clients, targets = np.where(forward, *ends), np.where(forward, *ends[::-1])
    blobs, places = [one.stats for one in found], np.array([one.at for one in found], np.int64)
    stats = unpacking.stats_at(blobs, places)
    shifts = clock_corrections.shifting(
        corrections, [one.started_at_s for one in found], [1] * len(found), clients, targets
    )
    parts, order = [], np.concatenate((np.flatnonzero(forward), np.flatnonzero(~forward)))
    right = clock_corrections.corrected(stats, shifts)
    parts = [right.take(np.flatnonzero(forward)), right.take(np.flatnonzero(~forward)).reversed()]
    if not merges:
        return frame.concatenate(parts).take(np.argsort(groups[order], kind="stable"))
    whole = unpacking.stats_of(blobs)
    sizes = np.array([frame.targets_in(one) for one in blobs], np.int64)
    positions = np.cumsum(sizes) - sizes + places
    by = np.zeros(whole.targets, np.int64)
    if shifts is not None:
        by[positions] = shifts.by(stats)
    sketches = unpacking.sketches_of([one.sketch for one in found], whole, DIRECTIONS, by).take(positions)
    turned = [sketches.take(np.flatnonzero(forward)), sketches.take(np.flatnonzero(~forward)).reversed()]
    return rollup.merge_groups(parts, turned, groups[order], size, words_too=False)[0]


def merged_frames(stored: Sequence[StoredFrame]) -> list[Frame]:
    """Return one frame per VM (or zone) of these, as they were reported: what the next tier keeps."""
    if not stored:
        return []
    piece = _merge([gathered(stored, (), DIRECTIONS)], words_too=True)
    assert piece.sketches is not None
    return rollup.cut(piece.clients << 32 | piece.targets, piece.stats, piece.sketches)


def frames_of(stored: Sequence[StoredFrame]) -> list[Frame]:
    """Decoded frames as they were reported, sketches included."""
    decoded = [(one, frame.decode_stats(one.stats)) for one in stored]
    return [Frame(one.vm_key, one.targets, stats, frame.decode_sketches(one.sketch, stats)) for one, stats in decoded]


def gathered(
    stored: Sequence[StoredFrame], corrections: Sequence[Corrections], directions: Collection[int] = ()
) -> Piece:
    """Decoded pairs of all blocks, in their order, one-way delays corrected; with the sketches of `directions`."""
    sizes = [one.targets.size for one in stored]
    clients = np.repeat(np.array([one.vm_key for one in stored], np.int64), sizes)
    targets = np.concatenate([one.targets for one in stored]) if stored else np.empty(0, np.int64)
    stats = unpacking.stats_of([one.stats for one in stored])
    shifts = clock_corrections.shifting(corrections, [one.started_at_s for one in stored], sizes, clients, targets)
    sketches = None
    if directions:
        by = np.empty(0, np.int64) if shifts is None else shifts.by(stats)
        sketches = unpacking.sketches_of([one.sketch for one in stored], stats, directions, by)
    return Piece(clients, targets, clock_corrections.corrected(stats, shifts), sketches)


def _until_last_client(stored: list[StoredFrame]) -> tuple[list[StoredFrame], list[StoredFrame]]:
    """Return the frames of all clients but the last, and those of the last."""
    cut = len(stored)
    while cut and stored[cut - 1].vm_key == stored[-1].vm_key:
        cut -= 1
    return stored[:cut], stored[cut:]


def _as_one(pieces: Sequence[Piece], ended_at_s: int, *, words_too: bool) -> tuple[Pairs, Sketches | None]:
    """Pieces of different pairs, as windows that ended at one time."""
    whole = joined(pieces)
    size = whole.stats.targets
    pairs = Pairs(
        whole.clients, whole.targets, np.full(size, ended_at_s, np.int64), np.ones(size, np.int64), whole.stats
    )
    if not words_too:
        return pairs, None
    return pairs, frame.concatenate_sketches([]) if whole.sketches is None else whole.sketches


def corrected(plain: Frame, started_at_s: int, corrections: Sequence[Corrections]) -> Frame:
    """Return a frame of the window or step that starts at a time, with its one-way delays corrected."""
    size = plain.targets.size
    shifts = clock_corrections.shifting(corrections, [started_at_s], [size], np.full(size, plain.vm_key), plain.targets)
    if shifts is None:
        return plain
    sketches = unpacking.shifted(plain.sketches, shifts.by(plain.stats))
    return Frame(plain.vm_key, plain.targets, clock_corrections.corrected(plain.stats, shifts), sketches)


def _merge(pieces: Sequence[Piece], *, words_too: bool) -> Piece:
    keys, groups = _grouped([piece.clients << 32 | piece.targets for piece in pieces])
    parts = [piece.sketches for piece in pieces if piece.sketches is not None]
    stats, sketches = rollup.merge_groups(
        [piece.stats for piece in pieces], parts, groups.reshape(-1), keys.size, words_too=words_too
    )
    return Piece(keys >> 32, keys & 0xFFFFFFFF, stats, sketches)


def _grouped(pairs: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return all different pairs, ascending, and which of them each is."""
    first = pairs[0]
    # Merged pieces of one mesh nearly always have the same pairs, in order.
    if len(pairs) > 1 and all(np.array_equal(first, other) for other in pairs[1:]) and (np.diff(first) > 0).all():
        return first, np.tile(np.arange(first.size), len(pairs))
    return np.unique(np.concatenate(pairs), return_inverse=True)
