"""Two owners at once: no deadlock, no server error, no lost change."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import delete, text, update

from lab.benchmarks.recommending.collisions import collide, pair_of
from sinemora.access.tenants.models import Tenant
from sinemora.fleet.inventory.models import Vm
from sinemora.kit.db import system_session
from sinemora.operations.archives import deletion
from tests.api_clients import Caller, Member
from tests.statements import execute
from tests.waits import until

SLOW = {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50"}
TASKS = [{"name": "root", "root": True}, {"name": "task"}]
YAML = {"Content-Type": "application/yaml"}
WAITS = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")


def calling(owner: Member):
    """Return a function that sends a request of the owner."""
    caller = Caller(owner.http, owner.headers, owner.cookies)

    def call(method: str, path: str, body: Any = None, etag: str | None = None) -> tuple[int, Any]:
        answer = caller.request(method, path, json=body, headers={} if etag is None else {"If-Match": etag})
        return answer.status_code, answer.json() if answer.content else None

    return call


@pytest.mark.whole_store
def test_pairs_of_changes_at_once_lose_nothing(owner: Member):
    found = collide(calling(owner), owner.tenant_id, pairs=12, seed=3)
    assert (found.deadlocks, found.failed, found.lost) == (0, [], [])


def test_a_vm_that_is_deleted_while_its_capacity_changes_is_unknown(owner: Member, make_mesh):
    vm_id = make_mesh(owner, 2).agents[0].vm_id
    with ThreadPoolExecutor(1) as at_once, system_session() as session:
        session.execute(delete(Vm).where(Vm.id == vm_id))
        changed = at_once.submit(calling(owner), "PATCH", f"/v1/vms/{vm_id}/capacity", {"slots": 2}, "*")
        until(lambda: session.scalar(WAITS))
        session.commit()
        status, problem = changed.result()
    assert (status, problem["code"]) == (404, "vm_unknown")


@pytest.mark.parametrize("kind", ["applications", "rules"])
def test_two_manifests_that_name_the_same_in_another_order_wait_for_one_another(owner: Member, kind: str):
    meshes = [owner.post("/v1/meshes", json={"name": name}).json() for name in ("a", "b")]
    path = (
        "/v1/applications/manifest" if kind == "applications" else f"/v1/alert-rules/manifest?mesh_id={meshes[0]['id']}"
    )
    caller = Caller(owner.http, owner.headers, owner.cookies)

    def bring(names: str, above: float) -> int:
        entries = [
            {"name": name, "mesh": name, "curve": "memcached-server", "objective": above, "tasks": TASKS}
            if kind == "applications"
            else {"name": name, "condition": SLOW | {"above": 1e9 * above}}
            for name in names
        ]
        return caller.request("POST", path, content=json.dumps({kind: entries}), headers=YAML).status_code

    assert bring("ab", 0.5) == 200
    with ThreadPoolExecutor(2) as at_once:
        for turn in range(5):
            statuses = list(at_once.map(bring, ["ab", "ba"], [0.1 + turn / 10, 0.15 + turn / 10]))
            assert max(statuses) < 500, statuses


@pytest.mark.whole_store
def test_a_tenant_is_deleted_while_its_moves_are_decided(owner: Member):
    call = calling(owner)
    zone = call("POST", "/v1/zones", {"provider": "p", "region": "r", "name": "z"})[1]["id"]
    meshes = [call("POST", "/v1/meshes", {"name": f"m{number}"})[1]["id"] for number in range(2)]
    pairs = [pair_of(call, owner.tenant_id, meshes, zone, number) for number in range(4)]
    execute(update(Tenant).where(Tenant.id == owner.tenant_id).values(deletion_at=datetime.now(UTC)))

    def change(pair) -> list[int]:
        actions = pair.actions()
        return [call(*actions[name])[0] for name in ("apply", "objective", "capacity", "apart", "delete VM")]

    with ThreadPoolExecutor(5) as at_once:
        changes = [at_once.submit(change, pair) for pair in pairs]
        at_once.submit(deletion.delete_due).result()
        statuses = [status for one in changes for status in one.result()]
    assert max(statuses) < 500
    assert call("GET", "/v1/meshes")[0] == 401
