"""Aged ranges: the same answers, no row lost wherever a run stops, and no silent gap."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lab.object_storage_server import ObjectStorageServer
from sinemora.kit.object_storage import Storage
from sinemora.measurements import tasks
from sinemora.measurements.store.aged import removal, restoring, writing
from sinemora.measurements.store.aged.catalogue import AGED_TABLES
from tests.api_clients import SetTo
from tests.measurements.store.aged.conftest import AgedWorld, forget, in_the_bucket
from tests.processes import away
from tests.statements import call, execute, rows, scalar

pytestmark = pytest.mark.whole_store


def test_answers_are_the_same_after_ageing_and_after_restoring(world: AgedWorld, storage: ObjectStorageServer):
    counts, before = world.counts(), world.answers()
    assert all(counts[name] for name in AGED_TABLES if not name.endswith("_1d")), counts
    tasks.age()
    assert set(world.counts().values()) == {0}
    assert {one.tier: one.rows for one in world.objects()} == {name: n for name, n in counts.items() if n}
    assert world.answers() == before
    tasks.age()  # again changes nothing
    assert world.answers() == before
    for one in call(restoring.in_range, world.mesh.id, world.start, world.end):
        restoring.restore(one, datetime.now(UTC) + timedelta(days=7))
    assert world.counts() == counts
    assert world.answers() == before
    tasks.age()  # held
    assert world.counts() == counts
    execute("UPDATE aged_objects SET held_until = now() - interval '1 second'")
    tasks.age()
    assert set(world.counts().values()) == {0}
    assert world.answers() == before
    assert len(in_the_bucket(storage)) == len(world.objects())


CRASHES = {
    "after the upload": ("sinemora.kit.object_storage:Storage", "put"),
    "while rows are deleted": ("sinemora.measurements.store.aged.catalogue", "fingerprint"),
    "after rows were deleted": ("sinemora.measurements.store.aged.writing", "_finish"),
}


@pytest.mark.parametrize("point", CRASHES)
def test_a_killed_run_loses_no_row(world: AgedWorld, storage: ObjectStorageServer, point: str):
    counts, before = world.counts(), world.answers()
    _killed_run(point)
    in_objects = {one.tier: one.rows for one in world.objects()}
    assert {name: n + in_objects.get(name, 0) for name, n in world.counts().items()} == counts
    assert world.answers() == before
    tasks.age()
    assert set(world.counts().values()) == {0}
    assert world.answers() == before
    removal.sweep(datetime.now(UTC) + timedelta(hours=3))
    assert len(in_the_bucket(storage)) == len(world.objects())


def _killed_run(point: str) -> None:
    """Run the task in a process that ends like a killed one at its second range."""
    owner, name = CRASHES[point]
    code = f"""
import os, pkgutil
from sinemora.kit import config
config.Settings.model_config["env_file"] = None
owner = pkgutil.resolve_name({owner!r})
original, calls = getattr(owner, {name!r}), []
def killed(*arguments, **options):
    calls.append(1)
    result = original(*arguments, **options)
    if len(calls) == 2:
        os._exit(137)
    return result
setattr(owner, {name!r}, killed)
from sinemora import tables
from sinemora.measurements import tasks
tasks.age()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 137, done.stderr[-2000:]


def test_rows_that_change_while_they_are_written_stay(world: AgedWorld, monkeypatch: pytest.MonkeyPatch):
    counts = world.counts()
    verify = writing.verify

    def changing(*arguments: Any) -> None:
        verify(*arguments)
        execute("UPDATE probe_frames_1m SET rolled_at = now()")

    monkeypatch.setattr(writing, "verify", changing)
    tasks.age()
    assert world.counts()["probe_frames_1m"] == counts["probe_frames_1m"]
    monkeypatch.undo()


def test_a_storage_that_returns_other_bytes_deletes_nothing(world: AgedWorld, monkeypatch: pytest.MonkeyPatch):
    counts = world.counts()
    get = Storage.get

    def changed(self: Storage, key: str) -> bytes:
        content = get(self, key)
        return content[:100] + bytes([content[100] ^ 1]) + content[101:]

    for damaged in (changed, lambda self, key: get(self, key)[:-1]):
        monkeypatch.setattr(Storage, "get", damaged)
        tasks.age()
        assert world.counts() == counts
        assert "other bytes" in scalar("SELECT error FROM aging_runs")


def _ask(world: AgedWorld) -> Any:
    forget()
    span = {"from": world.start.isoformat(), "to": world.end.isoformat()}
    return world.mesh.owner.get(f"/v1/meshes/{world.mesh.id}/matrix", params=span)


def test_a_range_that_cannot_be_read_is_an_error(world: AgedWorld, storage: ObjectStorageServer):
    tasks.age()
    assert _ask(world).status_code == 200
    with away(storage):
        answer = _ask(world)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (503, "aged_data_unavailable")
        assert "does not answer" in problem["detail"]
        assert world.start.date().isoformat()[:7] in problem["detail"]
        assert answer.headers["Retry-After"]
        now = datetime.now(UTC)
        recent = {"from": (now - timedelta(hours=1)).isoformat(), "to": now.isoformat()}
        assert world.mesh.owner.get(f"/v1/meshes/{world.mesh.id}/matrix", params=recent).status_code == 200
    assert _ask(world).status_code == 200
    hours = next(path for path in in_the_bucket(storage) if "tier=probe_frames_1h" in str(path))
    content = hours.read_bytes()
    hours.write_bytes(content[:40] + bytes(len(content) - 40 - 200) + content[-200:])
    assert "damaged" in _ask(world).json()["detail"]
    hours.unlink()
    assert "missing" in _ask(world).json()["detail"]


def test_a_storage_that_hangs_is_named_before_the_database_ends_the_query(
    world: AgedWorld, storage: ObjectStorageServer
):
    tasks.age()
    with storage.hanging():
        answer = _ask(world)
    assert (answer.status_code, answer.json()["code"]) == (503, "aged_data_unavailable")
    assert "the object storage does not answer" in answer.json()["detail"]
    assert _ask(world).status_code == 200


def test_a_tenant_reads_its_objects_only(world: AgedWorld, make_aged: Any, other_owner: Any):
    other = make_aged(other_owner)
    tasks.age()
    keys = rows("SELECT object_key FROM aged_objects", tenant=other.mesh.owner.tenant_id)
    assert keys
    assert {key.split("/")[1] for (key,) in keys} == {f"tenant={other.mesh.owner.tenant_id}"}


def test_objects_go_with_the_retention_unless_they_are_pinned(
    world: AgedWorld, storage: ObjectStorageServer, set_to: SetTo
):
    tasks.age()
    body = {"mesh_id": str(world.mesh.id), "started_at": world.start.isoformat(), "ended_at": world.end.isoformat()}
    pin = world.mesh.owner.created("/v1/pins", {**body, "reason": "kept"})["id"]
    set_to(retention_1m_days="30")
    tasks.age()
    assert {one.tier for one in world.objects()} >= {"probe_frames_1m", "zone_frames_1m"}
    assert world.mesh.owner.delete(f"/v1/pins/{pin}").status_code == 204
    tasks.age()
    left = {one.tier for one in world.objects()}
    assert left
    assert not left & {"probe_frames_1m", "zone_frames_1m"}
    assert len(in_the_bucket(storage)) == len(world.objects())


def test_objects_go_with_their_mesh(world: AgedWorld, storage: ObjectStorageServer):
    tasks.age()
    assert in_the_bucket(storage)
    assert world.mesh.owner.delete(f"/v1/meshes/{world.mesh.id}", headers={"If-Match": "*"}).status_code == 204
    tasks.age()
    assert in_the_bucket(storage) == []
    assert world.objects() == world.objects("removing") == []


def test_ageing_is_off_by_default(world: AgedWorld, set_to: SetTo):
    set_to(aged_after_days="0")
    counts = world.counts()
    tasks.age()
    assert world.counts() == counts
    a_day = "INSERT INTO tenant_quotas (tenant_id, aged_after_days) VALUES (:id, 1)"
    execute(a_day, {"id": world.mesh.owner.tenant_id})
    tasks.age()  # the tenant's quota; at least as long as late reports are accepted
    assert set(world.counts().values()) == {0}
