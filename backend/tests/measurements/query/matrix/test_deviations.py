"""Deviations from baselines through HTTP: which stored steps they compare with, and what is unusual."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sinemora.measurements import tasks
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.query.matrix.baselines import MINUTES_MIN
from sinemora.measurements.store.tiers import Tier, floor
from tests.api_clients import MeshWorld
from tests.measurements.reports import window_start
from tests.measurements.usual import (
    RISE_NS,
    USUAL_NS,
    deviations,
    hour_of,
    hour_of_newest,
    keep_days,
    keep_steps,
    measure,
    rise,
)


@pytest.fixture
def mesh(owner, make_mesh) -> MeshWorld:
    """Four agents in three zones: a-1, b-1, c-1, a-2."""
    shared_cache.cache_clear()
    return make_mesh(owner, 4)


def matrix(mesh: MeshWorld, **params):
    return mesh.read("matrix", metric="deviation", **params)


def flat(rows: list[list[Any]]) -> list[Any]:
    return [one for row in rows for one in row]


def test_without_history_there_is_no_baseline(mesh):
    measure(mesh, window_start())
    found = deviations(mesh)
    assert (found["compared"], found["unusual"], found["no_baseline"], found["items"]) == (0, 0, 12, [])
    whole = matrix(mesh)
    assert whole["states"][0] == ["not_planned", *["no_baseline"] * 3]
    assert whole["baseline"]["basis"] == [[None] * 4] * 4
    assert whole["values"] == [[None] * 4] * 4


def test_without_any_window_paths_wait_for_data(mesh):
    keep_days(mesh, 3)
    assert matrix(mesh)["states"][0] == ["not_planned", *["no_data"] * 3]
    assert deviations(mesh)["compared"] == 0


def test_a_wholly_stale_mesh_keeps_the_changes_of_its_last_values(mesh):
    stale = window_start() - 600
    keep_days(mesh, 4, hour=hour_of(stale))
    measure(mesh, stale, rise(mesh, 0, 2))
    found = deviations(mesh)
    assert (found["compared"], found["unusual"], found["no_baseline"]) == (0, 0, 0)
    whole = matrix(mesh)
    assert whole["states"][0] == ["not_planned", *["stale"] * 3]
    assert flat(whole["baseline"]["basis"]).count("same_hour") == 12
    place = {axis["name"]: at for at, axis in enumerate(whole["axis"])}
    assert whole["values"][place["a-1"]][place["c-1"]] == pytest.approx(RISE_NS, rel=0.02)
    assert flat(whole["values"]).count(None) == 4


def test_a_rise_of_one_direction_is_the_one_unusual_path(mesh):
    keep_days(mesh, 4)
    measure(mesh, window_start(), rise(mesh, 0, 2))
    found = deviations(mesh)
    assert (found["compared"], found["unusual"]) == (12, 1)
    assert found["basis"] == {"same_hour": 12, "last_day": 0, "last_hour": 0, "all_hours": 0}
    (path,) = found["items"]
    assert (path["source"]["name"], path["target"]["name"]) == ("a-1", "c-1")
    assert path["baseline_ns"] == pytest.approx(USUAL_NS, rel=0.01)
    assert path["deviation_ns"] == pytest.approx(RISE_NS, rel=0.02)
    assert path["deviation_ns"] == path["value_ns"] - path["baseline_ns"]
    assert (path["basis"], path["steps"], path["is_unusual"]) == ("same_hour", 4, True)
    source, target = path["source"]["id"], path["target"]["id"]
    assert mesh.owner.get(f"/v1/meshes/{mesh.id}/deviations/{source}/{target}").json().items() <= path.items()
    back = mesh.owner.get(f"/v1/meshes/{mesh.id}/deviations/{target}/{source}").json()
    assert (back["is_unusual"], back["state"]) == (False, "measured")
    assert abs(back["deviation_ns"]) <= back["dead_band_ns"]


def test_few_days_are_no_basis_but_the_last_day_is(mesh):
    keep_days(mesh, 2, skipped=1, delay_ns=900_000)  # yesterday's hour is part of the last day
    hour = hour_of_newest()
    keep_steps(mesh, {hour - timedelta(hours=ago): {} for ago in range(2, 7)})
    keep_steps(mesh, {hour - timedelta(hours=1): {}}, delay_ns=5_000_000)  # the last hour is no part of it
    measure(mesh, window_start())
    found = deviations(mesh)
    assert (found["compared"], found["unusual"]) == (12, 0)
    assert found["basis"] == {"same_hour": 0, "last_day": 12, "last_hour": 0, "all_hours": 0}
    assert matrix(mesh)["baseline"]["steps"][0][1] == 5


def test_a_new_vm_is_compared_with_what_it_has(mesh):
    keep_days(mesh, 3, without=3)
    hour = hour_of_newest()
    keep_steps(mesh, {hour - timedelta(hours=ago): {} for ago in range(2, 5)})
    measure(mesh, window_start())
    assert deviations(mesh)["basis"] == {"same_hour": 6, "last_day": 6, "last_hour": 0, "all_hours": 0}


@pytest.mark.whole_store
@pytest.mark.parametrize("few", [0, 1])
def test_a_young_mesh_is_compared_with_the_last_hour(mesh, few):
    start = window_start(1, 60)
    for minutes in range(12, 12 + MINUTES_MIN - few):
        measure(mesh, start - 60 * minutes)
    for minutes in (3, 2):  # recent minutes are part of the change
        measure(mesh, start - 60 * minutes, rise(mesh, 0, 2))
    tasks.roll_up()
    measure(mesh, window_start(), rise(mesh, 0, 2))
    found = deviations(mesh)
    if few:
        assert (found["compared"], found["no_baseline"]) == (0, 12)
        return
    assert (found["compared"], found["unusual"], found["basis"]["last_hour"]) == (12, 1, 12)
    zones = deviations(mesh, by="zone")
    assert zones["basis"]["last_hour"] == zones["compared"] == 9 - 2  # no path inside b and c


def test_a_young_path_of_an_older_mesh_waits_for_as_many_minutes(mesh):
    newest = floor(datetime.now(UTC), 300) - timedelta(minutes=6)
    times = [newest - timedelta(minutes=minutes) for minutes in range(MINUTES_MIN + 5)]
    keep_steps(mesh, {at: {} for at in times[: MINUTES_MIN - 1]}, tier=Tier.MINUTE)
    keep_steps(mesh, {at: {} for at in times[MINUTES_MIN - 1 :]}, without=3, tier=Tier.MINUTE)
    measure(mesh, window_start())
    found = deviations(mesh)
    assert (found["compared"], found["no_baseline"], found["basis"]["last_hour"]) == (6, 6, 6)


@pytest.mark.parametrize("by", ["vm", "zone"])
def test_a_spread_of_days_widens_the_dead_band(mesh, by):
    hour = hour_of_newest()
    for ago, delay_ns in zip(range(2, 8), (150_000, 180_000, 200_000, 210_000, 230_000, 260_000), strict=True):
        keep_steps(mesh, {hour - timedelta(hours=ago): {}}, delay_ns=delay_ns)
    measure(mesh, window_start())
    read = matrix(mesh, by=by)
    assert read["baseline"]["value_ns"][0][1] == pytest.approx(205_000, rel=0.02)
    # 1.4826 × 1.2 × the median of 55, 25, 5, 5, 25, 55 µs; more than three of them where several are compared
    assert read["baseline"]["dead_band_ns"][0][1] == pytest.approx(3.3 * 1.4826 * 1.2 * 25_000, rel=0.15)


def test_zone_pairs_have_baselines_of_their_own_frames(mesh):
    keep_days(mesh, 3)
    measure(mesh, window_start(), {**rise(mesh, 0, 2), **rise(mesh, 3, 2)})
    found = deviations(mesh, by="zone")
    (pair,) = found["items"]
    assert (pair["source"]["name"], pair["target"]["name"]) == ("a", "c")
    assert pair["deviation_ns"] == pytest.approx(RISE_NS, rel=0.02)
    source, target = pair["source"]["id"], pair["target"]["id"]
    answer = mesh.owner.get(f"/v1/meshes/{mesh.id}/deviations/{source}/{target}", params={"by": "zone"})
    assert answer.json().items() <= pair.items()


def test_a_range_is_compared_with_what_was_before_it(mesh):
    hour = hour_of_newest() - timedelta(hours=3)
    keep_steps(mesh, {hour - timedelta(hours=ago): {} for ago in range(2, 5)})
    keep_steps(mesh, {hour: {}}, delay_ns=USUAL_NS + RISE_NS)
    read = matrix(mesh, **{"from": hour.isoformat(), "to": (hour + timedelta(hours=1)).isoformat()})
    assert read["values"][0][1] == pytest.approx(RISE_NS, rel=0.02)
    assert read["baseline"]["basis"][0][1] == "last_day"


def test_a_vm_lists_its_row_and_its_column_worst_first(mesh: MeshWorld):
    vm = mesh.agents[0]
    path = f"/v1/vms/{vm.vm_id}/paths"
    (empty,) = mesh.owner.get(path).json()["meshes"]
    assert (empty["mesh"]["name"], empty["outbound"]["measured"], empty["outbound"]["median_ns"]) == ("demo", 0, None)
    assert (empty["outbound"]["paths"], empty["outbound"]["worst"], empty["clock_error_ns"]) == (3, [], None)
    keep_days(mesh, 3)
    measure(mesh, window_start(), rise(mesh, 0, 2))
    (of_mesh,) = mesh.owner.get(path, params={"limit": 2}).json()["meshes"]
    outbound, inbound = of_mesh["outbound"], of_mesh["inbound"]
    assert (outbound["measured"], outbound["unusual"], inbound["measured"], inbound["unusual"]) == (3, 1, 3, 0)
    assert outbound["median_ns"] == pytest.approx(USUAL_NS, rel=0.02)
    assert [len(outbound["worst"]), len(inbound["worst"])] == [2, 2]
    worst = outbound["worst"][0]
    assert (worst["source"]["name"], worst["target"]["name"], worst["is_unusual"]) == ("a-1", "c-1", True)
    assert worst["deviation_ns"] == pytest.approx(RISE_NS, rel=0.02)
    assert {one["target"]["name"] for one in inbound["worst"]} == {"a-1"}
    assert [one["loss"] for one in inbound["worst"]] == [0, 0]


@pytest.mark.parametrize(("days", "is_within"), [(7, True), (7, False), (1, False)])
def test_a_long_range_has_the_worst_hour_of_each_path(mesh, days, is_within):
    """Two weeks of usual hours, one of which has a slow path from a-1 to c-1, in the range or not."""
    newest = hour_of_newest()
    worst = newest - timedelta(hours=30)
    hours = [newest - timedelta(hours=back) for back in range(1, 15 * 24)]
    keep_steps(mesh, {at: rise(mesh, 0, 2) if at == worst else {} for at in hours})
    end = newest if is_within or days == 1 else worst
    span = {"from": (end - timedelta(days=days)).isoformat(), "to": end.isoformat()}
    found, whole = deviations(mesh, **span), matrix(mesh, **span)
    names = [end["name"] for end in whole["axis"]]
    unusual = {("a-1", "c-1"): worst} if is_within else {}
    assert found["unusual"] == len(unusual)
    for item, ((source, target), at) in zip(found["items"], unusual.items(), strict=True):
        assert (item["source"]["name"], item["target"]["name"], item["basis"]) == (source, target, "all_hours")
        assert item["deviation_ns"] == pytest.approx(RISE_NS, rel=0.02)
        assert datetime.fromisoformat(item["worst_hour_at"]) == datetime.fromisoformat(item["onset_at"]) == at
        assert whole["values"][names.index(source)][names.index(target)] == item["deviation_ns"]
        path = f"/v1/meshes/{mesh.id}/deviations/{item['source']['id']}/{item['target']['id']}"
        assert mesh.owner.get(path, params=span).json().items() <= item.items()


def test_a_long_range_lists_each_cause_once_by_its_relative_change_and_duration(mesh):
    """An hour of +400 µs from a-1 to c-1 weighs less than three hours of +200 µs at b-1, whose worst path is listed."""
    newest = hour_of_newest()
    brief, long = [30], [50, 51, 52]
    slow = {**rise(mesh, 1, 3, RISE_NS // 2), **rise(mesh, 1, 2, RISE_NS // 4)}
    changes = dict.fromkeys(brief, rise(mesh, 0, 2)) | dict.fromkeys(long, slow)
    keep_steps(mesh, {newest - timedelta(hours=back): changes.get(back, {}) for back in range(1, 15 * 24)})
    found = deviations(mesh, **{"from": (newest - timedelta(days=7)).isoformat(), "to": newest.isoformat()})
    assert found["unusual"] == 3
    assert [
        (item["source"]["name"], item["target"]["name"], item["unusual_s"], item["alike"]) for item in found["items"]
    ] == [("b-1", "a-2", 3 * 3600, 1), ("a-1", "c-1", 3600, 0)]


def test_an_hour_that_is_merged_again_counts_at_once(mesh):
    """Reports of an old hour that come late, from an import or a queue, are merged into it again."""
    newest = hour_of_newest()
    keep_steps(mesh, {newest - timedelta(hours=back): {} for back in range(1, 15 * 24)})
    span = {"from": (newest - timedelta(days=7)).isoformat(), "to": newest.isoformat()}
    assert deviations(mesh, **span)["unusual"] == 0
    keep_steps(mesh, {newest - timedelta(hours=30): rise(mesh, 0, 2)})
    assert deviations(mesh, **span)["unusual"] == 1
