"""Growth beyond a quota is refused with what, how much and what to do; what is there stays."""

import json
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import TenantQuota
from sinemora.kit import service_plans
from sinemora.kit.errors import ProductError
from sinemora.measurements.ingest.rate_quota import RateQuotas
from tests.api_clients import MeshWorld, enrol
from tests.measurements.reports import report_of, send, window_start
from tests.measurements.worlds import simple
from tests.statements import call, scalar


@pytest.fixture
def allow(owner):
    """Return a function that sets limits of the tenant and leaves its others."""
    return lambda **limits: call(Session.merge, TenantQuota(tenant_id=owner.tenant_id, **limits))


def usage(owner) -> dict[str, tuple[float | None, float]]:
    return {item["resource"]: (item["used"], item["limit"]) for item in owner.get("/v1/usage").json()["items"]}


def refused(answer, resource: str, wanted: float, limit: float) -> None:
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (403, "quota_exceeded"), answer.text
    assert (problem["resource"], problem["wanted"], problem["limit"]) == (resource, wanted, limit)
    assert "operator" in problem["detail"]


def test_usage_counts_vms_paths_and_windows(owner, make_mesh):
    make_mesh(owner, 4, window_s=5)
    result = usage(owner)
    assert result["vms"] == (4, 2000)
    assert result["paths"][0] == 12
    assert result["windows_per_s"][0] == pytest.approx(12 / 5)
    assert result["raw_days"] == (None, 3)
    assert (result["open_jobs"], result["live_streams"]) == ((0, 100), (0, 500))


def test_one_vm_too_many_is_refused_by_hand_and_by_enrolment(owner, make_mesh, allow):
    mesh = make_mesh(owner, 2)
    allow(vms=2)
    zone = owner.get("/v1/zones").json()["items"][0]["id"]
    refused(owner.post("/v1/vms", json={"name": "more", "zone_id": zone}), "vms", 3, 2)
    token = owner.created("/v1/enrolment-tokens", {"mesh_id": str(mesh.id)})["token"]
    with pytest.raises(AssertionError, match="quota_exceeded"):
        enrol(owner.http, token, "more", "a", "10.0.0.9")
    assert usage(owner)["vms"] == (2, 2)
    allow(vms=3)
    enrol(owner.http, token, "more", "a", "10.0.0.9")  # the refusal did not use the token up


def test_a_mesh_that_would_be_too_large_or_too_fine_is_refused(owner, make_mesh, allow):
    mesh = make_mesh(owner, 3)
    other = make_mesh(owner, 1, "other")
    allow(paths=7)
    refused(owner.put(f"/v1/meshes/{mesh.id}/vms/{other.agents[0].vm_id}"), "paths", 12, 7)
    assert len(owner.get(f"/v1/meshes/{mesh.id}/roster").json()["vms"]) == 3
    allow(paths=None, windows_per_s=1)
    refused(owner.patch(f"/v1/meshes/{mesh.id}", json={"window_s": 5}), "windows_per_s", 1.2, 1)
    assert owner.patch(f"/v1/meshes/{mesh.id}", json={"window_s": 20}).status_code == 200


def test_what_is_there_stays_when_the_quota_shrinks(owner, mesh: MeshWorld, allow):
    allow(vms=1, paths=0, windows_per_s=0)
    assert owner.patch(f"/v1/meshes/{mesh.id}", json={"rate_hz": 4}).status_code == 200
    assert owner.get(f"/v1/meshes/{mesh.id}/matrix").status_code == 200


def test_two_at_once_do_not_pass_together(owner, make_mesh, allow):
    make_mesh(owner, 1)
    allow(vms=4)
    zone = owner.get("/v1/zones").json()["items"][0]["id"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda n: owner.post("/v1/vms", json={"name": f"vm-{n}", "zone_id": zone}).status_code, range(8))
        )
    assert sorted(answers) == [201] * 3 + [403] * 5


def test_a_tenant_that_reports_more_than_it_may_is_told_when_to_come_back(mesh: MeshWorld, allow):
    allow(windows_per_s=0.01)  # 1.2 windows in two minutes, and one report makes four
    peers = {agent.vm_key: simple(50_000) for agent in mesh.agents[1:]}
    assert send(mesh.agents[0], report_of(mesh.key, peers, window_start(2))).status_code == 204
    answer = send(mesh.agents[0], report_of(mesh.key, peers, window_start(1)))
    assert (answer.status_code, answer.json()["code"]) == (429, "windows_too_many")
    assert 280 <= int(answer.headers["Retry-After"]) <= 282


def test_a_bucket_fills_at_the_quota_and_no_higher_than_two_minutes():
    tenant, bucket = UUID(int=1), RateQuotas()
    bucket.take(tenant, 1200, 10, now_s=0)
    with pytest.raises(ProductError):
        bucket.take(tenant, 1, 10, now_s=0)
    bucket.take(tenant, 50, 10, now_s=5)
    bucket.take(tenant, 1200, 10, now_s=10_000)
    with pytest.raises(ProductError):
        bucket.take(tenant, 1, 10, now_s=10_000)
    bucket.take(tenant, 0, 10, now_s=10_000)  # a report without windows is news of an agent


def test_the_operator_sets_a_quota_by_name(owner, run):
    name = scalar("SELECT name FROM tenants WHERE id = :id", {"id": owner.tenant_id})
    assert json.loads(run("tenant", "quota", name, "--vms", "7", "--raw-days", "99", "--json"))["vms"] == 7
    assert usage(owner)["vms"] == (0, 7)
    assert usage(owner)["raw_days"] == (None, 3)  # not longer than the installation keeps anything
    printed = run("tenant", "quota", str(owner.tenant_id), "--vms", "default")
    assert ["vms", "2000", "installation", "VMs"] in [line.split() for line in printed.splitlines()]
    assert usage(owner)["vms"] == (0, 2000)
    for wrong in (["--vms", "-1"], ["--vms", "many"]):
        run("tenant", "quota", name, *wrong, code=1)
    run("tenant", "quota", "nobody", "--vms", "1", code=1)


@pytest.fixture
def plans(owner, set_to, run):
    """Name two plans; return a function that gives the tenant one."""
    named = "Trial: vms=2 raw_days=1 artifact_mib=1; Team: vms=5 windows_per_s=0.01"
    set_to(service_plans=named, quota_contact="noc@example.com")
    return lambda name, *more, code=0: run("tenant", "quota", str(owner.tenant_id), "--plan", name, *more, code=code)


def test_a_plan_sets_quotas_and_a_refusal_names_it(owner, make_mesh, plans):
    mesh = make_mesh(owner, 2)
    assert "plan: Trial" in plans("Trial")
    read = owner.get("/v1/usage").json()
    assert (read["plan"], read["contact"]) == ("Trial", "noc@example.com")
    by = {item["resource"]: (item["used"], item["limit"], item["set_by"]) for item in read["items"]}
    assert by["vms"] == (2, 2, "plan")
    assert by["raw_days"] == (None, 1, "plan")
    assert by["artifact_mib"] == (0, 1, "plan")
    assert by["paths"][1:] == (4_000_000, "installation")
    zone = owner.get("/v1/zones").json()["items"][0]["id"]
    answer = owner.post("/v1/vms", json={"name": "more", "zone_id": zone})
    refused(answer, "vms", 3, 2)
    assert answer.json()["plan"] == "Trial"
    assert answer.json()["detail"] == (
        "Quota exceeded: 3 VMs in total with this change, 2 allowed by the plan Trial. Remove unused ones, or ask the"
        " operator of this installation (noc@example.com) for a larger plan."
    )
    # A quota of the tenant itself comes before that of its plan.
    plans("Trial", "--vms", "1")
    answer = owner.post("/v1/vms", json={"name": "more", "zone_id": zone})
    assert "1 allowed for this tenant" in answer.json()["detail"]
    plans("Team", "--vms", "default")
    assert usage(owner)["vms"] == (2, 5)
    peers = {mesh.agents[1].vm_key: simple(50_000)}
    for windows_ago in (3, 2):
        answer = send(mesh.agents[0], report_of(mesh.key, peers, window_start(windows_ago)))
    assert (answer.status_code, answer.json()["plan"]) == (429, "Team")
    assert "noc@example.com" in answer.json()["detail"]


def test_changes_of_plan_and_quotas_are_in_the_audit_log(owner, plans):
    plans("Trial")
    plans("default", "--paths", "9")
    later, first = owner.get("/v1/audit-entries", params={"action": "quota.updated"}).json()["items"]
    assert first["actor_name"] == "Operator"
    assert first["detail"]["changes"]["plan"] == {"before": None, "after": "Trial"}
    assert first["detail"]["changes"]["vms"] == {"before": 2000, "after": 2}
    assert later["detail"]["changes"]["paths"] == {"before": 4_000_000, "after": 9}


def test_plans_are_listed_with_their_tenants(owner, plans, run, set_to):
    plans("Trial")
    listed = {one["plan"]: one for one in json.loads(run("tenant", "plans", "--json"))}
    assert (listed["Trial"]["vms"], listed["Team"]["vms"], listed["Team"]["paths"]) == (2, 5, None)
    assert listed["Trial"]["tenants"] >= 1
    assert "unknown plan: 'Gold'. Plans of SINEMORA_SERVICE_PLANS: Trial, Team" in plans("Gold", code=1)
    # A plan that was renamed sets nothing any more, and the operator is told.
    set_to(service_plans="Free: vms=1")
    assert usage(owner)["vms"] == (0, 2000)
    assert "Trial is not in SINEMORA_SERVICE_PLANS any more" in run("tenant", "plans", errors=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Trial vms=20", "should have plans like"),
        ("default: vms=20", "should have plans like"),
        ("Trial: vms", "a plan sets vms, paths"),
        ("Trial: cpus=2", "a plan sets vms, paths"),
        ("Trial: vms=many", "vms is a number from 0"),
        ("Trial: raw_days=0", "raw_days is a number from 1"),
        ("Trial: vms=1; Trial: vms=2", "has the plan Trial twice"),
    ],
)
def test_a_plan_that_cannot_be_read_is_named(text, why):
    with pytest.raises(ValueError, match=why):
        service_plans.parse(text)


def test_plans_are_read_in_order():
    assert service_plans.parse(" Trial: vms=20 windows_per_s=0.5 ;Team 2:;") == {
        "Trial": {"vms": 20, "windows_per_s": 0.5},
        "Team 2": {},
    }
