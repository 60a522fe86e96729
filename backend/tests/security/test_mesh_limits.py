"""A caller who is limited to some meshes learns nothing of the others, whichever operation of the contract they call.

`obscura` is a mesh with everything that a mesh can have. Members, keys and jobs that see another mesh only must find it
as unknown as an id that was never given.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from statistics import median, quantiles
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, select, text

from sinemora.alerts.models import Delivery, DeliveryState
from sinemora.artifacts.models import Artifact
from sinemora.fleet.inventory.models import Zone
from sinemora.fleet.meshes import row_policies as mesh_policies
from sinemora.fleet.meshes.models import BulkOrder, Mesh, OnDemandMeasurement
from sinemora.jobs.models import Job, JobState, Queue
from sinemora.kit import cluster, mesh_limit
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError
from sinemora.kit.mesh_limit import MeshLimit, limited_to
from sinemora.measurements import tasks
from sinemora.recommendations.models import Recommendation
from sinemora.tables import metadata
from tests.access.device_login.test_device_login import begin, decide, poll
from tests.api_clients import Caller, Member, MeshWorld, code_of, enrolment, join, limited_key, place_of
from tests.conftest import Servers
from tests.expiry import in_a_month
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import simple
from tests.recommendations.test_ends import incident_of
from tests.test_every_route import operations
from tests.test_names_taken import bodies

pytestmark = pytest.mark.whole_store

HIDDEN = "obscura"
# Parameters of paths that name what belongs to the whole tenant or to a person, and why a limited caller may know it.
OF_THE_TENANT = {
    "api_key_id": "credentials of the tenant",
    "curve_id": "the catalogue of curves",
    "digest": "the content of a block, which the caller already has",
    "domain_id": "administrators only",
    "invitation_id": "administrators only",
    "passkey_id": "the caller's own",
    "price_list_id": "prices of the tenant",
    "proposal_key": "found in the mesh of the same address",
    "metric_export_id": "servers of the tenant",
    "receiver_id": "receivers of the tenant",
    "session_id": "the caller's own",
    "simulation_id": "uploaded reports without a mesh",
    "tenant_id": "the tenant itself",
    "user_id": "members of the tenant",
}
# They end the caller's credential or membership, or stay open. What is about the caller alone is left out by its tag.
NOT_SENT = {"/v1/api-keys/self", "/v1/members/self/leave", "/v1/meshes/{mesh_id}/live"}
OF_THE_CALLER = {"account", "auth"}
# Tables of tenants whose rows belong to no mesh.
NO_MESH = {
    "aging_runs",
    "api_keys",
    "artifact_blocks",
    "audit_entries",
    "curve_versions",
    "curves",
    "idempotency_keys",
    "identities",
    "identity_providers",
    "invitations",
    "memberships",
    "metric_exports",
    "one_time_tokens",
    "outgoing_mails",
    "passkeys",
    "price_lists",
    "receivers",
    "recovery_codes",
    "rosters",
    "sessions",
    "sign_in_domains",
    "simulations",
    "sql_logins",
    "tenant_quotas",
    "tenants",
    "totp_secrets",
    "users",
}


@dataclass
class World:
    """A tenant with a mesh that is shown and one that is hidden; ids of what they have, by parameter."""

    owner: Member
    shown: MeshWorld
    hidden: MeshWorld
    ids: dict[str, UUID]
    shown_ids: dict[str, UUID]

    def secrets(self) -> set[str]:
        """Return what no answer may contain."""
        return {HIDDEN, *(str(id) for id in self.ids.values())}


@pytest.fixture
def meshes(owner: Member, make_mesh: Callable[..., MeshWorld]) -> World:
    """Two meshes without measurements: what members and keys see of them needs no more."""
    return World(owner, make_mesh(owner, 2, name="shown"), make_mesh(owner, 3, name=HIDDEN), {}, {})


@pytest.fixture
def world(meshes: World) -> World:
    owner, shown, hidden = meshes.owner, meshes.shown, meshes.hidden
    for mesh in (shown, hidden):
        peers = {agent.vm_key: simple(80_000, 30_000) for agent in mesh.agents[1:]}
        for minutes in (3, 2):
            sent(mesh.agents[0], report_of(mesh.key, peers, window_start(minutes, 60)))
        sent(mesh.agents[0], report_of(mesh.key, peers))
    tasks.roll_up()
    for mesh, ids in ((shown, meshes.shown_ids), (hidden, meshes.ids)):
        ids |= {"mesh_id": mesh.id, "agent_id": mesh.agents[0].agent_id}
        ids |= dict.fromkeys(("vm_id", "source_vm_id", "source_id"), mesh.agents[0].vm_id)
        ids |= dict.fromkeys(("target_vm_id", "target_id"), mesh.agents[1].vm_id)
        ids["zone_id"] = UUID(owner.get(f"/v1/vms/{mesh.agents[-1].vm_id}").json()["zone"]["id"])
        ids |= _made_by_api(owner, mesh)
    meshes.ids.update(_stored(owner, hidden))
    return meshes


def _bodies(world: MeshWorld) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the path and body that create an object of a mesh, by the parameter of its id."""
    name, mesh = world.name, str(world.id)
    hour = {"started_at": "2026-11-20T10:00:00Z", "ended_at": "2026-11-20T11:00:00Z"}
    with_names = {
        f"{table.removeprefix('saved_')[:-1]}_id": (
            route,
            body | {"name": f"{name} view" if table == "saved_views" else name},
        )
        for table, (route, body) in bodies(world).items()
        if table in ("scenarios", "applications", "metric_sources", "saved_views")
    }
    return with_names | {
        "rule_id": ("/v1/alert-rules", rule(world)),
        "pin_id": ("/v1/pins", {"mesh_id": mesh, "reason": name, **hour}),
        "annotation_id": ("/v1/annotations", {"kind": "note", "text": name, "mesh_id": mesh}),
        "link_id": ("/v1/embed-links", {"name": name, "view": "heatmap", "mesh_id": mesh}),
        "silence_id": (
            "/v1/silences",
            {
                "comment": "Maintenance",
                "matchers": [{"label": "mesh", "value": name}],
                "ends_at": in_a_month(),
            },
        ),
    }


def _made_by_api(owner: Member, world: MeshWorld) -> dict[str, UUID]:
    ids = {name: UUID(owner.created(route, body)["id"]) for name, (route, body) in _bodies(world).items()}
    tokens = owner.get("/v1/enrolment-tokens").json()["items"]
    ids["token_id"] = UUID(next(one["id"] for one in tokens if one["mesh_id"] == str(world.id)))
    # About a VM of the mesh, in no mesh by itself.
    owner.created(
        "/v1/annotations",
        {"kind": "note", "text": f"{world.name} VM", "scope": {"vm_ids": [str(world.agents[0].vm_id)]}},
    )
    return ids


def rule(mesh: MeshWorld) -> dict[str, Any]:
    """Return an alert rule of a mesh."""
    return bodies(mesh)["alert_rules"][1] | {"name": f"Slow in {mesh.name}"}


def _stored(owner: Member, hidden: MeshWorld) -> dict[str, UUID]:
    """Store what otherwise takes a worker to make."""
    now = datetime.now(UTC)
    vms = [agent.vm_id for agent in hidden.agents]
    # Who knows the address of a webhook can post there.
    webhook = {"name": "r", "kind": "webhook", "settings": {"url": f"https://a.example/{HIDDEN}"}}
    receiver = owner.created("/v1/receivers", webhook)
    incident_id = incident_of(hidden, title=f"{HIDDEN} is slow")
    measurement = OnDemandMeasurement(
        mesh_id=hidden.id,
        source_vm_id=vms[0],
        target_vm_id=vms[1],
        client_vm_id=vms[0],
        rate_hz=1,
        source_ports=1,
        loss_deadline_ms=100,
        starts_at=now - timedelta(hours=1),
        ends_at=now - timedelta(minutes=59, seconds=30),
        requested_by=HIDDEN,
    )
    run = BulkOrder(
        mesh_id=hidden.id,
        kind="trial",
        vm_ids=vms[:2],
        request={"rounds": 2, "a": {}, "b": {}},
        steps=[],
        progress={},
        starts_at=now - timedelta(hours=1),
        ends_at=now - timedelta(minutes=59),
        requested_by=HIDDEN,
    )
    recommendation = Recommendation(
        mesh_id=hidden.id, state="proposed", trigger="asked", requested_by=HIDDEN, request={}, result={}, moves=[]
    )
    artifact = Artifact(
        mesh_id=hidden.id,
        name=HIDDEN,
        release="1",
        size_bytes=0,
        chunking="fixed",
        block_count=0,
        root=b"",
        manifest=b"",
        everywhere=True,
        published_by=HIDDEN,
    )
    job = Job(
        kind="query",
        title=HIDDEN,
        queue=Queue.fast,
        state=JobState.succeeded,
        params={"mesh_id": str(hidden.id)},
        requested_by=owner.email,
        result={"mesh": HIDDEN},
        finished_at=now,
    )
    with tenant_session(owner.tenant_id) as session:
        session.add_all([measurement, run, recommendation, artifact, job])
        session.flush()
        delivery = Delivery(
            incident_id=incident_id,
            receiver_id=UUID(receiver["id"]),
            about="opened",
            state=DeliveryState.failed,
            due_at=now,
            answer=HIDDEN,
        )
        session.add(delivery)
        session.flush()
        return {
            "incident_id": incident_id,
            "measurement_id": measurement.id,
            "run_id": run.id,
            "recommendation_id": recommendation.id,
            "artifact_id": artifact.id,
            "job_id": job.id,
            "study_id": job.id,
            "delivery_id": delivery.id,
            "spike_id": uuid4(),  # has no row: its mesh decides
        }


def limit(owner: Member, member: Member, mesh_ids: list[UUID] | None) -> None:
    body = {"mesh_ids": None if mesh_ids is None else [str(id) for id in mesh_ids]}
    answer = owner.put(f"/v1/members/{member.user_id}/meshes", json=body)
    assert answer.status_code == 200, answer.text


@pytest.fixture
def limited(meshes: World) -> Caller:
    """Return an editor, who may change things, and sees the shown mesh only."""
    editor = join(meshes.owner, "editor")
    limit(meshes.owner, editor, [meshes.shown.id])
    return editor


@pytest.fixture
def key(meshes: World) -> Caller:
    """Return an API key that may change things, and sees the shown mesh only."""
    return limited_key(meshes.owner, [meshes.shown.id], "write")


def parameters(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def replaced(value: Any, ids: dict[str, str]) -> Any:
    """Return a body with its name and the ids of its fields, however deep, replaced: by a new name if there is none."""
    if isinstance(value, list):
        return [replaced(one, ids) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, one in value.items():
        if name == "name" and isinstance(one, str):
            found[name] = ids.get("name", str(uuid4()))  # a name of before would be taken
        elif name == "mesh" and isinstance(one, str):
            found[name] = ids["mesh name"]
        elif name in ids and isinstance(one, str):
            found[name] = ids[name]
        elif name.removesuffix("s") in ids and isinstance(one, list):  # vm_ids
            found[name] = [ids[name.removesuffix("s")]]
        else:
            found[name] = replaced(one, {key: id for key, id in ids.items() if key != "name"})
    return found


def requests(world: World) -> Iterator[tuple[str, str, list[str], Any]]:
    """Yield method, path, names of the parameters that it takes, and example body of each operation to try."""
    for method, path, operation in operations():
        if path in NOT_SENT or path.startswith("/v1/agents/self") or operation["x-required-role"] in ("none", "agent"):
            continue
        if OF_THE_CALLER & set(operation["tags"]):
            continue
        query = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        yield method.upper(), path, query, body


def differences(world: World, caller: Caller, *, sees_rows: bool = False) -> Iterator[str]:
    """Send each operation with the hidden ids and with unknown ones; yield those whose answers differ.

    `sees_rows`: the caller sees the hidden rows, some of which are not whole enough to be answered.
    """
    unknown = {name: str(uuid4()) for name in world.ids} | {"mesh name": "a mesh that never was"}
    hidden = {name: str(id) for name, id in world.ids.items()} | {"mesh name": HIDDEN}
    yield from _differences(world, caller, (hidden, unknown), sees_rows=sees_rows)


def taken_names(world: World, caller: Caller) -> Iterator[str]:
    """Give what is shown, or new to the shown mesh, names of what is hidden and then a free one, as above."""
    shown = {name: str(id) for name, id in world.shown_ids.items()} | {"mesh name": "shown"}
    hidden = [shown | {"name": name} for name in (HIDDEN, f"{HIDDEN} view", f"{HIDDEN}-a-1")]
    yield from _differences(world, caller, (*hidden, shown), names=True)


def _differences(
    world: World, caller: Caller, tried: Sequence[dict[str, str]], *, sees_rows: bool = False, names: bool = False
) -> Iterator[str]:
    known = dict(_bodies(world.shown).values())
    for method, path, query, body in requests(world):
        if names:
            body = {"name": ""} if method == "PATCH" else known.get(path, body)
        if names and (method == "DELETE" or "name" not in (body or ())):
            continue
        answers = []
        for ids in tried:
            parts = [ids.get(part[1:-1], str(uuid4())) if part.startswith("{") else part for part in path.split("/")]
            options: dict[str, Any] = {"headers": {"If-Match": "*"}}
            if body is not None:
                options["json"] = replaced(body, ids)
            if named := [name for name in query if name in ids]:
                options["params"] = {name: ids[name] for name in named}
            answer = caller.request(method, "/".join(parts), **options)
            assert sees_rows or answer.status_code < 500, (method, path, answer.text)
            if names and answer.status_code == 201:
                caller.delete(f"{path}/{answer.json()['id']}")
            code = answer.json().get("code") if "problem" in answer.headers.get("content-type", "") else None
            answers.append((answer.status_code, code))
        for ids, told in zip(tried, answers, strict=True):
            if told != answers[-1]:
                yield f"{method} {path} {ids.get('name', '')}: {told}, unknown ones {answers[-1]}"


def test_every_parameter_is_of_a_mesh_or_of_the_tenant(world: World):
    named = {name for _, path, _ in operations() for name in parameters(path)}
    assert named == {name for name in world.ids if name in named} | OF_THE_TENANT.keys()
    assert not world.ids.keys() & OF_THE_TENANT.keys()


@pytest.fixture
def callers(world: World, limited: Member, key: Caller) -> dict[str, Caller]:
    """Return a caller of each kind that sees the shown mesh only."""
    viewer, mesh = join(world.owner, "viewer"), str(world.shown.id)
    limit(world.owner, viewer, [world.shown.id])
    begun = begin(Caller(world.owner.http))
    assert decide(limited, begun).status_code == 200
    device = poll(Caller(world.owner.http), begun).json()["access_token"]
    link = limited.created("/v1/embed-links", {"name": "Wiki", "view": "heatmap", "mesh_id": mesh})["token"]
    tokens = {"device": device, "embed": link}
    return {"viewer": viewer, "editor": limited, "key": key} | {
        kind: Caller(world.owner.http, {"Authorization": f"Bearer {token}"}) for kind, token in tokens.items()
    }


def test_of_a_hidden_mesh_every_operation_answers_as_of_an_unknown_one(
    world: World, callers: dict[str, Caller], record_testsuite_property: Callable[[str, int], None]
):
    found = {kind: list(differences(world, caller)) for kind, caller in callers.items()}
    for kind, caller in callers.items():
        found[kind] += sorted(tellers(world, caller))
        streams = [caller.get(f"/v1/meshes/{id}/live").status_code for id in (world.hidden.id, uuid4())]
        assert streams[0] == streams[1] >= 400, kind
    record_testsuite_property("leaks", sum(map(len, found.values())))
    record_testsuite_property("requests", len(callers) * (2 * len(list(requests(world))) + 2))
    assert not any(found.values()), found


def test_a_name_of_what_is_hidden_is_as_free_as_any(
    world: World, limited: Caller, record_testsuite_property: Callable[[str, int], None]
):
    found = list(taken_names(world, limited))
    record_testsuite_property("leaks", len(found))
    assert found == []
    assert len(list(islice(taken_names(world, join(world.owner, "editor")), 10))) == 10  # it notices what is taken
    own = limited.created("/v1/saved-views", {"name": HIDDEN, "address": f"/meshes/{world.hidden.id}"})
    assert own in limited.get("/v1/saved-views").json()["items"]


def test_applications_of_one_name_in_two_meshes_are_told_apart(world: World, limited: Caller):
    theirs = _bodies(world.hidden)["application_id"][1]
    own = _bodies(world.shown)["application_id"][1] | {"name": HIDDEN}
    made = limited.created("/v1/applications", own)
    for body, changed in ((own, made["id"]), (theirs, str(world.ids["application_id"]))):
        manifest = json.dumps({"applications": [body | {"objective": 0.9}]})  # JSON is YAML
        headers = {"Content-Type": "application/yaml"}
        answer = world.owner.post("/v1/applications/manifest", content=manifest, headers=headers)
        assert answer.json()["changed"] == [HIDDEN], answer.text
        assert world.owner.get(f"/v1/applications/{changed}").json()["objective"] == 0.9
    assert code_of(world.owner.post("/v1/applications", json=own)) == (409, "application_name_taken")


def test_a_hidden_id_takes_as_long_as_an_unknown_one(world: World, limited: Caller):
    for name in ("meshes/{mesh_id}/matrix", "vms/{vm_id}", "applications/{application_id}", "incidents/{incident_id}"):
        parameter = name.partition("{")[2].partition("}")[0]
        times: dict[bool, list[float]] = {True: [], False: []}
        for number in range(120):
            is_hidden = number % 2 == 0
            began = perf_counter()
            limited.get("/v1/" + name.format(**{parameter: world.ids[parameter] if is_hidden else uuid4()}))
            times[is_hidden].append(perf_counter() - began)
        low, middle, high = quantiles(times[False], n=4)
        assert abs(median(times[True]) - middle) < max(high - low, middle / 4), name


def test_a_token_of_a_limited_caller_takes_no_hidden_vm_over(meshes: World, limited: Caller):
    token = limited.created("/v1/enrolment-tokens", {"mesh_id": str(meshes.shown.id)})["token"]
    hidden = enrolment(token, f"{HIDDEN}-a-1", "a", "10.77.0.1")
    answers = [
        Caller(limited.http).post("/v1/agents/enrol", json=body) for body in (hidden, hidden | {"hostname": "n"})
    ]
    assert (answers[0].status_code, answers[0].json()["code"]) == (409, "vm_name_taken")
    assert answers[1].is_success, answers[1].text


def test_the_walk_finds_a_planted_leak(world: World, limited: Caller, servers: Servers):
    """A table whose policy shows all of its rows, as if a migration had forgotten it."""
    condition = "SELECT qual FROM pg_policies WHERE (tablename, policyname) = ('jobs', 'meshes')"
    with servers.owner_engine.connect() as connection:
        before = connection.scalar(text(condition))
    try:
        _alter(servers.owner_engine, "true")
        assert tellers(world, limited) == {"/v1/jobs"}
    finally:
        _alter(servers.owner_engine, before)
    assert tellers(world, limited) == set()


def _alter(owner: Engine, condition: Any) -> None:
    with owner.begin() as connection:
        connection.execute(text(f"ALTER POLICY meshes ON jobs USING ({condition})"))


def test_the_walk_would_notice_an_operation_that_tells(world: World):
    """Without the limit, most operations about the same ids answer otherwise than about unknown ones."""
    told = differences(world, join(world.owner, "viewer"), sees_rows=True)
    assert len(list(islice(told, 20))) == 20


def tellers(world: World, caller: Caller) -> set[str]:
    """Return the lists whose answers contain what is hidden."""
    found = set()
    for method, path, operation in operations():
        if method != "get" or path in NOT_SENT or operation["x-required-role"] in ("none", "agent"):
            continue
        if parameters(path) not in ([], ["mesh_id"]) or path.startswith("/v1/agents/self"):
            continue
        answer = caller.get(path.replace("{mesh_id}", str(world.shown.id)))
        assert answer.status_code < 500, (path, answer.text)
        if any(secret.encode() in answer.content for secret in world.secrets()):
            found.add(path)
    return found


def test_lists_name_the_mesh_that_is_shown_and_the_zones_of_its_vms(meshes: World, limited: Caller):
    meshes.owner.created("/v1/alert-rules", rule(meshes.shown))
    items = {path: limited.get(f"/v1/{path}").json()["items"] for path in ("meshes", "vms", "agents", "alert-rules")}
    assert [one["name"] for one in items["meshes"]] == ["shown"]
    assert [one["name"] for one in items["vms"]] == ["shown-a-1", "shown-b-1"]
    assert len(items["agents"]) == 2
    assert {one["mesh_id"] for one in items["alert-rules"]} == {str(meshes.shown.id)}
    assert limited.get(f"/v1/meshes/{meshes.shown.id}/matrix").status_code == 200
    assert [mesh["name"] for mesh in limited.get("/v1/overview").json()["meshes"]] == ["shown"]
    meshes.owner.created("/v1/zones", {"provider": "p", "region": "r", "name": "of nobody seen"})
    shown = {vm["zone"]["name"] for vm in items["vms"]}
    assert {zone["name"] for zone in limited.get("/v1/zones").json()["items"]} == shown
    # Quotas count the hidden meshes too.
    assert limited.get("/v1/usage").json() == meshes.owner.get("/v1/usage").json()


def test_prometheus_and_grafana_see_the_shown_mesh_alone(world: World, limited: Caller):
    base = "/v1/prometheus/api/v1"
    for path, params in (
        ("query", {"query": '{__name__=~".+"}'}),
        ("series", {"match[]": '{__name__=~".+"}'}),
        ("label/mesh/values", {}),
        ("labels", {}),
    ):
        everything = world.owner.get(f"{base}/{path}", params=params)
        answer = limited.get(f"{base}/{path}", params=params)
        assert (everything.status_code, answer.status_code) == (200, 200), (path, answer.text)
        assert HIDDEN not in answer.text, path
        if path in ("label/mesh/values", "series"):
            assert HIDDEN in everything.text
            assert "shown" in answer.text


def test_what_belongs_to_the_whole_tenant_is_not_changed(meshes: World, limited: Caller):
    vm, zone = meshes.shown.agents[0].vm_id, limited.get("/v1/zones").json()["items"][0]["id"]
    note = {"kind": "note", "text": "For all meshes"}
    matchers = [{"label": "severity", "value": "critical"}]
    silence = {"comment": "all", "matchers": matchers, "ends_at": in_a_month()}
    tree = {"root": {"receivers": []}}
    answers = [
        limited.post("/v1/meshes", json={"name": "mine"}),
        limited.post("/v1/zones", json={"provider": "p", "region": "r", "name": "z"}),
        limited.patch(f"/v1/zones/{zone}", json={"name": "z"}),
        limited.patch(f"/v1/vms/{vm}", json={"name": "renamed"}),
        limited.delete(f"/v1/vms/{vm}"),
        limited.post(f"/v1/agents/{meshes.shown.agents[0].agent_id}/revoke"),
        limited.post("/v1/annotations", json=note),
        limited.post("/v1/receivers", json={"name": "mine", "kind": "email", "settings": {"to": ["a@example.com"]}}),
        limited.put("/v1/alert-routes", json=tree, headers={"If-Match": "*"}),
        limited.post("/v1/silences", json=silence),
    ]
    refusals = [(answer.status_code, answer.json()["code"]) for answer in answers]
    assert refusals == [(403, "all_meshes_required")] * len(answers), [answer.text for answer in answers]
    assert len(limited.get("/v1/vms").json()["items"]) == 2


def test_what_belongs_to_the_shown_mesh_is_changed(world: World, limited: Caller):
    mesh = str(world.shown.id)
    limited.created("/v1/annotations", {"kind": "note", "text": "Deploy", "mesh_id": mesh})
    vms = [str(world.shown.agents[0].vm_id)]
    scoped = {"kind": "note", "text": "Deploy", "mesh_id": mesh, "scope": {"vm_ids": vms}}
    limited.created("/v1/annotations", scoped)
    limited.created("/v1/saved-views", {"name": "Mine", "address": f"/meshes/{mesh}"})
    assert limited.patch(f"/v1/meshes/{mesh}", json={"window_s": 20}).status_code == 200
    roots = [{"name": "root", "vm": "shown-a-1", "root": True}, {"name": "leaf", "vm": "shown-b-1"}]
    body = {"name": "app", "mesh": "shown", "curve": "memcached-server", "tasks": roots}
    application = limited.created("/v1/applications", body)
    assert limited.get(f"/v1/applications/{application['id']}/performance").status_code == 200
    # A mesh of theirs takes no VM that they do not see.
    assert code_of(limited.put(f"/v1/meshes/{mesh}/vms/{world.hidden.agents[0].vm_id}")) == (404, "vm_unknown")


def test_a_job_sees_what_its_caller_sees(meshes: World, limited: Caller):
    with tenant_session(meshes.owner.tenant_id) as session:
        keys = dict(session.execute(select(Mesh.id, Mesh.key)).all())
    shown = MeshLimit(frozenset({meshes.shown.id}), frozenset({keys[meshes.shown.id]}))
    with limited_to(shown), tenant_session(meshes.owner.tenant_id) as session:
        job = Job(kind="query", title="mine", queue=Queue.fast, params={}, requested_by="x", mesh_ids=[meshes.shown.id])
        session.add(job)
        session.flush()
        job_id = job.id
    assert limited.get(f"/v1/jobs/{job_id}").status_code == 200
    more = limited_key(meshes.owner, [meshes.shown.id, meshes.hidden.id], "read")
    assert more.get(f"/v1/jobs/{job_id}").status_code == 200  # of a caller who sees less
    other = limited_key(meshes.owner, [meshes.hidden.id], "read")
    assert other.get(f"/v1/jobs/{job_id}").status_code == 404


def test_a_limit_holds_from_the_next_request_and_is_recorded(meshes: World):
    owner, viewer = meshes.owner, join(meshes.owner, "viewer")
    path = f"/v1/meshes/{meshes.hidden.id}"
    assert viewer.get(path).status_code == 200
    limit(owner, viewer, [meshes.shown.id])
    assert viewer.get(path).status_code == 404
    member = next(one for one in owner.get("/v1/members").json()["items"] if one["id"] == str(viewer.user_id))
    assert member["meshes"] == [{"id": str(meshes.shown.id), "name": "shown"}]
    (entry,) = owner.get("/v1/audit-entries", params={"action": "member.updated"}).json()["items"]
    assert entry["detail"]["meshes"] == ["shown"]
    assert entry["detail"]["changes"] == {"mesh_ids": {"before": None, "after": [str(meshes.shown.id)]}}
    limit(owner, viewer, None)
    assert viewer.get(path).status_code == 200


def test_members_show_a_limited_member_the_meshes_that_both_see(meshes: World):
    owner, viewer, other = meshes.owner, join(meshes.owner, "viewer"), join(meshes.owner, "editor")
    limit(owner, viewer, [meshes.shown.id])
    limit(owner, other, [meshes.shown.id, meshes.hidden.id])
    seen = {one["id"]: one["meshes"] for one in viewer.get("/v1/members").json()["items"]}
    assert seen[str(other.user_id)] == [{"id": str(meshes.shown.id), "name": "shown"}]
    assert seen[str(owner.user_id)] is None


def test_who_manages_members_sees_all_meshes(meshes: World):
    owner, member = meshes.owner, join(meshes.owner, "viewer")
    limit(owner, member, [meshes.shown.id])
    assert owner.put(f"/v1/members/{member.user_id}/role", json={"role": "admin"}).json()["meshes"] is None
    assert member.get(f"/v1/meshes/{meshes.hidden.id}").status_code == 200
    refused = owner.put(f"/v1/members/{member.user_id}/meshes", json={"mesh_ids": [str(meshes.shown.id)]})
    assert place_of(refused) == (409, "role_sees_all_meshes", "#/mesh_ids")
    # Demoted again, the old list does not come back.
    assert owner.put(f"/v1/members/{member.user_id}/role", json={"role": "viewer"}).json()["meshes"] is None


def test_an_invitation_limits_the_person_who_accepts_it(meshes: World):
    owner, shown = meshes.owner, str(meshes.shown.id)
    body = {"email": "ada@example.com", "role": "viewer", "delivery": "link", "mesh_ids": [shown]}
    made = owner.created("/v1/invitations", body)
    assert made["meshes"] == [{"id": shown, "name": "shown"}]
    assert owner.get("/v1/invitations").json()["items"][0]["meshes"] == made["meshes"]
    for wrong, status, code in (
        ({"email": "b@example.com", "mesh_ids": [str(uuid4())]}, 404, "mesh_unknown"),
        ({"email": "b@example.com", "mesh_ids": []}, 422, "request_invalid"),
        ({"email": "b@example.com", "role": "admin"}, 409, "role_sees_all_meshes"),
    ):
        assert code_of(owner.post("/v1/invitations", json=body | wrong)) == (status, code)
    token = made["link"].partition("#token=")[2]
    accept = {"token": token, "name": "Ada", "password": "correct horse battery"}
    assert Caller(owner.http).post("/v1/invitations/accept", json=accept).status_code == 200
    ada = next(one for one in owner.get("/v1/members").json()["items"] if one["email"] == "ada@example.com")
    assert ada["meshes"] == made["meshes"]


def test_a_key_sees_at_most_what_its_owner_sees(meshes: World):
    owner, person = meshes.owner, join(meshes.owner, "admin")
    body = {"name": "k", "scopes": ["read"], "expires_at": in_a_month()}
    made = person.created("/v1/api-keys", body | {"mesh_ids": [str(meshes.shown.id), str(meshes.hidden.id)]})
    assert [mesh["name"] for mesh in made["meshes"]] == [HIDDEN, "shown"]
    key = Caller(owner.http, {"Authorization": f"Bearer {made['secret']}"})
    assert len(key.get("/v1/meshes").json()["items"]) == 2
    assert owner.put(f"/v1/members/{person.user_id}/role", json={"role": "viewer"}).status_code == 200
    limit(owner, person, [meshes.shown.id])
    assert [mesh["name"] for mesh in key.get("/v1/meshes").json()["items"]] == ["shown"]
    assert owner.delete(f"/v1/meshes/{meshes.shown.id}").status_code == 204
    assert key.get("/v1/meshes").json()["items"] == []  # a list of meshes that are gone is not no list
    assert person.get("/v1/vms").json()["items"] == []


def test_every_table_says_whose_its_rows_are(database: Engine):
    """A new table of a tenant is bound to meshes by its columns or foreign keys, or is named here."""
    with database.connect() as connection:
        rows = connection.execute(text("SELECT tablename, policyname, permissive, roles::text FROM pg_policies")).all()
        limited = {table for table, policy, permissive, _ in rows if (policy, permissive) == ("meshes", "RESTRICTIVE")}
        limited |= cluster.distributed_tables(connection).keys()  # as part of the policy of the tenant
        assert {table for table, policy, _, _ in rows if policy == "tenant"} - limited == NO_MESH
        assert limited == mesh_policies.conditions(connection, {table for table, *_ in rows}).keys()
    assert {roles for _, policy, _, roles in rows if policy == "meshes"} == {"{sinemora_app}"}
    # What the listeners let a limited caller change, the database binds to the caller's meshes.
    assert mesh_limit.tables_of_meshes(metadata) - limited == set()


def test_no_table_shows_a_row_of_a_hidden_mesh(world: World):
    owner = world.owner
    with tenant_session(owner.tenant_id) as session:
        keys = dict(session.execute(select(Mesh.id, Mesh.key)).all())
        limited = session.scalars(text("SELECT tablename FROM pg_policies WHERE policyname = 'meshes'")).all()
        names = {*limited, *cluster.distributed_tables(session.connection())}
        counted = {name: session.scalar(text(f"SELECT count(*) FROM {name}")) for name in names}
    nothing = MeshLimit(frozenset({uuid4()}), frozenset({0}))
    both = MeshLimit(frozenset(keys), frozenset(keys.values()))
    for seen, expected in ((nothing, dict.fromkeys(names, 0)), (both, counted)):
        with limited_to(seen), tenant_session(owner.tenant_id) as session:
            now = {name: session.scalar(text(f"SELECT count(*) FROM {name}")) for name in names}
        now.pop("jobs"), now.pop("job_chunks")  # the job of somebody who sees all meshes
        assert now == {name: count for name, count in expected.items() if name in now}
    assert sum(count > 0 for count in counted.values()) >= 25, counted


def test_rows_of_a_hidden_mesh_are_not_written_either(world: World):
    key = world.shown.key
    with limited_to(MeshLimit(frozenset({world.shown.id}), frozenset({key}))):
        with tenant_session(world.owner.tenant_id) as session:
            for statement in (
                "UPDATE pins SET reason = 'x' WHERE mesh_id <> :shown",
                "DELETE FROM alert_rules WHERE mesh_id <> :shown",
            ):
                assert session.execute(text(statement), {"shown": world.shown.id}).rowcount == 0  # type: ignore[attr-defined]
        with pytest.raises(Exception, match="row-level security"), tenant_session(world.owner.tenant_id) as session:
            session.execute(text("UPDATE alert_rules SET mesh_id = :hidden"), {"hidden": world.hidden.id})
        with pytest.raises(ProductError, match="see some meshes"), tenant_session(world.owner.tenant_id) as session:
            session.add(Zone(provider="p", region="r", name="n"))
