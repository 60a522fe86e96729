"""A matrix a window: which windows are read, and what stands in them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from sinemora.fleet.meshes.service import mesh_state
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.codec import flows, frame, unpacking
from sinemora.measurements.query.matrix import history
from tests.api_clients import MeshWorld
from tests.measurements.codec.test_native import frames, round_trips_of
from tests.recommendations.measured_mesh import APART_S, WINDOWS, measured
from tests.statements import call

GOLDEN = Path(__file__).parents[2] / "codec" / "golden"
TRIPS = {("a-1", "c-1"): 90.0, ("a-1", "b-1"): 700.0}


@pytest.mark.parametrize("quantile", range(3))
def test_values_of_slowest_flows_are_those_of_all_stats(quantile):
    result = [frame.encode_stats(entry.stats) for entry in frames(np.random.default_rng(3), 20)]
    blobs = [*result, (GOLDEN / "stats.v3").read_bytes()]
    whole = flows.slowest(unpacking.stats_of(blobs))
    assert np.array_equal(unpacking.slowest_values(blobs, quantile), round_trips_of(whole, quantile))
    several = unpacking.slowest_values(blobs, quantile) != unpacking.round_trip_values(blobs, quantile)
    assert several.any()
    assert not several.all()
    assert not unpacking.slowest_values([], quantile).size


def seen(mesh: MeshWorld, blocks_max: int) -> history.MatrixHistory:
    now, tenant = datetime.now(UTC), mesh.owner.tenant_id
    state = call(mesh_state, mesh.id, tenant=tenant)
    return call(history.round_trips, state, now - timedelta(minutes=15), now, Statistic.P50, blocks_max, tenant=tenant)


def test_each_pair_has_what_was_measured_in_every_window(mesh: MeshWorld):
    measured(mesh, TRIPS)
    result = seen(mesh, 10_000)
    names = [agent.name for agent in mesh.agents]
    assert result.round_trips_ns.shape == (WINDOWS, 3, 3)
    assert set(result.window_s.tolist()) == {10}
    assert np.diff(result.started_at_s).tolist() == [APART_S] * (WINDOWS - 1)
    for (item, other), us in TRIPS.items():
        at = result.round_trips_ns[:, names.index(item), names.index(other)]
        assert at == pytest.approx(us * 1e3, abs=20e3)
        assert np.array_equal(at, result.round_trips_ns[:, names.index(other), names.index(item)])
    assert np.isnan(result.round_trips_ns[:, range(3), range(3)]).all()


def test_windows_beyond_the_budget_are_left_out_evenly(mesh: MeshWorld):
    measured(mesh, TRIPS)
    every = seen(mesh, 10_000)
    some = seen(mesh, 6 * 3)
    assert some.started_at_s.tolist() == every.started_at_s[1::2].tolist()
    assert np.array_equal(some.round_trips_ns, every.round_trips_ns[1::2], equal_nan=True)
    assert seen(mesh, 1).started_at_s.size == history.WINDOWS_MIN


def test_a_mesh_without_windows_has_an_empty_history(mesh: MeshWorld):
    assert seen(mesh, 10_000).span is None
