"""Imports into days that no report changes any more, which a bucket has already."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from sinemora.jobs import executor
from tests.measurements.bucket_exports.conftest import Exports
from tests.measurements.bucket_exports.reading import check_manifests

pytestmark = pytest.mark.whole_store

SETTLED_DAYS = 9
"""Age of the days that are imported, well beyond the retention of reported windows and the two days after it."""


def imported(exports: Exports, mesh: str, start: datetime, seconds: range) -> None:
    """Import an exchange each second from x to y, and do the job."""
    at_s = int(start.timestamp())
    lines = ["at,source,target,outbound_ns", *(f"{at_s + second},x,y,{50_000 + second}" for second in seconds)]
    answer = exports.mesh.owner.post(f"/v1/meshes/{mesh}/imports", content="\n".join(lines).encode())
    assert answer.status_code == 202, answer.text
    executor.run(exports.mesh.owner.tenant_id, UUID(answer.json()["id"]))
    job = exports.mesh.owner.get(answer.headers["location"]).json()
    assert job["state"] == "succeeded", job


def exchanges(exports: Exports) -> dict[str, int]:
    """Return the exchanges from x to y in the bucket, by day."""
    found: dict[str, int] = {}
    for row in exports.table("vms_1m").to_pylist():
        if (row["source"], row["target"]) == ("x", "y"):
            day = f"{row['started_at']:%d}"
            found[day] = found.get(day, 0) + row["count"]
    return found


def test_an_import_into_exported_days_exports_them_again(exports: Exports):
    mesh = exports.mesh.owner.created("/v1/meshes", {"name": "trace"})["id"]
    first = datetime.now(UTC).replace(hour=3, minute=0, second=0, microsecond=0) - timedelta(days=SETTLED_DAYS)
    second = first + timedelta(days=1)
    imported(exports, mesh, first, range(60))
    export = exports.created(tables=["vms_1m", "zones_1h"])
    exports.run(export)
    assert exchanges(exports) == {f"{first:%d}": 60}
    imported(exports, mesh, first, range(60, 180))  # a day that the bucket has
    imported(exports, mesh, second, range(60))  # a day that the bucket has without rows
    exports.run(export)
    assert exchanges(exports) == {f"{first:%d}": 180, f"{second:%d}": 60}
    check_manifests(exports)
    assert exports.run(export)["result"]["days"] == 0
