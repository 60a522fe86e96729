"""From stored frames to one window per pair: the newest, or all of a range merged, a bounded number at a time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
import sinemora_native as native

from sinemora.measurements.aggregate import corrections as clock_corrections
from sinemora.measurements.aggregate import rollup
from sinemora.measurements.aggregate.corrections import Corrections
from sinemora.measurements.aggregate.matrix import Pairs
from sinemora.measurements.codec import frame, unpacking
from sinemora.measurements.codec.frame import Sketches, Stats
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.codec.stored import StoredFrame, StoredPath
from sinemora.measurements.codec.unpacking import DIRECTIONS

# Targets that are decoded together, at least; a merge of more goes client by client.
_TARGETS_AT_ONCE = 1 << 17


@dataclass(frozen=True, slots=True)
class Piece:
    """Merged pairs, one client and target each; `sketches` is None where no quantiles are needed."""

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
    """Return every pair of every block, with the sketches of some directions. A pair of two blocks appears twice."""
    piece = gathered(stored, corrections, sketches_of)
    sizes = [block.targets.size for block in stored]
    window = np.repeat(np.array([block.window_s for block in stored], np.int64), sizes)
    ended = np.repeat(np.array([block.started_at_s + block.window_s for block in stored], np.int64), sizes)
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
    pieces = by_client(chunks, corrections, tuple(quantiles_of), words_too=words_too)
    return _as_one(pieces, ended_at_s, words_too=words_too)


def together(pieces: Sequence[Piece], ended_at_s: int, *, words_too: bool = False) -> tuple[Pairs, Sketches | None]:
    """Return each pair once, merged from pieces that may have pairs in common."""
    whole = [merge_pieces(pieces, words_too=words_too)] if pieces else []
    return _as_one(whole, ended_at_s, words_too=words_too)


def joined(pieces: Sequence[Piece]) -> Piece:
    """Join pieces of different pairs."""
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
    """Return pieces of different clients from frames in the order of clients, each pair merged, by ascending keys."""
    pieces: list[Piece] = []
    parts: list[Piece] = []  # of one client, to be merged with its next frames
    waiting: list[StoredFrame] = []
    for chunk in chunks:
        waiting += chunk
        if sum(block.targets.size for block in waiting) < _TARGETS_AT_ONCE:
            continue
        ready, waiting = _until_last_client(waiting)
        if ready:
            pieces.append(_merged_with(parts, ready, corrections, directions, words_too=words_too))
            parts = []
        if sum(block.targets.size for block in waiting) >= _TARGETS_AT_ONCE:
            parts = [_merged_with(parts, waiting, corrections, directions, words_too=bool(directions))]
            waiting = []
    if parts or waiting:
        pieces.append(_merged_with(parts, waiting, corrections, directions, words_too=words_too))
    return pieces


def whole(
    chunks: Iterable[list[StoredFrame]],
    ended_at_s: int,
    *,
    corrections: Sequence[Corrections] = (),
    sketches_of: Collection[int] = (),
) -> tuple[Pairs, Sketches | None]:
    """Return each pair of frames of one step, which hold it once: nothing is merged, the frames' quantiles are kept."""
    stored = [block for chunk in chunks for block in chunk]
    return _as_one([gathered(stored, corrections, sketches_of)], ended_at_s, words_too=bool(sketches_of))


def merged_zones(pieces: Sequence[Piece], between: Sequence[Piece], directions: Collection[int]) -> Piece:
    """Return each pair of zones once, of pieces with sketches of `directions` and others with those of all."""
    parts = [*pieces, *(part if directions else replace(part, sketches=None) for part in between)]
    return merge_pieces(parts or [gathered((), (), directions)], words_too=False)


def of_path(
    windows: Sequence[StoredPath],
    ends: tuple[int, int],
    groups: Ints,
    size: int,
    corrections: Sequence[Corrections],
    *,
    merges: bool,
) -> Stats:
    """Return the windows of one pair of VMs by `groups` (`size` of them), outbound from the first of `ends`, corrected.

    With `merges` a group may have several windows, whose sketches are read; else it has one.
    """
    forward = np.array([window.forward for window in windows], bool)
    clients, targets = np.where(forward, *ends), np.where(forward, *ends[::-1])
    blobs, places = [window.stats for window in windows], np.array([window.at for window in windows], np.int64)
    stats = unpacking.stats_at(blobs, places)
    shifts = clock_corrections.shifting(
        corrections, [window.started_at_s for window in windows], [1] * len(windows), clients, targets
    )
    parts, order = [], np.concatenate((np.flatnonzero(forward), np.flatnonzero(~forward)))
    right = clock_corrections.corrected(stats, shifts)
    parts = [right.take(np.flatnonzero(forward)), right.take(np.flatnonzero(~forward)).reversed()]
    if not merges:
        return frame.concatenate(parts).take(np.argsort(groups[order], kind="stable"))
    whole = unpacking.stats_of(blobs)
    sizes = np.array([frame.targets_in(blob) for blob in blobs], np.int64)
    positions = np.cumsum(sizes) - sizes + places
    by = np.zeros(whole.targets, np.int64)
    if shifts is not None:
        by[positions] = shifts.by(stats)
    sketches = unpacking.sketches_of([window.sketch for window in windows], whole, DIRECTIONS, by).take(positions)
    turned = [sketches.take(np.flatnonzero(forward)), sketches.take(np.flatnonzero(~forward)).reversed()]
    return rollup.merge_groups(parts, turned, groups[order], size, words_too=False)[0]


def gathered(
    stored: Sequence[StoredFrame], corrections: Sequence[Corrections], directions: Collection[int] = ()
) -> Piece:
    """Decode the pairs of all blocks in their order, one-way delays corrected, with the sketches of `directions`."""
    sizes = [block.targets.size for block in stored]
    clients = np.repeat(np.array([block.vm_key for block in stored], np.int64), sizes)
    targets = np.concatenate([block.targets for block in stored]) if stored else np.empty(0, np.int64)
    stats = unpacking.stats_of([block.stats for block in stored])
    shifts = clock_corrections.shifting(corrections, [block.started_at_s for block in stored], sizes, clients, targets)
    sketches = None
    if directions:
        by = np.empty(0, np.int64) if shifts is None else shifts.by(stats)
        sketches = unpacking.sketches_of([block.sketch for block in stored], stats, directions, by)
    return Piece(clients, targets, clock_corrections.corrected(stats, shifts), sketches)


def merge_blocks(
    stored: Sequence[StoredFrame],
    corrections: Sequence[Corrections],
    directions: Collection[int],
    *,
    words_too: bool,
) -> Piece:
    """Merge each pair of all blocks, by ascending keys, one-way delays corrected.

    Sketches of `directions` give the quantiles and are kept with `words_too`.
    """
    ordered = sorted(stored, key=attrgetter("vm_key"))
    rosters = {id(block.targets): block.targets for block in ordered}
    roster_at = {roster: place for place, roster in enumerate(rosters)}
    tables = {start: clock_corrections.at(corrections, start) for start in {block.started_at_s for block in ordered}}
    known = {id(table): table for table in tables.values() if table is not None}
    table_at = {table: place for place, table in enumerate(known)}
    merged = native.merge_windows(
        [
            (
                block.vm_key,
                roster_at[id(block.targets)],
                table_at.get(id(tables[block.started_at_s]), -1),
                block.stats,
                block.sketch,
            )
            for block in ordered
        ],
        list(rosters.values()),
        [table.view(np.int32) for table in known.values()],
        [direction in directions for direction in DIRECTIONS],
        words_too,
    )
    if merged is None:  # flows of a path are merged one by one, which only `rollup` does
        return merge_pieces([gathered(ordered, corrections, directions)], words_too=words_too)
    clients, targets, columns, quantiles, flows, sources, lengths, words = merged
    stats = Stats(columns, quantiles, flows, sources, np.empty((3, 2, 0), np.int32))
    return Piece(clients, targets, stats, Sketches(lengths, words) if directions and words_too else None)


def _merged_with(
    parts: Sequence[Piece],
    stored: Sequence[StoredFrame],
    corrections: Sequence[Corrections],
    directions: Collection[int],
    *,
    words_too: bool,
) -> Piece:
    """Merge blocks with pieces of the same client that are merged already, if there are any."""
    if not parts:
        return merge_blocks(stored, corrections, directions, words_too=words_too)
    fresh = merge_blocks(stored, corrections, directions, words_too=bool(directions))
    return merge_pieces([*parts, fresh], words_too=words_too)


def _until_last_client(stored: list[StoredFrame]) -> tuple[list[StoredFrame], list[StoredFrame]]:
    """Return the frames of all clients but the last, and those of the last."""
    cut = len(stored)
    while cut and stored[cut - 1].vm_key == stored[-1].vm_key:
        cut -= 1
    return stored[:cut], stored[cut:]


def _as_one(pieces: Sequence[Piece], ended_at_s: int, *, words_too: bool) -> tuple[Pairs, Sketches | None]:
    """Join pieces of different pairs as windows that ended at one time."""
    whole = joined(pieces)
    size = whole.stats.targets
    pairs = Pairs(
        whole.clients, whole.targets, np.full(size, ended_at_s, np.int64), np.ones(size, np.int64), whole.stats
    )
    if not words_too:
        return pairs, None
    return pairs, frame.concatenate_sketches([]) if whole.sketches is None else whole.sketches


def corrected(piece: Piece, started_at_s: int, corrections: Sequence[Corrections]) -> Piece:
    """Return pairs of the step that starts at a time, with their one-way delays corrected."""
    size = piece.clients.size
    shifts = clock_corrections.shifting(corrections, [started_at_s], [size], piece.clients, piece.targets)
    if shifts is None:
        return piece
    sketches = None if piece.sketches is None else unpacking.shifted(piece.sketches, shifts.by(piece.stats))
    return Piece(piece.clients, piece.targets, clock_corrections.corrected(piece.stats, shifts), sketches)


def merge_pieces(pieces: Sequence[Piece], *, words_too: bool) -> Piece:
    """Return each pair once, by ascending keys, merged from pieces that may have pairs in common."""
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
