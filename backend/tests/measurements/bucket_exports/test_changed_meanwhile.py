"""Exports that are changed, deleted or created again while a run writes to their bucket, or between runs."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from sinemora.kit.egress_policy import HttpResponse
from sinemora.kit.tenant_bucket import TenantBucket
from sinemora.measurements.bucket_exports import writing
from sinemora.measurements.store import frames
from tests.measurements.bucket_exports.conftest import Exports
from tests.measurements.bucket_exports.reading import DAYS, check_manifests, rows_of_api, rows_of_bucket, stop_at

pytestmark = pytest.mark.whole_store


def during_the_first_put(monkeypatch: pytest.MonkeyPatch, action: Callable[[], None]) -> None:
    """Do something while a run has sent its first object."""
    real, done = TenantBucket._send, []

    def meanwhile(self: TenantBucket, method: str, *rest: Any) -> Any:
        result = real(self, method, *rest)
        if method == "PUT" and not done:
            done.append(method)
            action()
        return result

    monkeypatch.setattr(TenantBucket, "_send", meanwhile)


def test_another_prefix_during_a_run_loses_no_day(exports: Exports, monkeypatch: pytest.MonkeyPatch):
    export = exports.created()
    moved = f"{exports.prefix}-moved"

    def move() -> None:
        answer = exports.mesh.owner.patch(f"/v1/bucket-exports/{export['id']}", json={"prefix": moved})
        assert answer.status_code == 200, answer.text

    with monkeypatch.context() as patched:
        during_the_first_put(patched, move)
        job = exports.run(export)
    assert (job["state"], job["problem"]["code"]) == ("failed", "bucket_export_changed")
    found = exports.read(export)
    assert (found["state"], found["days"], found["error"]) == ("waiting", 0, None)
    assert datetime.fromisoformat(found["next_at"]) <= datetime.now(UTC)
    exports.prefix = moved
    assert exports.run(export)["result"]["days"] == DAYS
    assert rows_of_bucket(exports) == rows_of_api(exports)
    check_manifests(exports)


def test_an_export_deleted_during_its_run_ends_with_words(exports: Exports, monkeypatch: pytest.MonkeyPatch):
    export = exports.created()

    def delete() -> None:
        assert exports.mesh.owner.delete(f"/v1/bucket-exports/{export['id']}").status_code == 204

    during_the_first_put(monkeypatch, delete)
    job = exports.run(export)
    assert (job["state"], job["problem"]["code"]) == ("failed", "bucket_export_unknown")


def test_a_mesh_deleted_during_a_run_is_left_out(exports: Exports, monkeypatch: pytest.MonkeyPatch):
    export = exports.created()

    def delete() -> None:
        assert exports.mesh.owner.delete(f"/v1/meshes/{exports.mesh.id}").status_code in (202, 204)

    during_the_first_put(monkeypatch, delete)
    job = exports.run(export)
    assert (job["state"], job["result"]["days_left"]) == ("succeeded", 0), job
    assert exports.read(export)["state"] == "succeeded"


def test_an_export_that_is_created_again_replaces_what_the_bucket_has(exports: Exports):
    export = exports.created()
    exports.run(export)
    exports.report(range(int(exports.start.timestamp()) + 30, int(exports.start.timestamp()) + 300, 60), 70_000)
    exports.run(export)
    assert exports.mesh.owner.delete(f"/v1/bucket-exports/{export['id']}").status_code == 204
    again = exports.created()
    assert exports.run(again)["result"]["days"] == DAYS
    assert {manifest["revision"] for manifest in exports.manifests().values()} == {3}
    check_manifests(exports)
    assert rows_of_bucket(exports) == rows_of_api(exports)


def test_an_export_that_is_created_again_and_stops_anywhere_leaves_no_old_object(
    exports: Exports, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(frames, "_CHUNK_ROWS", 1)
    for calls in range(1, 8, 3):
        exports.prefix = f"{exports.prefix}-{calls}"
        body = {"name": f"stops at {calls}", "tables": ["zones_1h"]}
        export = exports.created(**body)
        with monkeypatch.context() as patched:
            patched.setattr(writing, "PART_ROWS", 1)
            exports.run(export)
        assert exports.mesh.owner.delete(f"/v1/bucket-exports/{export['id']}").status_code == 204
        again = exports.created(**body)
        with monkeypatch.context() as patched:
            stop_at(patched, calls)
            assert exports.run(again)["state"] == "failed", calls
        assert exports.run(again)["state"] == "succeeded", calls
        check_manifests(exports)
        assert len(exports.files()) == 1, calls


def test_a_key_that_may_not_read_exports_all_the_same(exports: Exports, monkeypatch: pytest.MonkeyPatch):
    real = TenantBucket._exchange

    def refusing(self: TenantBucket, method: str, *rest: Any) -> HttpResponse:
        if method == "GET":
            return HttpResponse(403, b"<Error><Code>AccessDenied</Code></Error>", None)
        return real(self, method, *rest)

    monkeypatch.setattr(TenantBucket, "_exchange", refusing)
    assert exports.run(exports.created())["result"]["days"] == DAYS
    check_manifests(exports)
