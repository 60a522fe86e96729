from datetime import datetime
from typing import Any

import pytest

from tests.api_clients import MeshWorld, body_of
from tests.measurements.matrices import iso, span
from tests.measurements.reports import add_traffic, sent, traffic_of, window_start, window_starts

pytestmark = pytest.mark.agents(2)


def traffic(mesh: MeshWorld, **params: Any) -> dict[str, Any]:
    return body_of(mesh.owner.get(f"/v1/vms/{mesh.agents[0].vm_id}/traffic", params=params))


def test_rates_are_over_the_time_that_was_counted_and_a_missing_window_is_null(mesh: MeshWorld):
    older, missing, newer = window_starts([3, 2, 1])
    report = traffic_of({})
    add_traffic(report, older, 12_500_000, 1_250_000)
    add_traffic(report, newer, 5_000_000, 0, elapsed_s=8.0)
    sent(mesh.agents[0], report)
    found = traffic(mesh, **span(older, newer + 10))
    assert (found["resolution_s"], found["interface"]) == (10, "eth0")
    assert [datetime.fromisoformat(at).timestamp() for at in found["points_at"]] == [older, missing, newer]
    assert found["sent_bit_per_s"] == [10_000_000, None, 5_000_000]
    assert found["received_bit_per_s"] == [1_000_000, None, 0]
    assert found["sent_packets_per_s"] == [1_250, None, 625]
    assert found["peak_sent_bit_per_s"] == found["sent_bit_per_s"]


def test_a_longer_step_has_the_mean_of_its_windows_and_their_peak(mesh: MeshWorld):
    minute = window_start() // 60 * 60 - 60
    sent(mesh.agents[0], traffic_of({minute: 1_000_000, minute + 10: 3_000_000}, bytes_received=500_000))
    found = traffic(mesh, **span(minute - 60, minute + 60), points=2)
    assert found["resolution_s"] == 60
    assert found["sent_bit_per_s"] == [None, 1_600_000]  # 4 MB in the 20 s that were counted
    assert found["peak_sent_bit_per_s"] == [None, 2_400_000]


def test_without_traffic_there_is_no_interface(mesh: MeshWorld):
    sent(mesh.agents[0], traffic_of({window_start(): 1_000}))
    found = traffic(mesh, to=iso(window_start(30)))
    assert found["interface"] is None
    assert set(found["sent_bit_per_s"]) == {None}
