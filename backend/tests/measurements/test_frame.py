"""The bytes of frames: they come back as they went in, old ones stay readable, broken ones are refused."""

from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sinemora.measurements import frame
from sinemora.measurements.frame import FrameError, Sketches, Stats
from tests.measurements.worlds import RawWindow, frame_of, silent, simple

GOLDEN = Path(__file__).parent / "golden"
EXAMPLE = frame_of(RawWindow(1, {2: simple(45_000, 50_000), 5: silent(), 9: simple(200_000, count=40, lost=3)}))


@st.composite
def any_stats(draw):
    n = draw(st.integers(1, 300).filter(lambda n: n <= frame.TARGETS_MAX))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    flows = rng.integers(0, draw(st.sampled_from([2, 5])), n).astype(np.uint16)
    told_apart = int(frame.widths_of(flows).sum()) if draw(st.booleans()) else 0
    return Stats(
        rng.integers(-(2**31), 2**31, (8, 3, n)).astype(np.int32),
        rng.integers(0, 2049, (4, 3, n)).astype(np.uint16),
        flows,
        rng.integers(0, 3, n).astype(np.uint8),
        rng.integers(-(2**31), 2**31, (3, 2, told_apart)).astype(np.int32),
    )


@st.composite
def any_sketches(draw):
    n = draw(st.integers(1, frame.TARGETS_MAX))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = rng.integers(0, 40, (3, n))
    return Sketches(lengths, rng.integers(0, 2**16, int(lengths.sum())).astype(np.uint16))


def same_stats(one: Stats, other: Stats) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in Stats.__dataclass_fields__)


@given(any_stats())
def test_stats_come_back(stats):
    assert same_stats(frame.decode_stats(frame.encode_stats(stats)), stats)


@given(any_sketches())
def test_sketches_come_back(sketches):
    found = frame.decode_sketches(frame.encode_sketches(sketches))
    assert np.array_equal(found.lengths, sketches.lengths)
    assert np.array_equal(found.words, sketches.words)


FLOWING = Stats(
    EXAMPLE.stats.columns,
    EXAMPLE.stats.quantiles,
    np.array([2, 1, 3], np.uint16),
    np.array([2, 0, 0], np.uint8),
    np.array(
        [
            [[4, 4, 20, 0, 20], [8, 0, 40, 0, 0]],
            [[45_000, 45_010, 200_000, 0, 200_010], [50_000, 0, 200_000, 0, 0]],
            [[45_056, 45_056, 200_704, 0, 200_704], [50_176, 0, 200_704, 0, 0]],
        ],
        np.int32,
    ),
)


def test_golden_stats_are_still_read():
    """What is inside the zstd frame is pinned, its compression is not."""
    blob = (GOLDEN / "stats.v2").read_bytes()
    assert same_stats(frame.decode_stats(blob), FLOWING)
    assert_same_body(blob, frame.encode_stats(FLOWING))


def test_stats_of_the_first_version_are_still_read():
    """They lack the p99.9, which is the largest of less than a thousand delays and else not known."""
    assert same_stats(frame.decode_stats((GOLDEN / "stats.v1").read_bytes()), EXAMPLE.stats)


@given(any_stats(), st.data())
def test_flows_go_with_their_targets(stats, data):
    positions = np.array(data.draw(st.lists(st.integers(0, stats.targets - 1), max_size=9)), np.int64)
    alone = [stats.take(slice(at, at + 1)) for at in positions.tolist()]
    assert same_stats(stats.take(positions), frame.concatenate(alone)) or not positions.size
    assert same_stats(stats.reversed().reversed(), stats)


def test_golden_sketches_are_still_read():
    blob = (GOLDEN / "sketch.v1").read_bytes()
    found = frame.decode_sketches(blob)
    assert np.array_equal(found.words, EXAMPLE.sketches.words)
    assert np.array_equal(found.lengths, EXAMPLE.sketches.lengths)
    assert_same_body(blob, frame.encode_sketches(EXAMPLE.sketches))


@given(st.integers(1, 64).flatmap(lambda n: st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3 * n, max_size=3 * n)))
def test_evidence_comes_back(numbers):
    exchanges = np.array(numbers, np.int64).reshape(3, -1)
    assert np.array_equal(frame.decode_evidence(frame.encode_evidence(exchanges)), exchanges)


def assert_same_body(one: bytes, other: bytes) -> None:
    assert one[:4] == other[:4]
    assert zstandard.decompress(one[4:]) == zstandard.decompress(other[4:])


def test_bytes_stand_where_the_documentation_says():
    blob = frame.encode_stats(EXAMPLE.stats)
    assert blob[:4] == bytes([2, 0, 3, 0])
    body = zstandard.decompress(blob[4:])
    n, low, high = 3, [], []
    assert len(body) == 123 * n
    for target in range(n):  # the counts of the outbound direction come first: byte planes 24 * n apart
        low.append(body[target])
        high.append(body[target + 24 * n])
    assert (low, high) == ([8, 0, 40], [0, 0, 0])
    sent_inbound = (1 * 3 + 1) * n + 1  # column sent, direction inbound, second target: not known
    assert [body[sent_inbound + plane * 24 * n] for plane in range(4)] == [255] * 4
    mean_outbound = (4 * 3 + 0) * n  # stored as the mean less the minimum: 45,035 - 45,000
    assert [body[mean_outbound + plane * 24 * n] for plane in range(4)] == [35, 0, 0, 0]


def test_a_thousand_targets_are_cut_into_blocks():
    whole = frame_of(RawWindow(1, {key: simple(40_000 + key) for key in range(2, 700)}))
    blocks = list(whole.blocks())
    assert [block.targets.size for block in blocks] == [256, 256, 186]
    assert np.array_equal(np.concatenate([block.targets for block in blocks]), whole.targets)
    assert same_stats(frame.concatenate([block.stats for block in blocks]), whole.stats)
    for direction in range(3):
        first = blocks[1].sketches.lengths[:direction].sum()
        words = blocks[1].sketches.words[first : first + blocks[1].sketches.lengths[direction].sum()]
        begin = int(whole.sketches.lengths[:direction].sum() + whole.sketches.lengths[direction, :256].sum())
        assert np.array_equal(words, whole.sketches.words[begin : begin + words.size])


@pytest.mark.parametrize(
    "damage",
    [
        lambda blob: b"",
        lambda blob: blob[:3],
        lambda blob: blob[:20],
        lambda blob: b"\x03" + blob[1:],
        lambda blob: blob[:1] + b"\x01" + blob[2:],
        lambda blob: blob[:2] + b"\x07\x00" + blob[4:],
        lambda blob: blob[:-1] + bytes([blob[-1] ^ 1]),
    ],
    ids=["empty", "no header", "cut", "version", "kind", "targets", "checksum"],
)
def test_damaged_bytes_are_refused(damage):
    with pytest.raises(FrameError):
        frame.decode_stats(damage(frame.encode_stats(EXAMPLE.stats)))
    with pytest.raises(FrameError):
        frame.decode_stats(frame.encode_sketches(EXAMPLE.sketches))


def test_no_frame_without_targets():
    with pytest.raises(FrameError):
        frame.encode_stats(frame.concatenate([]))
