from typing import Any

from tests.api_clients import AgentCaller, MakeMesh, Member

PLAN = "/v1/agents/self/plan"


def asked(agent: AgentCaller, *senders: str) -> list[int]:
    """Ask for the plan in the name of senders, one after the other. Return the statuses."""
    headers = [agent.headers | {"Sinemora-Sender": sender} for sender in senders]
    return [agent.http.get(PLAN, headers=one).status_code for one in headers]


def events(owner: Member, agent: AgentCaller) -> list[str]:
    items: list[dict[str, Any]] = owner.get(f"/v1/agents/{agent.agent_id}/events").json()["items"]
    return [item["kind"] for item in items]


def test_two_machines_that_take_turns_are_noticed_and_the_first_keeps_the_identity(owner: Member, agent: AgentCaller):
    first, copy = "a0-aaaa", "b0-bbbb"
    for sender, address in ((first, "10.7.0.1"), (copy, "10.7.0.9")):
        body = {"probe_address": address}
        headers = agent.headers | {"Sinemora-Sender": sender}
        assert agent.http.patch("/v1/agents/self", json=body, headers=headers).status_code == 200
    assert asked(agent, first, copy, first, copy, first, copy) == [200, 200, 200, 200, 200, 409]
    refused = agent.http.get(PLAN, headers=agent.headers | {"Sinemora-Sender": copy}).json()
    assert refused["code"] == "identity_copied"
    assert "delete its state_dir and enrol it" in refused["detail"]
    # The first machine keeps it, also when its agent starts again, and has its address back.
    assert asked(agent, first, "a1-aaaa", copy, "a1-aaaa") == [200, 200, 409, 200]
    assert owner.get(f"/v1/vms/{agent.vm_id}").json()["probe_address"] == "10.7.0.1"
    assert events(owner, agent) == ["identity_copied"]
    copied = owner.get("/v1/overview").json()["attention"]["copied"]
    assert (copied["count"], copied["first"][0]["vm"]["name"]) == (1, agent.name)


def test_restarts_and_agents_of_earlier_versions_are_no_copies(owner: Member, make_mesh: MakeMesh):
    agent = make_mesh(owner, 2).agents[0]
    clones = make_mesh(owner, 2, name="clones").agents[0]
    # Copies with one machine id: the process that was first keeps the identity.
    assert asked(clones, *["a-mmmm", "b-mmmm"] * 3, "c-mmmm") == [200, 200, 200, 200, 200, 409, 200]
    restarts = [f"{process}-aaaa" for process in range(6) for _ in range(3)]
    assert set(asked(agent, *restarts)) == {200}
    # A poll of a process that has ended may arrive after the first one of its successor.
    assert set(asked(agent, "6-aaaa", "7-aaaa", "6-aaaa", "7-aaaa", "x" * 65, "7-aaaa")) == {200}
    assert agent.request("GET", PLAN).status_code == 200
    assert owner.get("/v1/overview").json()["attention"]["copied"]["count"] == 1
