"""The hours of earlier weeks, from the store to what is ordinary now."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import text

from sinemora.alerts import seasons, world
from sinemora.alerts.evaluation.rule import Condition, Kind, Rule
from sinemora.alerts.seasons import WEEKS_MIN, seasons_of
from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements import frame, writes
from sinemora.measurements.matrix import Metric, Statistic
from sinemora.measurements.tiers import Tier, floor
from sinemora.measurements.writes import FrameRow, RosterKeys
from sinemora.meshes.plan import is_client
from sinemora.meshes.service import mesh_state
from tests.alerts.conftest import Watched
from tests.measurements.worlds import RawWindow, frame_of, simple

SERIES = (Metric.ONE_WAY_DELAY, Statistic.P50)
RULE = Rule("usual", "Usual", Condition(Kind.BASELINE))


def keep_hour(watched: Watched, at: datetime, delay_ns: int) -> None:
    """Store an hour of all paths."""
    keys = [agent.vm_key for agent in watched.world.agents]
    rows = []
    with tenant_session(watched.owner.tenant_id) as session:
        tenant_key = session.info["tenant_key"]
    for key in keys:
        peers = {other: simple(delay_ns) for other in keys if other != key and is_client(key, other)}
        for number, block in enumerate(frame_of(RawWindow(key, peers)).blocks()):
            whole = (frame.encode_stats(block.stats), frame.encode_sketches(block.sketches))
            started_at_s = int(at.timestamp())
            rows.append(FrameRow(tenant_key, watched.world.key, started_at_s, key, number, 3600, block.targets, *whole))
    with system_session() as session:
        session.execute(
            text("SELECT make_measurement_partitions(:at, :at)"),
            {"at": at.date()},
        )
        writes.store_merged(session, Tier.HOUR, rows, {}, RosterKeys())


@pytest.mark.parametrize("weeks", [WEEKS_MIN - 1, WEEKS_MIN])
def test_the_same_hour_of_earlier_weeks_says_what_is_ordinary(watched: Watched, weeks: int):
    seasons.forget()
    now = datetime.now(UTC)
    hour = floor(now - timedelta(seconds=1), 3600)
    for week in range(1, weeks + 1):
        keep_hour(watched, hour - timedelta(weeks=week), 300_000 + 1000 * week)
        keep_hour(watched, hour - timedelta(weeks=week) + timedelta(hours=1), 500_000)
    with tenant_session(watched.owner.tenant_id) as session:
        mesh = mesh_state(session, watched.world.id)
        found = seasons_of(session, mesh, [RULE], int(now.timestamp()))(*SERIES)
        if weeks < WEEKS_MIN:
            assert found is None
            return
        assert found is not None
        whole = world.planned(mesh.members)
        assert np.allclose(found.level[whole], 302_000, rtol=0.01)
        assert np.allclose(found.highest[whole], 500_000, rtol=0.01)  # the hour after it
        assert np.isnan(found.level[~whole]).all()
        again = seasons_of(session, mesh, [RULE], int(now.timestamp()))(*SERIES)
        assert again is found  # read once an hour
