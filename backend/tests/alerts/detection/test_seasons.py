"""The hours of earlier weeks, from the store to what is usual now."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from sinemora.alerts.detection import preview, seasons
from sinemora.alerts.detection.seasons import WEEKS_MIN, seasons_of
from sinemora.alerts.evaluation.baseline import LEARNT_LONG
from sinemora.alerts.evaluation.breach import Season
from sinemora.alerts.evaluation.rule import Condition, Kind, Rule
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.db import tenant_session
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.store.tiers import floor
from tests.alerts.conftest import Watched
from tests.measurements.usual import keep_steps

SERIES = (Metric.ONE_WAY_DELAY, Statistic.P50)
HOUR = datetime(2026, 11, 20, 10, tzinfo=UTC)
RULE = Rule("usual", "Usual", Condition(Kind.BASELINE))


@pytest.mark.parametrize("weeks", [WEEKS_MIN - 1, WEEKS_MIN])
def test_a_season_is_the_median_of_earlier_weeks(watched: Watched, weeks: int):
    seasons.forget()
    now = datetime.now(UTC)
    hour = floor(now - timedelta(seconds=1), 3600)
    for week in range(1, weeks + 1):
        keep_steps(watched.world, {hour - timedelta(weeks=week): {}}, 300_000 + 1000 * week)
        keep_steps(watched.world, {hour - timedelta(weeks=week, hours=-1): {}}, 500_000)
    with tenant_session(watched.owner.tenant_id) as session:
        mesh = mesh_state(session, watched.world.id)
        season = seasons_of(session, mesh, [RULE], int(now.timestamp()))(*SERIES)
        if weeks < WEEKS_MIN:
            assert season is None
            return
        whole = mesh.planned
        assert np.allclose(season.level[whole], 302_000, rtol=0.01)
        assert np.allclose(season.highest[whole], 500_000, rtol=0.01)  # the hour after it
        assert np.isnan(season.level[~whole]).all()
        again = seasons_of(session, mesh, [RULE], int(now.timestamp()))(*SERIES)
        assert again is season  # read once an hour


def test_a_preview_notes_a_missing_weekly_baseline(watched: Watched):
    watched.report()
    condition = {"kind": "baseline", "deviations": 5, "rise_ns": 15_000, "timescale": "long"}

    def notes() -> list[str]:
        found = watched.preview(0, 1, condition, hours=3, sources_min=2)
        return [note.split(":")[0] for note in found["notes"]]

    assert notes() == ["Needs 2 VMs", "Shorter baseline", "No weekly baseline"]
    hour = floor(datetime.now(UTC), 3600)
    keep_steps(watched.world, {hour - timedelta(weeks=week + 1, hours=1): {} for week in range(WEEKS_MIN)}, 500_000)
    assert notes() == ["Needs 2 VMs", "Shorter baseline"]


def test_a_preview_does_not_fire_on_weekly_events():
    rule = Rule("preview", "Tried", Condition(Kind.BASELINE, deviations=5, rise_ns=15_000), x=1, y=1)
    delays = np.full(LEARNT_LONG + 20, 200_000, np.float32)
    delays[-10:] = 400_000
    columns = {Statistic.P50: delays}
    no_seasons: list[Season | None] = [None] * delays.size
    _, limits, firing = preview.evaluated(rule, columns, no_seasons, 10)
    assert (firing[-1], limits[-1] < 300_000) == (True, True)
    hours = {HOUR - timedelta(weeks=week, hours=1): 400_000.0 for week in range(1, WEEKS_MIN + 1)}
    assert seasons.season_of_path(hours, HOUR) is None  # neighbouring hours count only where the hour itself is known
    assert seasons.season_of_path({HOUR - timedelta(days=day): 300_000.0 for day in (1, 2)}, HOUR) is None
    days = seasons.season_of_path({HOUR - timedelta(days=day): 300_000.0 for day in (1, 2, 4)}, HOUR)
    assert (np.isnan(days.level[0]), days.highest[0]) == (True, 300_000)  # usual, but no level of the week
    hours |= {HOUR - timedelta(weeks=week): 200_000.0 for week in range(1, WEEKS_MIN + 1)}
    usual = seasons.season_of_path(hours, HOUR + timedelta(minutes=30))
    assert (usual.level[0], usual.highest[0]) == (200_000, 400_000)
    _, limits, firing = preview.evaluated(rule, columns, [usual] * delays.size, 10)
    assert (firing.any(), limits[-1] > 400_000) == (False, True)
