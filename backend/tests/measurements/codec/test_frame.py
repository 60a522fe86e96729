"""The bytes of frames: they come back as they went in, stored ones stay readable, broken ones are refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import FrameError, Sketches, Stats
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


def checksum(head: int, body: bytes) -> int:
    """Return 32 bits that change with any bit of the body, with its length and with `head` (32 bits)."""
    padded = np.frombuffer(body + bytes(-len(body) % 8), "<u8")
    weights = np.arange(1, 2 * padded.size, 2, dtype=np.uint64)
    total = int((padded * weights).sum(dtype=np.uint64)) + (head << 32 | len(body))
    return (total * 0x9E3779B97F4A7C15 >> 32) & 0xFFFFFFFF


def same_stats(one: Stats, other: Stats) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in Stats.__dataclass_fields__)


@given(any_stats(), st.data())
def test_flows_go_with_their_targets(stats, data):
    positions = np.array(data.draw(st.lists(st.integers(0, stats.targets - 1), max_size=9)), np.int64)
    alone = [stats.take(slice(at, at + 1)) for at in positions.tolist()]
    assert same_stats(stats.take(positions), frame.concatenate(alone)) or not positions.size
    assert same_stats(stats.reversed().reversed(), stats)


def test_golden_blocks_of_every_layout_are_still_read_and_written():
    """A block for each way to write sketches, of few and of many targets, with flows and without."""
    with np.load(GOLDEN / "blocks.npz") as golden:
        numbers = {name.split("_")[0] for name in golden}
        assert len(numbers) > 9
        for number in numbers:
            of = {name.partition("_")[2]: golden[name] for name in golden if name.startswith(f"{number}_")}
            stats = Stats(of["columns"], of["quantiles"], of["flows"], of["sources"], of["by_flow"])
            blobs = of["stats"].tobytes(), of["sketch"].tobytes()
            assert (
                frame.encode_stats(stats),
                frame.encode_sketches(Sketches(of["lengths"], of["words"]), stats),
            ) == blobs
            assert same_stats(frame.decode_stats(blobs[0]), stats)
            sketches = frame.decode_sketches(blobs[1], stats)
            assert np.array_equal(sketches.lengths, of["lengths"])
            assert np.array_equal(sketches.words, of["words"])


@given(st.integers(1, 64).flatmap(lambda n: st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3 * n, max_size=3 * n)))
def test_evidence_comes_back(numbers):
    exchanges = np.array(numbers, np.int64).reshape(3, -1)
    assert np.array_equal(frame.decode_evidence(frame.encode_evidence(exchanges)), exchanges)


def test_bytes_stand_where_the_documentation_says():
    blob = frame.encode_stats(EXAMPLE.stats)
    assert blob[:4] == bytes([3, 0, 3, 0])
    body = blob[8:]
    assert int.from_bytes(blob[4:8], "little") == checksum(int.from_bytes(blob[:4], "little"), body)
    assert body[0] == 0  # flows are not told apart
    # Counts of the outbound direction: 8, 0 and 2 * 16 + 8 have four low bits each, which are the first, and rests.
    columns = body[1:39]
    assert columns[0] == 64 | 4
    bits = int.from_bytes(body[39 + 4 * sum(column >= 128 for column in columns) :], "little")
    assert [bits >> 4 * at & 15 for at in range(3)] == [8, 0, 8]


@pytest.mark.parametrize(
    "damage",
    [
        lambda blob: b"",
        lambda blob: blob[:3],
        lambda blob: blob[:20],
        lambda blob: b"\x04" + blob[1:],
        lambda blob: b"\x01" + blob[1:],
        lambda blob: blob[:1] + b"\x07" + blob[2:],
        lambda blob: blob[:2] + b"\x07\x00" + blob[4:],
        lambda blob: blob[:-1] + bytes([blob[-1] ^ 1]),
    ],
    ids=["empty", "no header", "cut", "later version", "earlier version", "kind", "targets", "checksum"],
)
def test_damaged_bytes_are_refused(damage):
    with pytest.raises(FrameError):
        frame.decode_stats(damage(frame.encode_stats(EXAMPLE.stats)))
    with pytest.raises(FrameError):
        frame.decode_stats(frame.encode_sketches(EXAMPLE.sketches, EXAMPLE.stats))
    with pytest.raises(FrameError):
        frame.decode_sketches(damage(frame.encode_sketches(EXAMPLE.sketches, EXAMPLE.stats)), EXAMPLE.stats)


def test_no_frame_without_targets():
    with pytest.raises(FrameError):
        frame.encode_stats(frame.concatenate([]))
