"""What operators and tenants see of aged measurements, and the deletion of a tenant's objects."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lab.object_storage_server import ObjectStorageServer
from sinemora.measurements import tasks
from sinemora.operations.archives import tenant as archives
from sinemora.operations.archives.tenant import TenantError
from tests.api_clients import limited_key
from tests.measurements.store.aged.conftest import AgedWorld, in_the_bucket
from tests.processes import away
from tests.statements import scalar

pytestmark = pytest.mark.whole_store


def test_a_tenant_sees_what_is_where_and_why_a_run_failed(
    world: AgedWorld, storage: ObjectStorageServer, make_mesh: Any, run
):
    owner = world.mesh.owner
    before = owner.get("/v1/aged-measurements").json()
    assert before == {"after_days": 5, "items": [], "run": None}
    with away(storage):
        tasks.age()
        failed = owner.get("/v1/aged-measurements").json()
        assert failed["items"] == []
        assert "did not take" in failed["run"]["error"]
        assert str(storage.port) not in str(failed)  # an address of the operator's network
        assert "cannot put" in run("aged", "list")
        run("aged", "run", code=1)
        run("aged", "check", code=1)
    counts = world.counts()
    run("aged", "run")
    run("aged", "check")
    seen = owner.get("/v1/aged-measurements").json()
    assert {item["tier"]: item["rows"] for item in seen["items"]} == {name: n for name, n in counts.items() if n}
    assert seen["run"]["error"] is None
    assert seen["run"]["rows"] == sum(counts.values())
    assert seen["run"]["bytes"] == sum(item["bytes"] for item in seen["items"]) > 0
    other = make_mesh(owner, 2, name="another")
    assert limited_key(owner, [other.id], "read").get("/v1/aged-measurements").json()["items"] == []
    assert '"tier": "zone_frames_1h"' in run("aged", "list", "--json")


def test_a_range_is_restored_by_command(world: AgedWorld, run):
    counts = world.counts()
    tasks.age()
    span = ["--from", world.start.isoformat(), "--to", world.end.isoformat()]
    for wrong, word in (
        (["--mesh", "nothing", *span], "no mesh"),
        (["--mesh", world.mesh.name, "--from", "yesterday", "--to", "now"], "invalid time"),
        (["--mesh", world.mesh.name, *span, "--tier", "seconds"], "unknown tier"),
        (["--mesh", world.mesh.name, "--from", span[3], "--to", span[1]], "before"),
    ):
        assert word in run("aged", "restore", *wrong, code=1)
    run("aged", "restore", "--mesh", world.mesh.name, *span, "--tier", "probe_frames_1m", "--days", "2")
    now = world.counts()
    assert now["probe_frames_1m"] == counts["probe_frames_1m"]
    assert now["zone_frames_1m"] == 0
    (restored,) = world.objects("restored")
    assert abs(restored.held_until - datetime.now(UTC) - timedelta(days=2)) < timedelta(minutes=5)


def test_a_deleted_tenant_leaves_no_object(world: AgedWorld, storage: ObjectStorageServer):
    tasks.age()
    assert in_the_bucket(storage)
    tenant_id = str(world.mesh.owner.tenant_id)
    with away(storage), pytest.raises(TenantError, match="nor is anything else"):
        archives.delete(tenant_id, lambda _: None, caches_expire_s=0)
    assert scalar("SELECT count(*) FROM meshes WHERE tenant_id = :id", {"id": tenant_id}) == 1
    assert in_the_bucket(storage)
    deleted = archives.delete(tenant_id, lambda _: None, caches_expire_s=0)
    assert sum(one.left for one in deleted) == 0
    assert in_the_bucket(storage) == []
