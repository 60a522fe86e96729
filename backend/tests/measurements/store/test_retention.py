"""Retention leaves kept ranges, on either engine, and heeds what a tenant may keep."""

from datetime import UTC, datetime, timedelta

import pytest

from sinemora.measurements import tasks
from sinemora.measurements.query.ranges import tiers
from tests.statements import call, execute, scalars

pytestmark = [pytest.mark.whole_store, pytest.mark.agents(2)]

NOON = timedelta(hours=12)
SEVEN_DAYS = "INSERT INTO tenant_quotas (tenant_id, minute_days) VALUES (:tenant, 7)"


@pytest.fixture
def days(database):
    """Midnight of a day this many days ago, for which partitions are there."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)

    def ago(days: int) -> datetime:
        at = today - timedelta(days=days)
        execute("SELECT make_measurement_partitions(:day, :day)", {"day": at.date()})
        return at

    return ago


def store(mesh, table: str, *times: datetime) -> None:
    frames = "vm_key, block, roster_key, n, stats, sketch", "1, 0, 1, 1, '', ''"
    columns, values = {
        "probe_frames": (frames[0] + ", window_s", frames[1] + ", 10"),
        "probe_frames_1m": (frames[0] + ", window_s, frames", frames[1] + ", 60, 1"),
        "zone_minutes": ("source_zone_key, target_zone_key, exchanges", "1, 2, 8"),
    }[table]
    row = f"INSERT INTO {table} (tenant_key, mesh_key, started_at, {columns}) VALUES (:tenant, :mesh, :at, {values})"
    for at in times:
        execute(row, {"tenant": mesh.owner.tenant_key, "mesh": mesh.key, "at": at})


def stored(table: str, mesh) -> list[datetime]:
    return scalars(f"SELECT started_at FROM {table} WHERE mesh_key = :mesh ORDER BY 1", {"mesh": mesh.key})


def keep(mesh, started_at: datetime, ended_at: datetime, reason: str = "Latency complaint") -> str:
    body = {"mesh_id": str(mesh.id), "started_at": started_at.isoformat(), "ended_at": ended_at.isoformat()}
    return mesh.owner.created("/v1/pins", {**body, "reason": reason})["id"]


def test_a_kept_range_outlives_its_partition_until_it_is_let_go(mesh, days, make_mesh, other_owner):
    other = make_mesh(other_owner, 2)
    noon = days(20) + NOON
    inside = [noon, noon + timedelta(minutes=10), noon + timedelta(minutes=59, seconds=50)]
    outside = [noon - timedelta(hours=1), noon + timedelta(hours=1)]
    for at in (days(0) + timedelta(seconds=1), days(21) + NOON, *inside, *outside):
        store(mesh, "probe_frames", at)
        store(other, "probe_frames", at)
    for table in ("probe_frames_1m", "zone_minutes"):
        store(mesh, table, days(40) + NOON, noon)
    pin = keep(mesh, noon, noon + timedelta(hours=1))
    for _ in range(2):  # again changes nothing
        tasks.partitions()
        assert stored("probe_frames", mesh) == [*inside, days(0) + timedelta(seconds=1)]
    assert stored("probe_frames", other) == [days(0) + timedelta(seconds=1)]
    assert stored("probe_frames_1m", mesh) == stored("zone_minutes", mesh) == [noon]  # the days of their own
    assert mesh.owner.delete(f"/v1/pins/{pin}").status_code == 204
    tasks.partitions()
    assert stored("probe_frames", mesh) == [days(0) + timedelta(seconds=1)]


def test_a_kept_range_is_read_at_the_tiers_that_were_there_when_it_was_made(mesh, days):
    start, end = days(40) + NOON + timedelta(minutes=7), days(40) + NOON + timedelta(minutes=52)
    store(mesh, "probe_frames_1m", days(40) + NOON, days(1))

    def read(start: datetime, end: datetime) -> tuple[datetime, datetime, set[str]]:
        first, last, parts = call(tiers, mesh.key, start, end, tenant=mesh.owner.tenant_id)
        return first, last, {str(part.tier) for part in parts}

    coarse = (start - timedelta(minutes=7), end, {"probe_frames_1m"})
    short = (start, start + timedelta(minutes=2))
    assert read(start, end) == coarse
    pin = keep(mesh, start, end)  # made when minutes had gone already
    assert read(start, end) == coarse
    for made_ago, of_short in ((20, "probe_frames_1m"), (39, "probe_frames")):
        execute("UPDATE pins SET created_at = :at WHERE id = :id", {"at": days(made_ago), "id": pin})
        assert read(start, end) == (start, end, {"probe_frames_1m"})
        assert read(*short) == (*short, {of_short})
    assert read(start - timedelta(minutes=1), end) == (start - timedelta(minutes=7), end, {"probe_frames_1m"})


@pytest.mark.parametrize("table", ["probe_frames_1m", "zone_minutes"])
def test_a_tenant_keeps_as_long_as_it_may(mesh, days, make_mesh, other_owner, table):
    other = make_mesh(other_owner, 2)
    times = [days(ago) + NOON for ago in (25, 10, 2)]
    for item in (mesh, other):
        store(item, table, *times)
    keep(mesh, times[0] - timedelta(minutes=5), times[0] + timedelta(minutes=5))
    execute(SEVEN_DAYS, {"tenant": mesh.owner.tenant_id})
    tasks.shorten()
    assert stored(table, mesh) == [times[0], times[2]]
    assert stored(table, other) == times
    limits = {item["resource"]: item["limit"] for item in mesh.owner.get("/v1/usage").json()["items"]}
    assert (limits["minute_days"], limits["raw_days"]) == (7, 3)


def test_kept_ranges_are_listed_and_limited(mesh, days):
    first, second = keep(mesh, days(9), days(8), "one"), keep(mesh, days(5), days(4), "two")
    page = mesh.owner.get("/v1/pins", params={"limit": 1, "mesh_id": str(mesh.id)}).json()
    assert [item["id"] for item in page["items"]] == [second]
    assert page["items"][0]["reason"] == "two"
    assert page["items"][0]["made_by"] == mesh.owner.email
    rest = mesh.owner.get("/v1/pins", params={"cursor": page["next_cursor"]}).json()
    assert [item["id"] for item in rest["items"]] == [first]
    body = {"mesh_id": str(mesh.id), "reason": "long"}
    for start, end, code in ((days(9), days(1), "pin_too_long"), (days(1), days(2), "range_invalid")):
        times = {"started_at": start.isoformat(), "ended_at": end.isoformat()}
        assert mesh.owner.post("/v1/pins", json=body | times).json()["code"] == code
