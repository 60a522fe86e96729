"""Waits on VMs in reports: stored once next to the traffic, not available is not 0."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sinemora.measurements.store import host_waits, traffic
from tests.api_clients import MeshWorld, body_of
from tests.measurements.matrices import span
from tests.measurements.reports import add_traffic, golden, host_of, sent, traffic_of, window_start, window_starts
from tests.statements import call

pytestmark = pytest.mark.agents(2)

HOUR = timedelta(hours=1)


def read(mesh: MeshWorld, function: Callable[..., Any], keys: Any, number: int = 10) -> Any:
    """Return what a function reads of VMs in the hours before and after now."""
    now = datetime.now(UTC)
    return call(function, keys, now - HOUR, now + HOUR, number, tenant=mesh.owner.tenant_id)


def steps(mesh: MeshWorld) -> list[host_waits.HostStep]:
    return read(mesh, host_waits.steps, [agent.vm_key for agent in mesh.agents])


def test_the_golden_report_of_the_agent_is_read_once_and_what_is_absent_stays_unknown(mesh: MeshWorld):
    report = golden("host")
    for number, window in enumerate(report.host):
        window.started_at_s = window_start(2 - number)
    for _ in range(2):
        sent(mesh.agents[0], report)
    full, empty = steps(mesh)
    assert full.waits["wake"] == (1_600, 79, 1_279, 50_000)
    assert full.waits["queue"] == (160, 3, 9, 12)
    assert (full.elapsed_ms, full.processors, full.stalled_us) == (10_000, 2, 62_000)
    assert full.counts == {
        **{"steal_ms": 0, "pressure_us": 1_250_000, "throttled_us": 90_000},
        **{"softirq_squeezed": 3, "receive_drops": 0},
    }
    assert set(empty.counts.values()) | set(empty.waits["wake"]) == {None}


@pytest.mark.parametrize("order", ["together", "waits first", "traffic first"])
def test_waits_and_traffic_of_a_window_share_a_row_in_any_order(mesh: MeshWorld, order: str):
    at, alone = window_starts([2, 1])
    waits, counted = host_of({at: 5_000, alone: 7_000}), traffic_of({at: 1_000})
    if order == "together":
        add_traffic(waits, at, 1_000)
        sent(mesh.agents[0], waits)
    else:
        for report in (waits, counted) if order == "waits first" else (counted, waits):
            sent(mesh.agents[0], report)
    assert [step.waits["wake"][3] for step in steps(mesh)] == [5_000, 7_000]
    found = read(mesh, traffic.steps, mesh.agents[0].vm_key)
    assert [step.bytes_sent for step in found] == [1_000]  # A window of waits alone is no traffic of 0.


def test_stalls_are_moments_of_the_backends_time(mesh: MeshWorld):
    at = window_start(2)
    report = host_of({at: 0})
    report.host[0].stall_at_us.extend([-3_000_000, 250_000])
    report.host[0].stall_us.extend([4_000_000, 60_000])
    sent(mesh.agents[0], report)
    found = read(mesh, host_waits.stalls, [mesh.agents[0].vm_key], 2)
    moments = [(stall.at_ns - at * 10**9, stall.length_ns) for stall in found]
    assert moments == [(-3 * 10**9, 4 * 10**9), (250_000_000, 60_000_000)]


def test_waits_over_time_are_shares_of_the_time_that_was_counted(mesh: MeshWorld):
    older, missing, newer = window_starts([3, 2, 1])
    report = host_of({older: 2_000, newer: 90_000})
    window = report.host[1]
    window.elapsed_ns, window.stalled_us, window.processors, window.steal_ms = 20_000_000_000, 5_000_000, 4, 8_000
    window.stall_at_us.append(-12_000_000)
    window.stall_us.append(5_000_000)
    sent(mesh.agents[0], report)
    of_range = span(older, newer + 10)
    found = body_of(mesh.owner.get(f"/v1/vms/{mesh.agents[0].vm_id}/host-waits", params=of_range))
    assert [datetime.fromisoformat(at).timestamp() for at in found["points_at"]] == [older, missing, newer]
    assert found["wake"]["max_us"] == [2_000, None, 90_000]
    assert found["send"]["max_us"] == [None, None, None]
    assert found["stalled_ratio"] == [0.0, None, 0.25]
    assert found["steal_ratio"] == [None, None, 0.1]
    assert found["pressure_ratio"] == [None, None, None]
    assert [datetime.fromisoformat(one["at"]).timestamp() for one in found["stalls"]] == [newer - 12]
