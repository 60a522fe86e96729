"""From clocks in reports to corrected one-way delays through HTTP; and corrections applied to frames."""

import numpy as np
import pytest

from sinemora.measurements import tasks
from sinemora.measurements.aggregate import corrections
from sinemora.measurements.aggregate.corrections import CLOCKS, SHIFTS, ClockReport, Corrections
from sinemora.measurements.codec import frame, llq16, unpacking
from sinemora.measurements.codec.frame import INBOUND, OUTBOUND, ROUND_TRIP
from sinemora.measurements.ingest.agent_pb2 import Report
from tests.api_clients import MeshWorld
from tests.measurements.matrices import span
from tests.measurements.reports import golden, report_of, sent, window_start, windows_of
from tests.measurements.worlds import RawWindow, frame_of, silent, simple
from tests.statements import rows

pytestmark = [pytest.mark.whole_store, pytest.mark.agents(6)]

EVEN, HALF = 200_000, 50_000


def tell(mesh: MeshWorld, started_at_s: int, half_ns: int = HALF, agents: int = 6) -> None:
    """Report one window: all delays are 200 us, except from the first VM to the second (`half_ns` more) and back
    (`half_ns` less), which agents cannot measure. Every VM has a separate clock."""
    clock = {agent.vm_key: 1_000_000_007 * n for n, agent in enumerate(mesh.agents)}
    for n, agent in enumerate(mesh.agents[:agents]):
        peers = {peer.vm_key: simple(EVEN, EVEN, clock_error_ns=205_000) for peer in mesh.agents[n + 1 : agents]}
        if not peers:
            continue
        report = report_of(mesh.key, peers, started_at_s)
        window = report.windows[0]
        for key in sorted(peers):
            hidden = half_ns if (agent, key) == (mesh.agents[0], mesh.agents[1].vm_key) else 0
            window.offset_from_peer_ns.append(clock[agent.vm_key] - clock[key] - hidden)
            window.offset_error_ns.append(200)
            window.skew_from_peer_ppb.append(0)
        sent(agent, report)


def clocks_of(report: Report, vm_key: int) -> ClockReport:
    """Return the clocks of the only window of a report."""
    (window,) = windows_of(report, vm_key)
    clocks = window.clocks
    table = corrections.table_of(window.targets, clocks.offset_ns, clocks.error_ns, clocks.skew_ppb, window.stats)
    return ClockReport(vm_key, window.started_at_s + window.window_s, table)


def by_older_agent(report: Report) -> Report:
    """Return the report with offsets as older agents send them: the peer's clock minus their own."""
    (window,) = report.windows
    window.clock_offset_ns.extend(-offset_ns for offset_ns in window.offset_from_peer_ns)
    window.clock_offset_error_ns.extend(window.offset_error_ns)
    window.clock_skew_ppb.extend(-skew for skew in window.skew_from_peer_ppb)
    for name in ("offset_from_peer_ns", "offset_error_ns", "skew_from_peer_ppb"):
        window.ClearField(name)
    return report


@pytest.mark.parametrize("older", [False, True])
def test_the_golden_offsets_of_an_agent_lengthen_the_way_that_is_longer(older):
    """Exchanges of VM 1, whose way to VM 2 is longer than the one back, give the same numbers in the agent's tests."""
    first = golden("offset")
    (window,) = first.windows
    second = report_of(5, {3: simple(EVEN, EVEN, clock_error_ns=201_000)}, window.started_at_s)
    # The clock of VM 3 is 8 ms ahead of that of VM 2.
    second.windows[0].offset_from_peer_ns.append(-8_000_000)
    second.windows[0].offset_error_ns.append(200)
    second.windows[0].skew_from_peer_ppb.append(0)
    reports = [by_older_agent(first) if older else first, second]
    shifts, loops = corrections.compute_shifts([clocks_of(report, vm_key) for vm_key, report in enumerate(reports, 1)])
    assert np.abs(loops).tolist() == [HALF]
    # A loop of three does not show which of its ways is uneven: each gets a third.
    shift = {(row["client"], row["target"]): row["shift_ns"] for row in shifts}
    assert shift[1, 2] == pytest.approx(HALF / 3, rel=0.01)
    assert shift[1, 3] == pytest.approx(-HALF / 3, rel=0.01)
    assert shift[2, 3] == pytest.approx(HALF / 3, rel=0.01)


def test_clocks_that_an_earlier_version_stored_are_left_out():
    clocks = np.ones(2, CLOCKS)
    assert (corrections.decode_clocks(corrections.encode_clocks(clocks)) == clocks).all()
    assert not corrections.decode_clocks(corrections.encode(clocks)).size


def path(mesh: MeshWorld, source: int, target: int) -> dict:
    return mesh.read(mesh.path(source, target))


def test_a_way_that_is_longer_than_the_one_back_is_found_by_the_mesh(mesh):
    tell(mesh, window_start())
    assert path(mesh, 0, 1)["outbound"]["asymmetry_source"] == "assumed"
    tasks.correct()
    result = path(mesh, 0, 1)
    outbound, inbound = result["outbound"], result["inbound"]
    assert (outbound["asymmetry_source"], inbound["asymmetry_source"]) == ("mesh", "mesh")
    assert outbound["min_ns"] == pytest.approx(EVEN + HALF, abs=1_000)
    assert inbound["min_ns"] == pytest.approx(EVEN - HALF, abs=1_000)
    assert outbound["p50_ns"] - inbound["p50_ns"] == pytest.approx(2 * HALF, rel=0.05)
    assert result["round_trip"]["min_ns"] == 2 * EVEN
    assert abs(outbound["min_ns"] - EVEN - HALF) <= outbound["clock_error_ns"] <= 260_000
    seen_back = path(mesh, 1, 0)
    assert seen_back["outbound"]["min_ns"] == inbound["min_ns"]

    matrix = mesh.read("matrix", metric="asymmetry", statistic="min")
    names = [axis["name"] for axis in matrix["axis"]]
    first, second = (names.index(result[end]["name"]) for end in ("source", "target"))
    assert matrix["values"][first][second] == pytest.approx(2 * HALF, abs=2_000)
    assert matrix["asymmetry_sources"][first][second] == "mesh"
    assert matrix["asymmetry_sources"][first][first] is None
    others = [
        value
        for row, values in enumerate(matrix["values"])
        for column, value in enumerate(values)
        if value is not None and {row, column} != {first, second}
    ]
    assert np.abs(others).max() < 2_000
    zones = mesh.read("matrix", by="zone", statistic="p99")
    assert {source for row in zones["asymmetry_sources"] for source in row} <= {"mesh", None}


def test_zones_over_a_range_are_corrected_as_their_vms_are(mesh):
    # One minute to be merged, and windows of the running one that are not.
    newest = window_start()
    minute = newest // 60 * 60 - 120
    for started_at_s in (minute, minute + 10, newest):
        tell(mesh, started_at_s)
        tasks.correct()
    tasks.roll_up()
    # Shorter ranges than five minutes are read from windows alone.
    ranges = {
        "windows": (minute, minute + 60),
        "minutes": (minute - 300, minute + 60),
        "both": (minute - 300, newest + 10),
    }
    for what, (start, end) in ranges.items():
        body = mesh.read("matrix", by="zone", metric="asymmetry", statistic="min", **span(start, end))
        zones = [axis["name"] for axis in body["axis"]]
        ends = path(mesh, 0, 1)
        first, second = zones.index(ends["source"]["zone_name"]), zones.index(ends["target"]["zone_name"])
        # Of the pairs between the two zones one is uneven: it is the fastest one way, others are the other way.
        assert body["values"][first][second] == pytest.approx(HALF, rel=0.05), what
        assert body["values"][second][first] == pytest.approx(-HALF, rel=0.05), what
        assert body["asymmetry_sources"][first][second] == "mesh", what


STORED = "SELECT * FROM corrections ORDER BY started_at"


def test_corrections_go_on_while_they_agree_and_start_anew_when_ways_change(mesh):
    start = window_start(12)
    for n in range(3):
        tell(mesh, start + 10 * n)
        tasks.correct()
    (row,) = rows(STORED)
    assert row.ended_at.timestamp() - row.started_at.timestamp() == 30
    assert (row.loops, row.loop_max_ns) == (20, HALF)
    tasks.correct()
    assert rows(STORED) == [row]
    for n in range(9, 11):
        tell(mesh, start + 10 * n, half_ns=-HALF)
        tasks.correct()
    _, after = rows(STORED)
    assert after.started_at.timestamp() == start + 90
    assert path(mesh, 0, 1)["outbound"]["min_ns"] == pytest.approx(EVEN - HALF, abs=1_000)
    series = mesh.read(f"{mesh.path()}/series", statistic="min", resolution="window")
    known = [value for value in series["outbound"]["delay_ns"] if value is not None]
    assert known == pytest.approx([EVEN + HALF] * 3 + [EVEN - HALF] * 2, abs=1_000)


def test_two_vms_have_no_loop(mesh):
    tell(mesh, window_start(), agents=2)
    tasks.correct()
    assert path(mesh, 0, 1)["outbound"]["asymmetry_source"] == "assumed"


def test_a_shift_moves_every_number_of_a_direction_and_none_of_the_round_trip():
    raws = {5: simple(90_000, 110_000), 6: simple(90_000, 110_000), 7: silent()}
    entry = frame_of(RawWindow(1, raws))
    shifts = np.zeros(2, SHIFTS)
    shifts["client"], shifts["target"] = 1, [5, 7]
    shifts["shift_ns"], shifts["bound_ns"] = 20_000, 77_000
    known, clients = [Corrections(0, 10, shifts)], np.ones(3, np.int64)
    result = corrections.shifting(known, [5], [3], clients, entry.targets)
    stats = corrections.corrected(entry.stats, result)
    sketches = unpacking.shifted(entry.sketches, result.by(entry.stats))
    moved = frame_of(RawWindow(1, {**raws, 5: simple(110_000, 90_000, clock_error_ns=77_000)}))
    exact = [frame.COUNT, frame.SENT, frame.LOST, frame.MIN, frame.MEAN, frame.MAX, frame.CLOCK_ERROR, frame.M2]
    for direction in (OUTBOUND, INBOUND):
        assert np.array_equal(stats.columns[exact, direction], moved.stats.columns[exact, direction])
        codes = stats.quantiles[:, direction, 0].astype(int) - moved.stats.quantiles[:, direction, 0]
        assert np.abs(codes).max() <= 1
        at = [llq16.quantiles(s.words, s.lengths.reshape(-1), [0.5])[0] for s in (sketches, moved.sketches)]
        assert np.abs(at[0] - at[1]).max() <= 1
    assert stats.asymmetry_source.tolist() == [frame.MESH, frame.ASSUMED, frame.MESH]
    assert np.array_equal(stats.columns[:, ROUND_TRIP], entry.stats.columns[:, ROUND_TRIP])
    assert np.array_equal(sketches.lengths[ROUND_TRIP], entry.sketches.lengths[ROUND_TRIP])
    untouched = corrections.corrected(entry.stats, corrections.shifting(known, [5], [3], clients + 1, entry.targets))
    assert untouched is entry.stats
    assert corrections.shifting(known, [1_000], [3], clients, entry.targets) is None


def test_a_window_is_corrected_by_what_its_time_knew():
    shifts = np.zeros(1, SHIFTS)
    first, second = Corrections(100, 130, shifts), Corrections(200, 210, shifts.copy())
    known = [first, second]
    assert [corrections.at(known, at) for at in (90, 209 + corrections.HOLDS_S + 1)] == [None, None]
    assert corrections.at(known, 100) is first.shifts
    assert corrections.at(known, 199) is first.shifts
    assert corrections.at(known, 205) is second.shifts
