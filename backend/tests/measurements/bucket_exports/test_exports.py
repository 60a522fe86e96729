"""Exports to a bucket: every row once, also after corrections and failures."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from sinemora.jobs import executor
from sinemora.kit.tenant_bucket import TenantBucket
from sinemora.measurements.bucket_exports import tasks, writing
from sinemora.measurements.bucket_exports.schedule import SETTLED_AFTER
from sinemora.measurements.store import frames
from tests.measurements.bucket_exports.conftest import Exports
from tests.measurements.bucket_exports.reading import DAYS, check_manifests, rows_of_api, rows_of_bucket, stop_at
from tests.statements import execute

pytestmark = pytest.mark.whole_store


def test_a_run_exports_each_row_once_and_the_next_one_nothing(exports: Exports):
    export = exports.created()
    assert export["state"] == "waiting"
    job = exports.run(export)
    assert job["state"] == "succeeded", job
    assert (job["result"]["days"], job["result"]["days_left"]) == (DAYS, 0)
    expected = rows_of_api(exports)
    assert expected
    assert set(expected.values()) == {1}
    assert rows_of_bucket(exports) == expected
    check_manifests(exports)
    before = {key: path.stat().st_mtime_ns for key, path in exports.files().items()}
    again = exports.run(export)["result"]
    assert again == {"days": 0, "rows": 0, "bytes": 0, "days_left": 0}
    assert {key: path.stat().st_mtime_ns for key, path in exports.files().items()} == before
    found = exports.read(export)
    assert (found["state"], found["days"], found["error"]) == ("succeeded", DAYS, None)
    assert found["rows"] == job["result"]["rows"] > sum(expected.values())


def test_zones_have_the_packets_of_their_paths(exports: Exports):
    exports.run(exports.created())
    zone_of = {vm["name"]: vm["zone"]["name"] for vm in exports.mesh.owner.get("/v1/vms").json()["items"]}
    expected: Counter[tuple[str, str]] = Counter()
    for row in exports.table("vms_1h").to_pylist():
        expected[zone_of[row["source"]], zone_of[row["target"]]] += row["count"]
    found: Counter[tuple[str, str]] = Counter()
    for row in exports.table("zones_1h").to_pylist():
        found[row["source"].rpartition("/")[2], row["target"].rpartition("/")[2]] += row["count"]
    assert found == expected
    assert any(source == target for source, target in found)


def test_a_late_report_rewrites_its_day(exports: Exports):
    export = exports.created()
    exports.run(export)
    before = rows_of_bucket(exports)
    exports.report(range(int(exports.start.timestamp()) + 30, int(exports.start.timestamp()) + 300, 60), 70_000)
    job = exports.run(export)
    assert job["result"]["days"] == DAYS
    after = rows_of_bucket(exports)
    assert after == rows_of_api(exports) != before
    assert {manifest["revision"] for manifest in exports.manifests().values()} == {2}
    check_manifests(exports)


def test_objects_of_a_day_are_cut_by_rows(exports: Exports, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(writing, "PART_ROWS", 200)
    monkeypatch.setattr(frames, "_CHUNK_ROWS", 50)
    export = exports.created(tables=["vms_1m"])
    exports.run(export)
    assert len(exports.files()) > 1
    assert rows_of_bucket(exports) == rows_of_api(exports)
    check_manifests(exports)
    # Fewer parts of the next revision, and none left of this one.
    monkeypatch.setattr(writing, "PART_ROWS", 1_000_000)
    exports.report(range(int(exports.start.timestamp()) + 30, int(exports.start.timestamp()) + 90, 60), 70_000)
    exports.run(export)
    check_manifests(exports)
    assert len(exports.files()) == 1


def test_a_run_that_stops_anywhere_is_finished_by_the_next(exports: Exports, monkeypatch: pytest.MonkeyPatch):
    """Stop at every other request while a day of several objects is rewritten; the next run writes one object."""
    monkeypatch.setattr(frames, "_CHUNK_ROWS", 1)
    for calls in range(1, 10, 2):
        exports.prefix = f"{exports.prefix}-{calls}"
        export = exports.created(name=f"stops at {calls}", tables=["zones_1h"])
        with monkeypatch.context() as patched:
            patched.setattr(writing, "PART_ROWS", 1)
            exports.run(export)
            assert len(exports.files()) >= 4
            again = int(exports.start.timestamp()) + 60 * calls + 30
            exports.report(range(again, again + 1), 70_000)
            stop_at(patched, calls)
            assert exports.run(export)["state"] == "failed", calls
        assert exports.run(export)["state"] == "succeeded", calls
        check_manifests(exports)
        assert len(exports.files()) == 1, calls


def test_a_failing_bucket_has_a_state_with_the_reason_and_is_tried_again(exports: Exports):
    export = exports.created(bucket="missing-bucket")
    began = datetime.now(UTC)
    job = exports.run(export)
    assert (job["state"], job["problem"]["code"]) == ("failed", "bucket_failed")
    found = exports.read(export)
    assert (found["state"], found["failures"], found["days"]) == ("failing", 1, 0)
    assert "NoSuchBucket, the bucket does not exist" in found["error"]
    assert found["failed_at"] is not None
    assert exports.run(export)["state"] == "failed"
    assert exports.read(export)["failures"] == 2
    mended = exports.mesh.owner.patch(f"/v1/bucket-exports/{export['id']}", json={"bucket": exports.body()["bucket"]})
    assert mended.status_code == 200, mended.text
    assert exports.run(export)["state"] == "succeeded"
    found = exports.read(export)
    assert (found["state"], found["failures"], found["error"]) == ("succeeded", 0, None)
    entries = exports.mesh.owner.get("/v1/audit-entries").json()["items"]
    actions = [
        entry["action"] for entry in entries if entry["action"] in ("bucket_export.failed", "bucket_export.recovered")
    ]
    assert actions == ["bucket_export.recovered", "bucket_export.failed"]
    assert datetime.fromisoformat(found["next_at"]) > began


def test_a_bucket_that_does_not_answer_is_tried_again_within_a_minute(exports: Exports):
    export = exports.created(endpoint="http://127.0.0.1:9")
    exports.run(export)
    found = exports.read(export)
    assert "127.0.0.1:9 cannot be reached" in found["error"]
    wait = datetime.fromisoformat(found["next_at"]) - datetime.fromisoformat(found["failed_at"])
    assert wait <= timedelta(seconds=60)


def test_a_wrong_secret_is_named(exports: Exports):
    export = exports.created(secret="wrong")
    answer = exports.mesh.owner.post(f"/v1/bucket-exports/{export['id']}/tests")
    assert answer.status_code == 200, answer.text
    assert "the secret does not belong to the access key" in answer.json()["error"]


def test_the_test_writes_one_object_and_deletes_it(exports: Exports, monkeypatch: pytest.MonkeyPatch):
    seen: list[tuple[str, list[str]]] = []
    real = TenantBucket._send

    def watching(self: TenantBucket, method: str, *rest: Any) -> None:
        real(self, method, *rest)
        seen.append((method, list(exports.files(""))))

    monkeypatch.setattr(TenantBucket, "_send", watching)
    export = exports.created()
    answer = exports.mesh.owner.post(f"/v1/bucket-exports/{export['id']}/tests")
    assert answer.json()["error"] is None
    key = answer.json()["object_key"].removeprefix(f"{exports.prefix}/")
    assert seen == [("PUT", [key]), ("DELETE", [])]


def test_due_exports_start_once_and_paused_ones_do_not(exports: Exports):
    export = exports.created()
    paused = exports.created(name="paused", prefix=f"{exports.prefix}-2", paused=True)
    assert exports.read(paused)["state"] == "paused"
    execute("UPDATE bucket_export_progress SET next_at = now() - interval '1 second'")
    tasks.start_due()
    tasks.start_due()
    found = exports.mesh.owner.get("/v1/jobs").json()["items"]
    assert [job["title"] for job in found] == ["Export to bucket warehouse"]
    assert exports.read(export)["state"] == "running"
    assert datetime.fromisoformat(exports.read(export)["next_at"]) > datetime.now(UTC)
    executor.run(exports.mesh.owner.tenant_id, UUID(found[0]["id"]))
    assert exports.read(export)["state"] == "succeeded"


def test_an_hourly_export_has_the_day_in_progress(exports: Exports):
    settled = datetime.now(UTC) - SETTLED_AFTER
    start = max(int(exports.end.timestamp()), int(settled.timestamp()) // 60 * 60 - 180)
    exports.report(range(start, start + 60, 60))
    daily = exports.created(tables=["vms_1m"])
    exports.run(daily)
    assert {key.partition("/day=")[2][:10] for key in exports.files()} == {f"{exports.start:%Y-%m-%d}"}
    hourly = exports.mesh.owner.patch(f"/v1/bucket-exports/{daily['id']}", json={"schedule": "hourly"})
    assert hourly.status_code == 200
    exports.run(daily)
    today = f"{datetime.fromtimestamp(start, UTC):%Y-%m-%d}"
    assert today in {key.partition("/day=")[2][:10] for key in exports.files()}
