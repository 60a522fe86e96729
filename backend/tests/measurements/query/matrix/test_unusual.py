"""The most unusual paths through HTTP: their onset, from changes at known windows, and their last hour."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta

import pytest

from sinemora.measurements import tasks
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.store.tiers import Tier, floor
from tests.api_clients import MeshWorld
from tests.measurements.reports import window_starts
from tests.measurements.usual import RISE_NS, USUAL_NS, Changes, deviations, keep_days, keep_steps, measure_all, rise
from tests.measurements.worlds import silent

SOURCE, TARGET = 0, 2


@pytest.fixture
def mesh(owner, make_mesh) -> MeshWorld:
    """Four agents in three zones: a-1, b-1, c-1, a-2."""
    shared_cache.cache_clear()
    world = make_mesh(owner, 4)
    keep_days(world, 4)
    return world


def lose(mesh: MeshWorld) -> Changes:
    """Return the loss of all packets between the two VMs."""
    return {(SOURCE, TARGET): silent(), (TARGET, SOURCE): silent()}


def play(mesh: MeshWorld, story: str) -> list[int]:
    """Send one window a character: `.` usual, `#` risen, `x` all packets lost, a blank none. Return their starts."""
    kinds: dict[str, Callable[[], Changes]] = {
        ".": dict,
        "#": lambda: rise(mesh, SOURCE, TARGET),
        "x": lambda: lose(mesh),
    }
    starts = window_starts(range(len(story), 0, -1))
    measure_all(mesh, {start: kinds[kind]() for kind, start in zip(story, starts, strict=True) if kind != " "})
    return starts


def onset_of(found: dict) -> tuple[int, bool]:
    (item,) = found["items"]
    assert (item["source"]["name"], item["target"]["name"]) == ("a-1", "c-1")
    return round(datetime.fromisoformat(item["onset_at"]).timestamp()), item["is_onset_known"]


@pytest.mark.parametrize(
    ("story", "onset"),
    [
        pytest.param("......######", 6, id="a step"),
        pytest.param(".. ...## ###", 6, id="windows are missing"),
        pytest.param(".###..##.###", 9, id="a path that flaps"),
        pytest.param("......##xx##", 6, id="all packets lost for a while"),
    ],
)
def test_the_onset_is_the_first_window_of_the_run(mesh: MeshWorld, story: str, onset: int):
    starts = play(mesh, story)
    assert onset_of(deviations(mesh)) == (starts[onset], True)


@pytest.mark.whole_store
@pytest.mark.parametrize("by", ["vm", "zone"])
def test_the_onset_is_found_in_merged_minutes(mesh: MeshWorld, by: str):
    # Four minutes and more, of which those that are over are merged; the change begins in the middle of one.
    story = "." * 30 + "#" * 20
    starts = window_starts(range(len(story), 0, -1))
    onset = next(at for at in range(20, 30) if starts[at] % 60 == 40)
    changes = {**rise(mesh, SOURCE, TARGET), **rise(mesh, 3, TARGET)} if by == "zone" else rise(mesh, SOURCE, TARGET)
    measure_all(mesh, {start: changes if at >= onset else {} for at, start in enumerate(starts)})
    tasks.roll_up()
    (item,) = deviations(mesh, by=by)["items"]
    onset_s = datetime.fromisoformat(item["onset_at"]).timestamp()
    # Zones have no windows: the first minute whose median is unusual.
    assert onset_s == (starts[onset] if by == "vm" else starts[onset] // 60 * 60 + 60)
    assert item["is_onset_known"]


@pytest.mark.parametrize("hours", [5, 30])
def test_a_long_run_is_found_in_quarters_of_an_hour(mesh: MeshWorld, hours: int):
    quarter = timedelta(seconds=Tier.QUARTER.step_s)
    newest = floor(datetime.now(UTC), Tier.QUARTER.step_s)
    began = newest - timedelta(hours=hours)
    times = [newest - ago * quarter for ago in range(5, 4 * 25)]
    keep_steps(mesh, {at: rise(mesh, SOURCE, TARGET) if at >= began else {} for at in times}, tier=Tier.QUARTER)
    (start,) = play(mesh, "#")
    onset_s, is_known = onset_of(deviations(mesh))
    if hours < 24:
        assert (onset_s, is_known) == (began.timestamp(), True)
    else:
        assert not is_known
        assert 23.7 * 3600 < start - onset_s < 24.3 * 3600


def test_the_last_hour_has_a_gap_where_nothing_is_known(mesh: MeshWorld):
    starts = play(mesh, "..x ##")
    (item,) = deviations(mesh)["items"]
    times = [round(datetime.fromisoformat(at).timestamp()) for at in item["last_hour"]["points_at"]]
    delays = dict(zip(times, item["last_hour"]["delay_ns"], strict=True))
    assert times == sorted(set(times))
    ended = starts[-1] + 10
    assert (times[-1], ended - times[0] >= 3_600) == (starts[-1], True)
    found = [delays.get(start) for start in starts]
    assert found[2:4] == [None, None]
    assert [delay for delay in found if delay] == pytest.approx(
        [USUAL_NS, USUAL_NS, USUAL_NS + RISE_NS, USUAL_NS + RISE_NS], rel=0.02
    )


def test_a_path_that_loses_everything_now_is_not_listed(mesh: MeshWorld):
    play(mesh, "..##x")
    assert deviations(mesh)["items"] == []


def test_a_second_answer_repeats_the_first(mesh: MeshWorld):
    play(mesh, "..........######")
    first, second = deviations(mesh), deviations(mesh)
    assert first == second


def names(items: Collection[dict]) -> list[str]:
    return [item["source"]["name"] for item in items]


def test_each_listed_path_has_its_own_onset_the_slower_one_first(mesh: MeshWorld):
    starts = window_starts(range(8, 0, -1))
    measure_all(
        mesh,
        {
            start: (rise(mesh, 0, 2, 100_000) if at >= 3 else {}) | (rise(mesh, 1, 3, -190_000) if at >= 6 else {})
            for at, start in enumerate(starts)
        },
    )
    items = deviations(mesh)["items"]
    onsets = {item["source"]["name"]: datetime.fromisoformat(item["onset_at"]).timestamp() for item in items}
    assert names(items) == ["a-1", "b-1"]
    assert onsets == {"a-1": starts[3], "b-1": starts[6]}
