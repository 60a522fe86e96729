"""A mesh with two hours of yesterday, and a bucket of its tenant on a real server."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lab.object_storage_server import ObjectStorageServer
from sinemora.jobs import executor
from sinemora.kit import config
from sinemora.measurements import tasks
from sinemora.measurements.bucket_exports.schedule import SETTLED_AFTER
from tests.api_clients import MeshWorld
from tests.measurements.reports import sent_together
from tests.measurements.worlds import simple

HOURS = 2


@dataclass
class Exports:
    """A mesh, the bucket of its tenant, and the last two hours of yesterday, which are measured."""

    mesh: MeshWorld
    server: ObjectStorageServer
    prefix: str
    end: datetime

    @property
    def start(self) -> datetime:
        return self.end - timedelta(hours=HOURS)

    def body(self, **more: Any) -> dict[str, Any]:
        """Return an export of all tables to the server."""
        place = self.server.location
        names = [f"{ends}_{step}" for step in ("1m", "15m", "1h", "1d") for ends in ("zones", "vms")]
        return {
            "name": "warehouse",
            "endpoint": place.endpoint,
            "bucket": place.bucket,
            "prefix": self.prefix,
            "access_key": place.access_key,
            "secret": place.secret_key,
            "tables": names,
            **more,
        }

    def created(self, **more: Any) -> dict[str, Any]:
        """Create an export."""
        return self.mesh.owner.created("/v1/bucket-exports", self.body(**more))

    def run(self, export: dict[str, Any]) -> dict[str, Any]:
        """Run an export to its end, and return the job."""
        answer = self.mesh.owner.post(f"/v1/bucket-exports/{export['id']}/runs")
        assert answer.status_code == 202, answer.text
        executor.run(self.mesh.owner.tenant_id, UUID(answer.json()["id"]))
        job: dict[str, Any] = self.mesh.owner.get(f"/v1/jobs/{answer.json()['id']}").json()
        return job

    def read(self, export: dict[str, Any]) -> dict[str, Any]:
        """Return an export with its state."""
        found: dict[str, Any] = self.mesh.owner.get(f"/v1/bucket-exports/{export['id']}").json()
        return found

    def files(self, suffix: str = ".parquet") -> dict[str, Path]:
        """Return the objects of the bucket below the prefix, by their names."""
        root = self.server.bucket_folder / self.prefix
        found = sorted(path for path in root.rglob(f"*{suffix}") if path.is_file())
        return {str(path.relative_to(root)): path for path in found}

    def table(self, name: str) -> pa.Table:
        """Return all rows of a table, as a reader of all Parquet objects sees them."""
        files = [path for key, path in self.files().items() if f"/table={name}/" in key]
        return pa.concat_tables([pq.ParquetFile(path).read() for path in files])

    def manifests(self) -> dict[str, dict[str, Any]]:
        """Return the manifests by the folder of their day."""
        return {
            key.rpartition("/")[0]: json.loads(path.read_text()) for key, path in self.files("manifest.json").items()
        }

    def report(self, starts: range, delay_ns: int = 50_000) -> None:
        """Report windows of all pairs and merge them."""
        agents = self.mesh.agents
        sending = []
        for at in starts:
            for place, agent in enumerate(agents[:-1]):
                peers = {
                    peer.vm_key: simple(
                        delay_ns + 977 * (at // 60 % 601) * (place + 1),
                        90_000,
                        count=3 + at // 60 % 5,
                        lost=at // 60 % 2,
                    )
                    for peer in agents[place + 1 :]
                }
                sending.append((agent, peers, at))
        sent_together(self.mesh.key, sending)
        tasks.roll_up()


@pytest.fixture(autouse=True)
def keeps_secrets(secret_key: None) -> None:
    """Set the key under which secrets are stored."""


@pytest.fixture
def allowed_networks(monkeypatch: pytest.MonkeyPatch, secret_key: None) -> None:
    """Allow buckets on this machine, where the server is."""
    monkeypatch.setenv("SINEMORA_BUCKET_NETWORKS", "127.0.0.0/8")
    config.settings.cache_clear()


@pytest.fixture
def exports(
    allowed_networks: None,
    storage_server: ObjectStorageServer,
    make_mesh: Callable[..., MeshWorld],
    owner: Any,
) -> Exports:
    """Return a world of four agents, two of them in one zone."""
    # Shortly after midnight the day before is not exported yet.
    today = (datetime.now(UTC) - SETTLED_AFTER).replace(hour=0, minute=0, second=0, microsecond=0)
    world = Exports(make_mesh(owner, 4), storage_server, f"bucket-{uuid4().hex[:8]}", today)
    world.report(range(int(world.start.timestamp()), int(today.timestamp()), 240))
    return world
