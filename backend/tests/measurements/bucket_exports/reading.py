"""Rows of a bucket and of the API, to be compared, and requests to the bucket that fail."""

import csv
import hashlib
import io
from collections import Counter
from typing import Any

import pytest

from sinemora.kit.tenant_bucket import BucketError, TenantBucket
from tests.measurements.bucket_exports.conftest import Exports

DAYS = 8
"""Days of an export of all tables: four tiers of VMs and of zones, one day each."""


def rows_of_api(exports: Exports) -> Counter[tuple[Any, ...]]:
    """Return the minutes of yesterday as the API exports them."""
    params = {"from": exports.start.isoformat(), "to": exports.end.isoformat(), "merged": True, "format": "csv"}
    answer = exports.mesh.owner.get(f"/v1/meshes/{exports.mesh.id}/windows", params=params | {"selections": ["mesh"]})
    assert answer.status_code == 200, answer.text
    names = ("source", "target", "count", "sent", "lost", "min_ns", "p50_ns", "p99_ns", "max_ns")
    return Counter(
        (row["started_at"][:16], *(row[name] for name in names)) for row in csv.DictReader(io.StringIO(answer.text))
    )


def rows_of_bucket(exports: Exports) -> Counter[tuple[Any, ...]]:
    """Return the minutes of VMs in the bucket."""
    names = ("source", "target", "count", "sent", "lost", "min_ns", "p50_ns", "p99_ns", "max_ns")
    return Counter(
        (f"{row['started_at']:%Y-%m-%dT%H:%M}", *(str(row[name]) for name in names))
        for row in exports.table("vms_1m").to_pylist()
    )


def check_manifests(exports: Exports) -> None:
    """Check that the bucket has the objects of its manifests and no other."""
    named = {
        f"{folder}/{part['name']}": (part["bytes"], part["sha256"])
        for folder, manifest in exports.manifests().items()
        for part in manifest["parts"]
    }
    files = exports.files()
    assert {
        key: (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()) for key, path in files.items()
    } == named


def stop_at(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Fail the request of this number to the bucket, and all after it."""
    done = 0
    real = TenantBucket._send

    def stopping(self: TenantBucket, *arguments: Any) -> Any:
        nonlocal done
        done += 1
        if done >= calls:
            raise BucketError("Bucket not reached: test.", retry=True)
        return real(self, *arguments)

    monkeypatch.setattr(TenantBucket, "_send", stopping)
