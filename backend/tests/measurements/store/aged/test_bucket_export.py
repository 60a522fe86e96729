"""A bucket of a tenant gets the same rows of aged ranges, and ageing rewrites nothing."""

from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow.parquet as pq
import pytest
from sqlalchemy import text

from lab.object_storage_server import ObjectStorageServer
from sinemora.jobs import executor
from sinemora.kit import config
from sinemora.kit.db import system_session
from sinemora.measurements import tasks
from tests.measurements.store.aged.conftest import AgedWorld

pytestmark = pytest.mark.whole_store


def test_aged_days_are_exported_once_with_the_same_rows(
    world: AgedWorld, storage: ObjectStorageServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SINEMORA_SECRET_KEY", "of the tests")
    monkeypatch.setenv("SINEMORA_BUCKET_NETWORKS", "127.0.0.0/8")
    config.settings.cache_clear()
    owner, place = world.mesh.owner, storage.location
    body = {
        "name": "warehouse",
        "endpoint": place.endpoint,
        "bucket": place.bucket,
        "prefix": f"bucket-{uuid4().hex[:8]}",
        "access_key": place.access_key,
        "secret": place.secret_key,
        "tables": [f"{ends}_{step}" for ends in ("zones", "vms") for step in ("1m", "1h")],
    }
    export = owner.created("/v1/bucket-exports", body)

    def run() -> int:
        job = owner.post(f"/v1/bucket-exports/{export['id']}/runs").json()
        executor.run(owner.tenant_id, UUID(job["id"]))
        result = owner.get(f"/v1/jobs/{job['id']}").json()
        assert result["state"] == "succeeded", result
        return int(result["result"]["days"])

    def rows() -> Counter[Any]:
        root = storage.bucket_folder / body["prefix"]
        return Counter(
            (_table(path), *row.values())
            for path in root.rglob("*.parquet")
            for row in pq.ParquetFile(path).read().to_pylist()
        )

    assert run() > 0
    before = rows()
    assert set(before.values()) == {1}
    tasks.age()
    assert set(world.counts().values()) == {0}
    assert run() == 0
    assert rows() == before
    with system_session() as session:
        session.execute(text("UPDATE exported_days SET writing_parts = 1, seen_rows = 0"))  # as after a stopped run
    assert run() > 0
    assert rows() == before


def _table(path: Path) -> str:
    return next(part for part in path.parts if part.startswith("table="))
