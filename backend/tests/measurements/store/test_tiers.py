"""Which tier answers what, and tiers rolled up from tiers against all raw values of the range."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from sinemora.kit.db import system_session
from sinemora.measurements import tasks
from sinemora.measurements.aggregate import zones
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.codec import frame
from sinemora.measurements.store import partitions
from sinemora.measurements.store.tiers import ROLLED, Tier, TierRange, ceil, choose, cover, floor
from tests.measurements.aggregate.test_matrix import number
from tests.measurements.matrices import iso
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import RawWindow, frame_of, frames_of, merged_of, simple
from tests.statements import rows, scalar

TODAY = datetime(2026, 11, 20, tzinfo=UTC)


def at(clock: str, days: int = 0) -> datetime:
    hour, minute = clock.split(":")
    return TODAY + timedelta(days=days, hours=int(hour), minutes=int(minute))


@pytest.mark.parametrize(
    ("span", "points", "tier"),
    [
        (timedelta(minutes=15), 1500, Tier.RAW),
        (timedelta(hours=24), 1500, Tier.MINUTE),
        (timedelta(hours=24), 100, Tier.QUARTER),
        (timedelta(days=30), 1500, Tier.HOUR),
        (timedelta(days=365), 1500, Tier.DAY),
        (timedelta(days=3650), 10, Tier.DAY),
    ],
)
def test_the_finest_tier_within_the_points_is_chosen(span, points, tier):
    assert choose(TODAY, TODAY + span, points) is tier


def test_a_range_is_read_from_the_coarsest_steps_inside_it():
    until = {
        Tier.MINUTE: at("10:07", 1),
        Tier.QUARTER: at("10:00", 1),
        Tier.HOUR: at("10:00", 1),
        Tier.DAY: at("0:00", 1),
    }
    start, end, parts = cover(at("22:50", -2), at("10:08", 1) + timedelta(seconds=7), until, {})
    assert (start, end) == (at("22:50", -2), at("10:09", 1))
    assert parts == [
        TierRange(Tier.MINUTE, at("22:50", -2), at("23:00", -2)),
        TierRange(Tier.HOUR, at("23:00", -2), at("0:00", -1)),
        TierRange(Tier.DAY, at("0:00", -1), at("0:00", 1)),
        TierRange(Tier.HOUR, at("0:00", 1), at("10:00", 1)),
        TierRange(Tier.MINUTE, at("10:00", 1), at("10:07", 1)),
        TierRange(Tier.RAW, at("10:07", 1), at("10:09", 1)),
    ]


def test_a_range_that_minutes_do_not_reach_back_to_grows_to_whole_steps():
    until = dict.fromkeys(ROLLED, at("0:00", 2))
    kept = {Tier.MINUTE: at("12:00"), Tier.QUARTER: at("6:00"), Tier.HOUR: at("0:00", -9), Tier.DAY: at("0:00", -99)}
    assert cover(at("7:20"), at("13:00"), until, kept)[0] == at("7:15")
    assert cover(at("5:20"), at("13:00"), until, kept)[0] == at("5:00")
    assert cover(at("5:20", -20), at("13:00"), until, kept)[0] == at("0:00", -20)


times = st.integers(0, 5 * 1440).map(lambda minutes: TODAY + timedelta(minutes=minutes))


@given(times, times, st.dictionaries(st.sampled_from(ROLLED), times))
def test_stretches_follow_one_another_and_use_whole_merged_steps(one, other, until):
    until = {tier: floor(end, tier.step_s) for tier, end in until.items()}
    start, end, parts = cover(min(one, other), max(one, other), until, {})
    assert [part.start for part in parts] == [start, *[part.end for part in parts[:-1]]][: len(parts)]
    assert not parts or parts[-1].end == end
    for part in parts:
        assert part.start < part.end
        if part.tier is not Tier.RAW:
            assert part.end <= until[part.tier]
            assert (floor(part.start, part.tier.step_s), ceil(part.end, part.tier.step_s)) == (part.start, part.end)


def test_zones_are_merged_from_all_paths_between_their_vms():
    """VMs 1 and 2 are in zone 7, VM 3 in zone 5; each pair has one client."""
    raws = {(1, 2): simple(10_000, 11_000), (1, 3): simple(20_000, 22_000), (3, 2): simple(30_000, 33_000, lost=2)}
    frames = [frame_of(RawWindow(client, {peer: raw})) for (client, peer), raw in raws.items()]
    frames.append(frame_of(RawWindow(9, {1: simple(1)})))  # no VM of the tenant any more
    between = zones.merge_zones(merged_of(frames), np.array([1, 2, 3]), np.array([7, 7, 5]))
    merged = {part.vm_key: part for part in frames_of(between)}
    assert {zone: part.targets.tolist() for zone, part in merged.items()} == {5: [7], 7: [7]}

    def expected(pairs: list[list[int]]) -> list[tuple[int, int, int]]:
        return [(len(values), min(values), max(values)) for values in pairs]

    def found(part: frame.Frame) -> list[tuple[int, int, int]]:
        return [tuple(part.stats.columns[[frame.COUNT, frame.MIN, frame.MAX], d, 0].tolist()) for d in range(3)]

    within = [*raws[1, 2].delays_ns[0], *raws[1, 2].delays_ns[1]]
    assert found(merged[7]) == expected([within, within, raws[1, 2].delays_ns[2]])
    low_to_high = [*raws[1, 3].delays_ns[1], *raws[3, 2].delays_ns[0]]
    high_to_low = [*raws[1, 3].delays_ns[0], *raws[3, 2].delays_ns[1]]
    both = [*raws[1, 3].delays_ns[2], *raws[3, 2].delays_ns[2]]
    assert found(merged[5]) == expected([low_to_high, high_to_low, both])


def stored(table: str) -> list:
    return rows(f"SELECT * FROM {table} ORDER BY started_at")


@pytest.fixture
def past(owner, make_mesh):
    """Two days of one pair, a window each seven hours: enough for every tier to have several steps."""
    mesh = make_mesh(owner, 2)
    a, b = mesh.agents
    start = (window_start(0, 86_400)) - 2 * 86_400
    raws = {start + n * 25_200: simple(40_000 + 1_000 * n, 60_000, count=3 + n, lost=n) for n in range(7)}
    for when, raw in raws.items():
        sent(a, report_of(mesh.key, {b.vm_key: raw}, when))
    return mesh, start, raws


@pytest.mark.whole_store
def test_every_tier_holds_all_that_was_reported(past):
    mesh, start, _ = past
    for _ in range(2):  # again changes nothing
        tasks.roll_up()
        for table in [tier.table for tier in ROLLED] + [tier.zone_table for tier in ROLLED]:
            count = {row.started_at: frame.decode_stats(row.stats).columns[frame.COUNT, 2, 0] for row in stored(table)}
            assert sum(count.values()) == sum(3 + n for n in range(7)), table
        assert [row.started_at.timestamp() for row in stored("probe_frames_1d")] == [start, start + 86_400]
        assert scalar("SELECT count(*) FROM rollup_marks") == 0
    late = start + 600
    sent(mesh.agents[0], report_of(mesh.key, {mesh.agents[1].vm_key: simple(90_000, count=50)}, late))
    tasks.roll_up()
    (row, _) = stored("probe_frames_1d")
    assert frame.decode_stats(row.stats).columns[frame.COUNT, 0, 0] == 3 + 4 + 5 + 6 + 50


@pytest.mark.whole_store
@pytest.mark.parametrize("by", ["vm", "zone"])
def test_ranges_answer_the_same_before_and_after_the_rollup(past, by):
    mesh, start, raws = past
    ranges = ((0, 2 * 86_400), (3_600, 90_000), (25_200, 25_260), (0, 900), (86_400, 2 * 86_400))
    for first, last in ranges:
        params = {"from": iso(start + first), "to": iso(start + last), "by": by, "statistic": "p90"}
        inside = [raw for when, raw in raws.items() if start + first <= when < start + last]
        expected = number([v for raw in inside for v in raw.delays_ns[0]], Statistic.P90)
        for rolled in (False, True):
            if rolled:
                tasks.roll_up()
            body = mesh.owner.get(f"/v1/meshes/{mesh.id}/matrix", params=params).json()
            names = [axis["name"] for axis in body["axis"]]
            if by == "vm":
                row, column = (names.index(n) for n in names)
                assert body["values"][row][column] == expected, (first, last, rolled)
            else:
                assert expected in [value for row in body["values"] for value in row], (first, last, rolled, body)


@pytest.mark.whole_store
def test_rosters_nobody_writes_and_those_of_gone_tenants_are_dropped(past):
    with system_session() as session:
        session.execute(text("INSERT INTO rosters (tenant_key, digest, target_keys) VALUES (999999, 'x', '{1}')"))
        assert partitions.drop_rosters(session, datetime(2020, 1, 1, tzinfo=UTC)) == 1
        assert partitions.drop_rosters(session, datetime.now(UTC) + timedelta(minutes=1)) == len({1})
