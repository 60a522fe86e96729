"""A tenant with two days of measurements that are old enough to be aged, and storage to age them to."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lab.object_storage_server import ObjectStorageServer
from sinemora.kit import config
from sinemora.kit.db import Base
from sinemora.measurements import tasks
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.store.aged import reading
from sinemora.measurements.store.aged.catalogue import AGED_TABLES
from tests.api_clients import MakeMesh, MeshWorld
from tests.measurements.reports import sent_together
from tests.measurements.worlds import simple
from tests.statements import execute, rows, scalar, scalars

AGE_DAYS = 70
"""Days that the measurements are moved into the past."""
_WINDOWS_S = 240
_HOURS = 2


@pytest.fixture
def storage(use_storage: Callable[[dict[str, str]], ObjectStorageServer]) -> ObjectStorageServer:
    """Return the storage, set for the product, which ages after five days and keeps minutes for 400."""
    days = {"AGED_AFTER": "5", "RETENTION_1M": "400", "RETENTION_15M": "400"}
    server = use_storage({f"SINEMORA_{name}_DAYS": value for name, value in days.items()})
    forget()
    return server


def forget() -> None:
    """Empty the caches of answers and of objects."""
    shared_cache.cache_clear()
    reading._footers.clear()
    reading._groups.clear()


@dataclass
class AgedWorld:
    """A mesh whose measurements are between `start` and `end`, long ago."""

    mesh: MeshWorld
    start: datetime
    end: datetime

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each table that the database has."""
        return {
            name: scalar(f"SELECT count(*) FROM {name} WHERE mesh_key = {self.mesh.key}") or 0 for name in AGED_TABLES
        }

    def objects(self, state: str = "current") -> list[Any]:
        """Return the rows of the catalogue in a state."""
        found = "SELECT * FROM aged_objects WHERE mesh_key = :key AND state = :state ORDER BY started_at"
        return rows(found, {"key": self.mesh.key, "state": state})

    def answers(self) -> dict[str, bytes]:
        """Return the bodies of many queries of the range, computed from what is stored."""
        forget()
        owner, agents = self.mesh.owner, self.mesh.agents
        zones = {zone["name"]: zone["id"] for zone in owner.get("/v1/zones").json()["items"]}
        pair = f"zones:{zones['a']}:{zones['b']}"
        path = f"path:{agents[0].vm_id}:{agents[1].vm_id}"
        whole = {"from": self.start.isoformat(), "to": self.end.isoformat()}
        middle = self.start + timedelta(minutes=47)
        short = {"from": middle.isoformat(), "to": (middle + timedelta(minutes=7)).isoformat()}
        asked: list[tuple[str, dict[str, Any]]] = [
            ("matrix", whole),
            ("matrix", {**whole, "statistic": "p99", "by": "zone"}),
            ("matrix", {**short, "metric": "loss"}),
            ("matrix", {**short, "by": "zone", "statistic": "p999"}),
            ("series", {**whole, "selections": [pair, path, "mesh"], "statistics": ["p50", "p99"]}),
            ("series", {**short, "selections": [path], "statistics": ["max"]}),
            ("series", {**whole, "selections": [pair], "points": 4, "metric": "round_trip"}),
            ("distribution", {**whole, "selections": [pair, path]}),
            ("latency-budgets", {**whole, "selections": [path]}),
            ("variability", {**whole, "selections": ["mesh"]}),
            ("losses", {**whole, "selections": ["mesh"], "interval": "1h"}),
            ("windows", {**whole, "format": "csv", "merged": True, "selections": ["mesh"]}),
            ("windows", {**short, "format": "ndjson", "merged": True, "selections": [path]}),
        ]
        path_url = f"paths/{agents[0].vm_id}/{agents[1].vm_id}/series"
        asked += [(path_url, {**whole, "resolution": one}) for one in ("1m", "1h")]
        bodies = {}
        for number, (route, params) in enumerate(asked):
            answer = owner.get(f"/v1/meshes/{self.mesh.id}/{route}", params=params)
            assert answer.status_code == 200, (route, params, answer.text)
            bodies[f"{number} {route}"] = answer.content
        return bodies


@pytest.fixture
def make_aged(storage: ObjectStorageServer, make_mesh: MakeMesh) -> Callable[..., AgedWorld]:
    """Return a function that stores measurements of a mesh, merges them and moves them into the past."""

    def make(owner: Any, agents: int = 4) -> AgedWorld:
        mesh = make_mesh(owner, agents)
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        start = today - timedelta(hours=_HOURS)  # ends at midnight, so that all steps but the day are whole
        sending = []
        for at in range(int(start.timestamp()), int(today.timestamp()), _WINDOWS_S):
            for place, agent in enumerate(mesh.agents[:-1]):
                peers = {
                    peer.vm_key: simple(
                        50_000 + 977 * (at // 60 % 601) * (place + 1) + peer.vm_key % 7 * 1_000,
                        90_000 + 311 * (at // 60 % 97),
                        count=3 + at // 60 % 5,
                        lost=at // 60 % 3 % 2,
                    )
                    for peer in mesh.agents[place + 1 :]
                }
                sending.append((agent, peers, at))
        sent_together(mesh.key, sending)
        tasks.roll_up()
        # Of these days alone: queries pass over all partitions that there are.
        execute(f"SELECT make_measurement_partitions(CURRENT_DATE - {AGE_DAYS + 3}, CURRENT_DATE - {AGE_DAYS})")
        execute("DELETE FROM probe_frames WHERE mesh_key = :key", {"key": mesh.key})
        for table in AGED_TABLES:
            _move(table, mesh.key)
        past = timedelta(days=AGE_DAYS)
        return AgedWorld(mesh, start - past, today - past)

    return make


def _move(table: str, mesh_key: int) -> None:
    """Move the rows of a mesh `AGE_DAYS` into the past, a start at a time: Citus subtracts nothing from a column.

    As new rows: an UPDATE would not leave its chunk of TimescaleDB.
    """
    starts = scalars(f"SELECT DISTINCT started_at FROM {table} WHERE mesh_key = :key", {"key": mesh_key})
    moves = [{"key": mesh_key, "at": at, "to": at - timedelta(days=AGE_DAYS)} for at in starts]
    others = ", ".join(column.name for column in Base.metadata.tables[table].columns if column.name != "started_at")
    of_start = f"FROM {table} WHERE mesh_key = :key AND started_at = :at"
    moved = f"INSERT INTO {table} (started_at, {others}) SELECT CAST(:to AS timestamptz), {others} {of_start}"
    execute(moved, moves)
    execute(f"DELETE {of_start}", moves)


@pytest.fixture
def world(make_aged: Callable[..., AgedWorld], owner: Any) -> AgedWorld:
    """Return the measurements of a tenant, not aged yet."""
    return make_aged(owner)


def in_the_bucket(storage: ObjectStorageServer) -> list[Path]:
    """Return the files of the objects of this test."""
    own = storage.bucket_folder / config.settings().storage_prefix
    return sorted(path for path in own.rglob("*.parquet") if path.is_file())
