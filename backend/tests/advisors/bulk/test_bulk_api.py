"""Runs of the bulk sender over HTTP: who may start which, what agents get, results from what they report."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from httpx2 import Response

from tests.api_clients import AgentCaller, MakeMesh, Member, MeshWorld, body_of, code_of
from tests.measurements.reports import report_of, sent
from tests.measurements.worlds import simple
from tests.statements import execute, rows, scalar

OFFER = {
    "port": 8422,
    "bytes_max": 200_000_000,
    "rate_max_bytes_per_s": 12_500_000,
    "seconds_max": 60,
    "congestion_controls": ["cubic", "bbr"],
    "mptcp": True,
    "tls": True,
}


def offering(agent: AgentCaller, **changes: Any) -> None:
    """Offer the bulk sender of a VM, as `sinemora-transfer` does."""
    body_of(agent.patch("/v1/agents/self", json={"transfer": {"bulk": OFFER | changes}}))


@pytest.fixture
def mesh(owner: Member, make_mesh: MakeMesh) -> MeshWorld:
    """A mesh of four connected agents; the bulk sender of the last one is off."""
    world = make_mesh(owner, 4)
    for at, agent in enumerate(world.agents):
        if at < 3:
            offering(agent)
        sent(agent, report_of(world.key, {world.agents[at - 1].vm_key: simple(50_000)}))
    return world


def trial(world: MeshWorld, **changes: Any) -> dict[str, Any]:
    names = [agent.name for agent in world.agents]
    return {
        **{"mesh": world.name, "source": names[0], "target": names[1], "size_mb": 1, "rounds": 2},
        **{"b": {"connections": 4}},
        **changes,
    }


def part_of(agent: AgentCaller) -> dict[str, Any]:
    """Return the order in the part of the plan that `sinemora-transfer` follows."""
    (part,) = agent.get("/v1/agents/self/plan", params={"part": "bulk"}).json()["bulk"]
    return dict(part)


def done(index: int, seconds: float, connections: int = 1, size: int = 1_000_000, at_s: float = 0.0) -> dict[str, Any]:
    """Return the report of a complete transfer; its connections are done one after the other, the last at the end."""
    us = round(1e6 * seconds)
    parts = [{"bytes": size // connections, "elapsed_us": us * (n + 1) // connections} for n in range(connections)]
    return {"index": index, "started_at_ns": round(1e9 * (1.7e9 + at_s)), "elapsed_us": us, "connections": parts}


def reported(agent: AgentCaller, order_id: str, *steps: dict[str, Any], **more: Any) -> None:
    answer = agent.post("/v1/agents/self/bulk-reports", json={"order_id": order_id, "steps": list(steps), **more})
    assert answer.status_code == 204, answer.text


def refused(owner: Member, body: dict[str, Any]) -> tuple[int, str]:
    return code_of(owner.post("/v1/transport-trials", json=body))


def test_both_ends_get_their_part_and_no_other(owner: Member, mesh: MeshWorld):
    before = [agent.get("/v1/agents/self/plan").headers["ETag"] for agent in mesh.agents]
    made = owner.created("/v1/transport-trials", trial(mesh, a={"tls": True}))
    assert (made["status"], made["progress"], len(made["transfers"])) == ("waiting", 0, 4)
    assert [one["variant"] for one in made["transfers"]] == ["a", "b", "b", "a"]
    sender, receiver = part_of(mesh.agents[0]), part_of(mesh.agents[1])
    assert sender["id"] == receiver["id"] == made["id"]
    assert sender["secret"] == receiver["secret"]
    assert len(bytes.fromhex(sender["secret"])) == 32
    # Only the receiver has the key of TLS.
    assert sender["certificate"] == receiver["certificate"]
    assert (sender["certificate_key"], bool(receiver["certificate_key"])) == (None, True)
    assert {step["role"] for step in sender["steps"]} == {"sender"}
    assert {step["role"] for step in receiver["steps"]} == {"receiver"}
    first, second, *_ = sender["steps"]
    assert (first["phase"], first["port"], first["bytes"]) == (0, 8422, 1_000_000)
    assert (first["tls"], first["connections"]) == (True, 1)
    assert (second["phase"], second["connections"], second["rate_bytes_per_s"]) == (1, 4, 12_500_000)
    assert mesh.agents[2].get("/v1/agents/self/plan").headers["ETag"] == before[2]
    assert mesh.agents[0].get("/v1/agents/self/plan").headers["ETag"] != before[0]


def test_the_result_is_judged_by_its_interval(owner: Member, mesh: MeshWorld):
    made = owner.created("/v1/transport-trials", trial(mesh, rounds=3))
    url = f"/v1/bulk-runs/{made['id']}"
    agent = mesh.agents[0]
    reported(agent, made["id"], done(0, 1.0), done(1, 0.5, connections=4, at_s=2))
    reported(mesh.agents[1], made["id"], done(2, 0.1))  # a VM cannot report the transfer of another
    half = owner.get(url).json()
    assert (half["status"], half["trial"]["change"]) == ("running", None)
    assert half["progress"] == pytest.approx(2 / 6)
    times = [1.0, 0.5, 0.52, 1.02, 0.98, 0.5]
    steps = [
        done(at, seconds, 4 if one["variant"] == "b" else 1, at_s=2 * at)
        for at, (seconds, one) in enumerate(zip(times, made["transfers"], strict=True))
    ]
    reported(agent, made["id"], *steps)
    read = owner.get(url).json()
    assert (read["status"], read["progress"], read["error"]) == ("completed", 1, None)
    result = read["trial"]
    assert result["a"]["mean_s"] == pytest.approx((1.0 + 1.02 + 0.98) / 3)
    assert result["b"]["slowest_s"] == 0.52
    # Four connections with times of 1/4, 2/4, 3/4 and 4/4: rates 4, 2, 4/3 and 1.
    assert result["b"]["jain"] == pytest.approx((4 + 2 + 4 / 3 + 1) ** 2 / (4 * (16 + 4 + 16 / 9 + 1)), rel=1e-4)
    assert result["b"]["slowest_share"] == pytest.approx(1.6, rel=1e-4)
    assert result["a"]["jain"] is None
    assert result["change"]["verdict"] == "shorter"
    assert result["change"]["low"] < -0.49 < result["change"]["high"] < 0
    assert result["advice"].startswith("B takes 49.")
    assert agent.get("/v1/agents/self/plan").json()["bulk"] == []
    # Secrets of a run that is over are gone.
    secrets = "SELECT secret, certificate_key FROM bulk_orders WHERE id = :id"
    assert rows(secrets, {"id": made["id"]}) == [(None, None)]


def test_a_failure_names_the_vm(owner: Member, mesh: MeshWorld):
    made = owner.created("/v1/transport-trials", trial(mesh))
    reported(mesh.agents[1], made["id"], error="bulk_port: 127.0.0.1:8422 cannot be opened: in use")
    read = owner.get(f"/v1/bulk-runs/{made['id']}").json()
    assert read["status"] == "failed"
    assert read["error"].startswith(f"{mesh.agents[1].name}: bulk_port")
    again = owner.created("/v1/transport-trials", trial(mesh))
    reported(mesh.agents[0], again["id"], done(0, 1.0) | {"elapsed_us": 0, "error": "connection reset"})
    assert owner.get(f"/v1/bulk-runs/{again['id']}").json()["error"] == "a-1 to b-1: connection reset"
    assert mesh.agents[0].get("/v1/agents/self/plan").json()["bulk"] == []


def test_a_run_is_stopped_or_runs_out_of_time(owner: Member, mesh: MeshWorld):
    made = owner.created("/v1/transport-trials", trial(mesh))
    stopped = owner.post(f"/v1/bulk-runs/{made['id']}/stop")
    assert (stopped.status_code, stopped.json()["status"]) == (200, "stopped")
    assert owner.post(f"/v1/bulk-runs/{made['id']}/stop").json()["status"] == "stopped"
    assert mesh.agents[0].get("/v1/agents/self/plan").json()["bulk"] == []
    late = owner.created("/v1/transport-trials", trial(mesh))
    execute(
        "UPDATE bulk_orders SET starts_at = starts_at - :by, ends_at = ends_at - :by WHERE id = :id",
        {"by": timedelta(minutes=5), "id": late["id"]},
    )
    read = owner.get(f"/v1/bulk-runs/{late['id']}").json()
    assert (read["status"], read["error"]) == ("failed", "No report arrived: the agents did not run it.")
    assert [one["status"] for one in owner.get("/v1/bulk-runs").json()["items"]] == ["failed", "stopped"]
    # Rows of a version that ran planned transfers.
    execute("UPDATE bulk_orders SET kind = 'transfers' WHERE id = :id", {"id": late["id"]})
    assert [one["id"] for one in owner.get("/v1/bulk-runs").json()["items"]] == [made["id"]]
    assert owner.get(f"/v1/bulk-runs/{late['id']}").status_code == 404


def test_a_vm_takes_part_in_one_run_at_a_time(owner: Member, mesh: MeshWorld):
    owner.created("/v1/transport-trials", trial(mesh))
    names = [agent.name for agent in mesh.agents]
    for ends in ({"source": names[1], "target": names[2]}, {"source": names[2], "target": names[0]}):
        assert refused(owner, trial(mesh, **ends)) == (409, "bulk_vm_busy")


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"target": "d-1"}, 422, "vm_not_in_mesh"),
        ({"target": "a-1"}, 422, "path_same_ends"),
        ({"b": {"connections": 1}}, 422, "request_invalid"),
        ({"size_mb": 51}, 409, "bulk_limit_exceeded"),
        ({"rounds": 5, "b": {"connections": 64}}, 409, "bulk_limit_exceeded"),
        ({"b": {"congestion": "dctcp"}}, 409, "bulk_transport_unavailable"),
    ],
)
def test_wrong_trials_are_refused(owner: Member, mesh: MeshWorld, changes: dict[str, Any], status: int, code: str):
    assert refused(owner, trial(mesh, **changes)) == (status, code)
    assert owner.get("/v1/bulk-runs").json()["items"] == []


def test_both_agents_must_have_it_on_and_be_connected(owner: Member, mesh: MeshWorld, make_mesh):
    off = mesh.agents[3].name
    answer = owner.post("/v1/transport-trials", json=trial(mesh, target=off))
    assert (answer.status_code, answer.json()["code"]) == (409, "bulk_sender_off")
    assert f"Bulk sender off on {off}: set `bulk_sender = true`" in answer.json()["detail"]
    offering(mesh.agents[1], mptcp=False)
    assert refused(owner, trial(mesh, b={"mptcp": True})) == (409, "bulk_transport_unavailable")
    silent = make_mesh(owner, 2, name="silent")
    for agent in silent.agents:
        offering(agent)
    assert refused(owner, trial(silent)) == (409, "bulk_agent_silent")
    # What an agent says of itself is not trusted to be well-formed.
    for odd in ({"port": "x"}, {"congestion_controls": 3}, {"bytes_max": None}):
        offering(mesh.agents[1], **odd)
        assert refused(owner, trial(mesh)) == (409, "bulk_sender_off")
    senders = {one["vm"]["name"]: one for one in owner.get(f"/v1/meshes/{mesh.id}/bulk-senders").json()}
    names = [agent.name for agent in mesh.agents]
    assert [senders[name]["is_on"] for name in names] == [True, False, True, False]
    assert (senders[names[0]]["rate_max_mbit"], senders[names[0]]["congestion_controls"]) == (100, ["cubic", "bbr"])


def test_an_offer_stays_until_it_is_withdrawn(owner: Member, mesh: MeshWorld):
    agent = mesh.agents[0]
    is_on = lambda: owner.get(f"/v1/meshes/{mesh.id}/bulk-senders").json()[0]["is_on"]  # noqa: E731
    for body, expected in (
        ({"description": {"kernel": "6.1"}}, True),  # the agent describes itself, and does not know the offer
        ({"transfer": {}}, False),
        ({"description": {"bulk": OFFER}}, True),  # an agent of an earlier version
        ({"description": {"kernel": "6.1"}}, False),
    ):
        assert agent.patch("/v1/agents/self", json=body).status_code == 200
        assert is_on() is expected


def test_the_part_for_transfers_has_the_orders_alone(owner: Member, mesh: MeshWorld):
    agent = mesh.agents[0]

    def plan(part: str, etag: str = "") -> Response:
        return agent.get("/v1/agents/self/plan", params={"part": part}, headers={"If-None-Match": etag})

    whole, none = plan("all"), plan("bulk")
    assert (len(whole.json()["meshes"]), none.json()["meshes"], none.json()["bulk"]) == (1, [], [])
    followers = owner.get(f"/v1/meshes/{mesh.id}/plan-followers").json()
    assert plan("bulk", none.headers["ETag"]).status_code == 304
    # Only who asks for the whole plan counts as one that measures by it.
    assert owner.get(f"/v1/meshes/{mesh.id}/plan-followers").json() == followers
    owner.created("/v1/transport-trials", trial(mesh))
    one, all = plan("bulk", none.headers["ETag"]).json(), plan("all").json()
    assert (one["meshes"], len(one["bulk"]), len(all["meshes"])) == ([], 1, 1)
    assert one["bulk"] == all["bulk"]


def test_what_the_run_does_to_the_measurements_is_shown(owner: Member, mesh: MeshWorld):
    """The window before the run has 25 µs, that of the run, which takes half of it, 20 times as much."""
    made = owner.created("/v1/transport-trials", trial(mesh))
    starts_s = _moved_back(made["id"], 120)
    agent, peer = mesh.agents[0], mesh.agents[1]
    for start_s, delay_ns in ((starts_s - 40, 25_000), (starts_s, 500_000)):
        sent(agent, report_of(mesh.key, {peer.vm_key: simple(delay_ns)}, start_s // 10 * 10))
    steps = [done(at, 1.0) | {"started_at_ns": 10**9 * (starts_s + 1 + at)} for at in range(4)]
    reported(agent, made["id"], *steps)
    out, back = owner.get(f"/v1/bulk-runs/{made['id']}").json()["disturbance"]
    assert out["path"] == f"{agent.name} to {peer.name}"
    assert back["path"] == f"{peer.name} to {agent.name}"
    assert out["before_p99_us"] < 100 < out["during_p99_us"]


def _moved_back(id: str, seconds: int) -> int:
    """Move a run into the past, at a whole window; return its start, Unix s."""
    moved = (
        "UPDATE bulk_orders SET starts_at = to_timestamp(floor(extract(epoch FROM starts_at) / 10) * 10) - :by"
        " WHERE id = :id RETURNING extract(epoch FROM starts_at)::bigint"
    )
    return int(scalar(moved, {"by": timedelta(seconds=seconds), "id": id}))


def test_others_neither_see_nor_report_it(owner: Member, other_owner: Member, mesh: MeshWorld, make_mesh):
    made = owner.created("/v1/transport-trials", trial(mesh))
    url = f"/v1/bulk-runs/{made['id']}"
    assert other_owner.get("/v1/bulk-runs").json()["items"] == []
    body = {"order_id": made["id"], "steps": [done(0, 1.0)]}
    for agent in (mesh.agents[2], make_mesh(other_owner, 1).agents[0]):
        assert code_of(agent.post("/v1/agents/self/bulk-reports", json=body)) == (404, "bulk_run_unknown")
    unknown = mesh.agents[0].post("/v1/agents/self/bulk-reports", json={**body, "order_id": str(uuid4())})
    assert unknown.status_code == 404
    assert owner.get(url).json()["transfers"][0]["elapsed_s"] is None
