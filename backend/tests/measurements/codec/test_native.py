"""The native module: many blocks like each alone, pieces like the whole, reports like the protobuf library's."""

from dataclasses import replace

import numpy as np
import pytest
import sinemora_native as native
import zstandard
from google.protobuf.message import DecodeError

from sinemora.measurements.aggregate import matrix, merge, rollup
from sinemora.measurements.aggregate.corrections import SHIFTS, Corrections
from sinemora.measurements.codec import frame, llq16, unpacking
from sinemora.measurements.codec.frame import Frame, FrameError
from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.codec.unpacking import DIRECTIONS, ONE_WAY
from sinemora.measurements.ingest.agent_pb2 import Report
from sinemora.measurements.ingest.payload import PROTOBUF
from sinemora.measurements.ingest.validation import read
from tests.measurements.reports import GOLDEN, add_window, arrived, golden, report_of, windows_of
from tests.measurements.worlds import Raw, RawWindow, frame_of, silent, simple, stored_of
from tests.seeds import seeds


@pytest.fixture(params=seeds(range(6)))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def same(one: object, other: object) -> None:
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif hasattr(one, "__dataclass_fields__"):
        same(tuple(getattr(one, name) for name in one.__dataclass_fields__),
             tuple(getattr(other, name) for name in one.__dataclass_fields__))  # fmt: skip
    else:
        assert one == other


def raw(rng: np.random.Generator) -> Raw:
    """Draw a peer's window: sometimes silent, sometimes with delays at and below zero, sometimes with heavy tails."""
    if rng.random() < 0.15:
        return silent()
    base = rng.choice([-500, 40, 60_000, 2_000_000])
    out, into = (
        np.rint(base + 900 * rng.pareto(1.2, rng.integers(0, 40))).clip(-5_000, 2e9).astype(int).tolist()
        for _ in range(2)
    )
    both = [max(a + b, 0) for a, b in zip(out, into, strict=False)]  # a round trip below zero is refused
    sent = tuple(int(rng.choice([-1, 50])) for _ in range(3))
    lost = tuple(-1 if s < 0 else int(rng.integers(-1, 10)) for s in sent)
    return Raw((out, into, both), sent, lost, int(rng.integers(0, 90_000)), int(rng.integers(1, 4)))


def frames(rng: np.random.Generator, size: int) -> list[Frame]:
    """Windows of three VMs towards some of eight."""
    collected = []
    for at in range(size):
        peers = {int(key): raw(rng) for key in rng.choice(np.arange(10, 18), rng.integers(1, 8), replace=False)}
        result = frame_of(RawWindow(1 + at % 3, peers))
        if at % 2:
            widths = frame.widths_of(result.stats.flows)
            counts = [np.repeat(result.stats.columns[frame.COUNT, d], widths) for d in range(2)]
            flows = np.zeros((3, 2, int(widths.sum())), np.int32)
            flows[frame.FLOW_COUNT] = counts
            flows[frame.FLOW_MIN :] = 1_000 * (flows[frame.FLOW_COUNT] > 0)
            result = replace(result, stats=replace(result.stats, by_flow=flows))
        collected.append(result)
    return collected


def stored(parts: list[Frame], rng: np.random.Generator) -> list[StoredFrame]:
    return [stored_of(part, int(rng.integers(0, 4)) * 10) for part in parts]


def corrections(rng: np.random.Generator) -> list[Corrections]:
    """Draw corrections of two time ranges; most pairs have one in each."""
    collected = []
    for start in (0, 20):
        pairs = [(client, target) for client in (1, 2, 3) for target in range(10, 18) if rng.random() < 0.7]
        shifts = np.zeros(len(pairs), SHIFTS)
        shifts["client"], shifts["target"] = np.array(pairs).T
        shifts["shift_ns"], shifts["bound_ns"] = rng.integers(-90_000, 90_000, (2, len(pairs)))
        collected.append(Corrections(start, start + 20, shifts))
    return collected


@pytest.mark.parametrize("directions", [(), ONE_WAY, (frame.ROUND_TRIP,), DIRECTIONS])
@pytest.mark.parametrize("shift", [False, True])
def test_blocks_are_decoded_like_each_alone(rng, directions, shift):
    blocks = stored(frames(rng, 7), rng)
    stats = [frame.decode_stats(entry.stats) for entry in blocks]
    sketches = [frame.decode_sketches(entry.sketch, part) for entry, part in zip(blocks, stats, strict=True)]
    together = frame.concatenate(stats)
    same(unpacking.stats_of([entry.stats for entry in blocks]), together)
    shifts = rng.integers(-90_000, 90_000, together.targets) if shift else np.empty(0, np.int64)
    result = unpacking.sketches_of([entry.sketch for entry in blocks], together, directions, shifts)
    expected = unpacking.shifted(frame.concatenate_sketches(sketches), shifts)
    kept = np.isin(DIRECTIONS, directions)
    same(result.lengths, np.where(kept[:, None], expected.lengths, 0))
    same(result.words, expected.words[np.repeat(kept, expected.lengths.sum(axis=1))])


@pytest.mark.thorough
def test_very_many_blocks_are_decoded_like_each_alone():
    """Enough blocks for two threads."""
    rng = np.random.default_rng(11)
    blocks = stored(frames(rng, 40), rng) * 60
    stats = [frame.decode_stats(entry.stats) for entry in blocks[:40]] * 60
    sketches = [frame.decode_sketches(entry.sketch, part) for entry, part in zip(blocks, stats[:40] * 60, strict=False)]
    together = frame.concatenate(stats)
    same(unpacking.stats_of([entry.stats for entry in blocks]), together)
    whole = frame.concatenate_sketches(sketches)
    same(unpacking.sketches_of([entry.sketch for entry in blocks], together), whole)
    same(unpacking.round_trip_values([entry.stats for entry in blocks], 1), round_trips_of(together, 1))
    owners = rng.integers(0, 50, whole.lengths.size)
    merged = llq16.merge_groups(whole.words, whole.lengths.reshape(-1), owners, 50, frame.QUANTILES)
    same(merged, merged_of(whole.words, whole.lengths.reshape(-1), owners, 50, frame.QUANTILES))


def merged_of(words, lengths, owners, groups, at):
    """Return what merging gives word by word, then summing up."""
    of_words = np.repeat(owners, lengths)
    merged, sizes = llq16.merge(words[of_words >= 0], of_words[of_words >= 0], groups)
    return llq16.Merged(*llq16.summarise(merged, sizes, at), merged, sizes)


def round_trips_of(stats, quantile):
    """Return the round trips of whole stats, ns; -1 for no value."""
    codes = stats.quantiles[quantile, frame.ROUND_TRIP].astype(np.int64)
    least, most = stats.columns[[frame.MIN, frame.MAX], frame.ROUND_TRIP].astype(np.int64)
    middles = llq16.VALUE_OF_BIN[np.clip(codes - 1, 0, llq16.BINS - 1)]
    return np.where(codes > 0, np.minimum(np.maximum(middles, least), most), -1)


@pytest.mark.parametrize("directions", [(), ONE_WAY, (frame.ROUND_TRIP,), DIRECTIONS])
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("words_too", [True, False])
def test_windows_merge_while_they_are_read_as_all_at_once(rng, directions, corrected, words_too):
    without_flows = [entry for entry in frames(rng, 60) if not entry.stats.by_flow.size]
    blocks, known = stored(without_flows, rng), corrections(rng) if corrected else []
    result = merge.merge_blocks(blocks, known, directions, words_too=words_too)
    piece = merge.gathered(sorted(blocks, key=lambda item: item.vm_key), known, directions)
    keys, groups = np.unique(piece.clients << 32 | piece.targets, return_inverse=True)
    parts = [] if piece.sketches is None else [piece.sketches]
    stats, sketches = rollup.merge_groups([piece.stats], parts, groups.reshape(-1), keys.size, words_too=words_too)
    same((result.clients, result.targets), (keys >> 32, keys & 0xFFFFFFFF))
    same((result.stats, result.sketches), (stats, sketches))


def test_windows_of_other_targets_than_their_roster_are_refused():
    blocks = stored(frames(np.random.default_rng(1), 3)[::2], np.random.default_rng(1))
    broken = [replace(block, targets=np.append(block.targets, 99)) for block in blocks]
    with pytest.raises(FrameError, match="sizes do not match"):
        merge.merge_blocks(broken, [], DIRECTIONS, words_too=True)


@pytest.mark.parametrize("words_too", [True, False])
@pytest.mark.parametrize("targets_at_once", [12, merge._TARGETS_AT_ONCE])
def test_ranges_merge_as_all_at_once(rng, words_too, targets_at_once, monkeypatch):
    monkeypatch.setattr(merge, "_TARGETS_AT_ONCE", targets_at_once)
    blocks = sorted(stored(frames(rng, 30), rng), key=lambda item: item.vm_key)
    chunks, known = [blocks[:11], blocks[11:12], blocks[12:]], corrections(rng)
    pairs, sketches = merge.merged(chunks, 100, corrections=known, quantiles_of=DIRECTIONS, words_too=words_too)
    piece = merge.gathered(blocks, known, DIRECTIONS)
    keys, groups = np.unique(piece.clients << 32 | piece.targets, return_inverse=True)
    directed = (np.arange(3)[:, None] * keys.size + groups).reshape(-1)
    same((pairs.clients, pairs.targets), (keys >> 32, keys & 0xFFFFFFFF))
    columns = rollup.merge_columns(piece.stats.columns.reshape(8, -1), directed, 3 * keys.size)
    alike(pairs.stats.columns.reshape(8, -1), columns)
    words = merged_of(
        piece.sketches.words, piece.sketches.lengths.reshape(-1), directed, 3 * keys.size, frame.QUANTILES
    )
    same(pairs.stats.quantiles.reshape(4, -1), (words.bins + 1).astype(np.uint16))
    if words_too:
        same((sketches.lengths.reshape(-1), sketches.words), (words.lengths, words.words))


def alike(columns: frame.Columns, others: frame.Columns) -> None:
    """Sums of squares depend on the order of their parts."""
    same(columns[: frame.M2], others[: frame.M2])
    assert np.allclose(columns[frame.M2].view(np.float32), others[frame.M2].view(np.float32), rtol=2e-5)


def test_sketches_of_very_many_values_merge_word_by_word():
    rng = np.random.default_rng(4)
    words = (rng.integers(0, 40, 4_000) << 5 | rng.integers(0, 32, 4_000)).astype(np.uint16)
    lengths = np.full(400, 10)
    owners = rng.integers(-1, 5, 400)
    at = (0.01, 0.5, 0.9, 0.999, 1.0)
    result = llq16.merge_groups(words, lengths, owners, 7, at)
    same(result, merged_of(words, lengths, owners, 7, at))
    assert result.totals.max() > 1 << 24
    assert (result.bins[:, 5:] == llq16.EMPTY).all()
    same(llq16.canonical(result.words, result.lengths), (result.words, result.lengths))


def test_keys_far_apart_are_found_like_close_ones():
    axis, keys = np.array([7, 5_000_000, 3]), np.array([3, 4, 5_000_000, 7, 9_000_000, -1])
    assert matrix.positions_of(axis, keys).tolist() == [2, -1, 1, 0, -1, -1]
    assert matrix.positions_of(np.array([7, 5, 3]), np.array([3, 4, 5, 7, 900, -1])).tolist() == [2, -1, 1, 0, -1, -1]


@pytest.mark.parametrize("flows", [[1], [3], [1] * 256 + [3] * 300, [3] + [1] * 599])
def test_frames_of_many_blocks_are_packed_block_by_block(flows):
    rng = np.random.default_rng(4)
    whole = frame_of(RawWindow(1, {key: raw(rng) for key in range(2, 602)}))
    widths = np.resize(np.array(flows, np.uint16), whole.targets.size)
    by_flow = rng.integers(0, 90_000, (3, 2, int(frame.widths_of(widths).sum()))).astype(np.int32)
    whole = replace(whole, stats=replace(whole.stats, flows=widths, by_flow=by_flow))
    packed = whole.encoded()
    alone = [
        [frame.encode_stats(block.stats), frame.encode_sketches(block.sketches, block.stats)]
        for block in whole.blocks()
    ]
    assert [blobs for _, *blobs in packed] == alone
    assert [targets.size for targets, *_ in packed] == [256, 256, 88]
    for block, (targets, *blobs) in zip(whole.blocks(), packed, strict=True):
        decoded = frame.decode_stats(blobs[0])
        same((block.targets, block.stats, block.sketches), (targets, decoded, frame.decode_sketches(blobs[1], decoded)))


def window(rng: np.random.Generator) -> Report:
    """Return a report of one window towards eight peers."""
    return report_of(3, {int(key): raw(rng) for key in range(10, 18)}, 1_795_000_000)


def test_reports_are_read_as_they_were_measured(rng):
    peers = {int(key): raw(rng) for key in range(10, 18)}
    message, measured = report_of(3, peers, 1_795_000_000), frame_of(RawWindow(3, peers))
    part = next(item for item in (message.windows[0].outbound, message.windows[0].inbound) if len(item.sketch) > 4)
    at = 2 * sum(part.sketch_words[: int(np.argmax(part.sketch_words))])
    words = part.sketch[at : at + 4]
    part.sketch = part.sketch[:at] + words[2:] + words[:2] + part.sketch[at + 4 :]  # bins that do not ascend
    (result,) = windows_of(message, 1)
    same((result.targets, result.stats, result.sketches), (measured.targets, measured.stats, measured.sketches))


def whole_report(rng: np.random.Generator) -> Report:
    """Return a report of two windows with all fields that an agent may send."""
    message = window(rng)
    add_window(message, 4, {int(key): raw(rng) for key in range(20, 23)}, 1_795_000_010)
    first, second = message.windows
    first.offset_from_peer_ns.extend([-5, 6] * 4)
    first.offset_error_ns.extend([9, 2**64 - 1] * 4)
    first.skew_from_peer_ppb.extend([3, -3] * 4)
    second.clock_offset_ns.extend([-5, 6, 7])  # by an older agent
    second.clock_offset_error_ns.extend([9, 2**64 - 1, 8])
    second.clock_skew_ppb.extend([3, -3, 0])
    first.evidence.add(peer_key=10, at_ns=[1, 2], outbound_ns=[5, 60_000], inbound_ns=[4, 4])
    return message


def outcome(body: bytes) -> object:
    report = arrived(body, 1)
    (refusal,) = read([report], 1 << 20)
    if refusal is not None:
        return str(refusal)
    windows = [
        (
            *(window.mesh_key, window.started_at_s, window.window_s, window.targets, window.stats, window.sketches),
            *(window.spikes, window.clocks, window.columns.clamped),
        )
        for window in report.windows
    ]
    return report.health, report.agent_version, windows


def outcome_by_library(body: bytes) -> object:
    """Return the outcome of the body after the protobuf library has parsed and serialised it."""
    message = Report()
    try:
        message.ParseFromString(body)
    except DecodeError:
        return None
    return outcome(message.SerializeToString()) if body else outcome(b"")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.bin")), ids=str)
def test_bodies_of_the_agent_are_read(path):
    golden(path.stem)
    same(outcome(path.read_bytes()), outcome_by_library(path.read_bytes()))


def test_harmed_bodies_are_read_or_refused_as_by_the_library():
    rng = np.random.default_rng(8)
    good = whole_report(rng).SerializeToString()
    bodies = [good[: int(rng.integers(0, len(good)))] for _ in range(100)]
    for _ in range(400):
        body = bytearray(good)
        for at in rng.integers(0, len(body), int(rng.integers(1, 4))).tolist():
            body[at] = int(rng.choice([0, 1, 0x0A, 0x7F, 0x80, 0xFF, rng.integers(256)]))
        bodies.append(bytes(body))
    bodies += [good + good, good[:40] + good, b"", b"\x22\x00", good + b"\x22\x80\x00"]
    for body in bodies:
        result, expected = outcome(body), outcome_by_library(body)
        if expected is None:
            assert isinstance(result, str)
        else:
            same(result, expected)


def test_columns_that_are_not_packed_are_read():
    """Any writer of protobuf may repeat a field, or write numbers one by one."""
    message = window(np.random.default_rng(1))
    part = message.windows[0].SerializeToString() + b"\x20\x63" + b"\x28\x01"  # one more peer, 99, of one flow
    body = b"\x22" + _varint(len(part)) + part
    assert native.read_reports([(body, False, 1)], len(body), 1000) == [None]
    same(outcome(body), "windows[0].outbound.count: 8 entries for 9 peers")


def test_more_fields_than_any_report_has_are_refused():
    assert "more than 100000 fields" in outcome(b"\x22\x00" * 100_001)


def test_blocks_read_with_a_window_are_those_of_its_frame(rng):
    """A window of three blocks is encoded where it is read; one with flows or hardware clocks is not."""
    message = report_of(1, {peer: simple(int(rng.integers(1, 10**9))) for peer in range(2, 600)})
    (plain,) = windows_of(message, 1)
    whole = Frame(1, plain.targets, plain.stats, plain.sketches).encoded()
    assert plain.columns.blocks() == [(stats, sketches) for _, stats, sketches in whole]
    message.windows[0].asymmetry_source.extend([frame.HARDWARE] * plain.targets.size)
    (other,) = windows_of(message, 1)
    assert other.columns.blocks() is None


def test_peers_are_among_keys_as_sets_are(rng):
    peers = np.unique(rng.integers(2, 5000, 300))
    (of_window,) = windows_of(report_of(1, {int(peer): simple(1000) for peer in peers}), 1)
    others = np.unique(rng.integers(2, 5000, int(rng.integers(1, 4000))))
    every = np.union1d(others, peers)
    for keys in (every, peers, every[:-1], every[1:], np.delete(every, rng.integers(every.size)), others, every[:0]):
        assert of_window.columns.are_among(keys) == (set(peers) <= set(keys))


def _varint(number: int) -> bytes:
    return bytes([number & 127 | 128]) + _varint(number >> 7) if number > 127 else bytes([number])


def test_reports_of_a_batch_are_read_each_for_itself():
    """A report is read alike alone and among others, compressed or not, whatever is wrong with its neighbours."""
    good = whole_report(np.random.default_rng(2)).SerializeToString()
    compressed = zstandard.compress(good)
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(good)
    reports = [
        arrived(good, 1),
        arrived(compressed, 1, PROTOBUF, "zstd"),
        arrived(unsized, 1, PROTOBUF, "zstd"),
        arrived(compressed[:-3], 1, PROTOBUF, "zstd"),
        arrived(compressed + b"more", 1, PROTOBUF, "zstd"),
        arrived(compressed + compressed, 1, PROTOBUF, "zstd"),
        arrived(zstandard.compress(bytes(len(good) + 1)), 1, PROTOBUF, "zstd"),
        arrived(good, 10),  # a peer of its own report
        arrived(good[:-1], 1),
        arrived(b"", 1),
        arrived(b"", 1, PROTOBUF, "zstd"),
        arrived(b"{}", 1, "application/json"),
        arrived(b"x", 1, "text/plain"),
        arrived(good, 1, PROTOBUF, "gzip"),
    ]
    together = read(reports, len(good))
    outcomes = [
        len(report.windows) if refusal is None else refusal.code
        for report, refusal in zip(reports, together, strict=True)
    ]
    assert outcomes == [
        *(2, 2, 2, "malformed_report", "malformed_report", "malformed_report", "body_too_large"),
        *("malformed_report", "malformed_report", "malformed_report", "malformed_report", 0),
        *("media_type_unsupported", "content_encoding_unsupported"),
    ]
    for report, refusal in zip(reports, together, strict=True):
        (alone,) = read([report], len(good))
        assert str(alone) == str(refusal)
