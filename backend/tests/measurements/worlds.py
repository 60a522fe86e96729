"""Raw values of pairs and the frames an agent makes of them: the truth the tests compare with."""

from dataclasses import dataclass, field

import numpy as np

from sinemora.measurements.aggregate import merge
from sinemora.measurements.aggregate.merge import Piece
from sinemora.measurements.codec import frame, llq16, unpacking
from sinemora.measurements.codec.frame import Frame, Sketches, Stats
from sinemora.measurements.codec.stored import StoredFrame

DIRECTIONS = ("outbound", "inbound", "round_trip")


@dataclass
class Raw:
    """What happened towards one peer in one window: delays of each direction, and what is known of losses."""

    delays_ns: tuple[list[int], list[int], list[int]] = ([], [], [])
    sent: tuple[int, int, int] = (-1, -1, -1)
    lost: tuple[int, int, int] = (-1, -1, -1)
    clock_error_ns: int = 0
    flows: int = 1


@dataclass
class RawWindow:
    """One agent's window: what happened towards each peer."""

    vm_key: int
    peers: dict[int, Raw] = field(default_factory=dict)


def frame_of(window: RawWindow) -> Frame:
    """Return the frame of a window, computed value by value."""
    targets = sorted(window.peers)
    n = len(targets)
    columns = np.zeros((8, 3, n), np.int32)
    words, lengths = [], np.zeros((3, n), np.int64)
    for d in range(3):
        for i, target in enumerate(targets):
            raw = window.peers[target]
            delays = raw.delays_ns[d]
            columns[frame.COUNT, d, i] = len(delays)
            columns[frame.SENT, d, i], columns[frame.LOST, d, i] = raw.sent[d], raw.lost[d]
            if delays:
                columns[frame.MIN, d, i], columns[frame.MAX, d, i] = min(delays), max(delays)
                columns[frame.MEAN, d, i] = round(sum(delays) / len(delays))
                columns[frame.CLOCK_ERROR, d, i] = 0 if d == frame.ROUND_TRIP else raw.clock_error_ns
                m2 = float(np.var(np.array(delays, np.float64)) * len(delays))
                columns[frame.M2, d, i] = frame.m2_bits(np.array(m2))
            words.append(llq16.encode(delays))
            lengths[d, i] = words[-1].size
    sketches = Sketches(lengths, np.concatenate(words) if words else np.empty(0, np.uint16))
    flows = np.array([window.peers[t].flows for t in targets], np.uint16)
    return Frame(
        window.vm_key,
        np.array(targets, np.int64),
        Stats(columns, frame.quantile_codes(sketches), flows, np.zeros(n, np.uint8), np.empty((3, 2, 0), np.int32)),
        sketches,
    )


def simple(
    delay_ns: int, back_ns: int | None = None, *, count: int = 8, lost: int = 0, clock_error_ns: int = 500
) -> Raw:
    """Return a peer with `count` responses and delays around `delay_ns` outbound and `back_ns` inbound."""
    back = delay_ns if back_ns is None else back_ns
    out, into = ([at + 10 * i for i in range(count)] for at in (delay_ns, back))
    both = [a + b for a, b in zip(out, into, strict=True)]
    return Raw((out, into, both), (count + lost, count, count + lost), (lost, 0, lost), clock_error_ns)


def silent(sent: int = 8) -> Raw:
    """Return a peer with `sent` requests and no response."""
    return Raw(sent=(sent, -1, sent), lost=(sent, -1, sent))


def stored_of(part: Frame, started_at_s: int = 0) -> StoredFrame:
    """Return a frame of at most 256 targets as it is stored."""
    blobs = frame.encode_stats(part.stats), frame.encode_sketches(part.sketches, part.stats)
    return StoredFrame(part.vm_key, started_at_s, 10, part.targets, *blobs)


def merged_of(frames: list[Frame]) -> Piece:
    """Return the pairs of frames, merged as stored frames are."""
    return merge.merge_blocks(list(map(stored_of, frames)), (), unpacking.DIRECTIONS, words_too=True)


def frames_of(piece: Piece) -> list[Frame]:
    """Cut merged pairs into a frame of each client."""
    clients = np.unique(piece.clients)
    parts = [np.flatnonzero(piece.clients == client) for client in clients]
    return [
        Frame(int(client), piece.targets[part], piece.stats.take(part), piece.sketches.take(part))
        for client, part in zip(clients, parts, strict=True)
    ]
