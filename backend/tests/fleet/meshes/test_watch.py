import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import event

from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes import queries, service, watch
from sinemora.kit import db
from sinemora.kit.db import tenant_session
from sinemora.main import server
from tests.api_clients import AgentCaller, MakeMesh, Member, MeshWorld, body_of, enrol
from tests.statements import call
from tests.waits import LONGEST_WAIT_S, WAIT_MOST_S, until

pytestmark = pytest.mark.agents(2)


def poll(agent: AgentCaller, etag: str, wait_s: float) -> tuple[int, float]:
    """Status of a long poll, and how long it took, s."""
    started = time.monotonic()
    answer = agent.get("/v1/agents/self/plan", params={"wait_s": wait_s}, headers={"If-None-Match": etag})
    return answer.status_code, time.monotonic() - started


def waits(app: Any) -> int:
    """Return how many requests wait for a change of the plan."""
    return sum(len(waiters) for waiters in list(app.state.plan_watch._fingerprints._waiting.values()))


def waits_of(owner: Member) -> int:
    """Return how many requests of the API that tests share wait for a change of the plan."""
    return waits(owner.http.app)


def etag_of(agent: AgentCaller) -> str:
    return str(agent.get("/v1/agents/self/plan").headers["ETag"])


def test_nothing_new_is_told_when_the_wait_is_over(agent: AgentCaller):
    status, took_s = poll(agent, etag_of(agent), 0.5)
    assert status == 304
    assert 0.5 <= took_s < LONGEST_WAIT_S
    assert poll(agent, '"another"', 5)[0] == 200
    etag, sent_ns = etag_of(agent), time.time_ns()
    answer = agent.get("/v1/agents/self/plan", headers={"If-None-Match": etag})
    assert answer.status_code == 304
    assert sent_ns <= int(answer.headers["Sinemora-Time-Ns"]) <= time.time_ns()
    assert answer.content == b""


def test_the_time_a_poll_was_held_bounds_the_error_of_its_time(agent: AgentCaller):
    sent_ns = time.time_ns()
    answer = agent.get("/v1/agents/self/plan", params={"wait_s": 0.5}, headers={"If-None-Match": etag_of(agent)})
    received_ns = time.time_ns()
    held_ns, at_ns = (int(answer.headers[f"Sinemora-{name}-Ns"]) for name in ("Held", "Time"))
    assert 0.5e9 <= held_ns <= received_ns - sent_ns
    # Server and test share a clock, so the offset, 0, is within both bounds.
    assert at_ns - received_ns <= 0 <= at_ns - sent_ns - held_ns


def test_a_change_ends_the_wait_of_all_it_concerns(owner: Member, other_owner: Member, make_mesh: MakeMesh):
    world, elsewhere = make_mesh(owner, 3), make_mesh(other_owner, 1)
    waiting = [*world.agents, elsewhere.agents[0]]
    etags = [etag_of(agent) for agent in waiting]
    waits_s = [LONGEST_WAIT_S] * 3 + [3]
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(poll, *one) for one in zip(waiting, etags, waits_s, strict=True)]
        until(lambda: waits_of(owner) == 4 or answers[3].done(), "four waits")
        owner.patch(f"/v1/meshes/{world.id}", json={"rate_hz": 16})
        result = [answer.result() for answer in answers]
    assert [status for status, _ in result] == [200, 200, 200, 304]
    assert all(took_s < LONGEST_WAIT_S for _, took_s in result[:3])


def test_a_revoked_agent_learns_it_while_it_waits(owner: Member, agent: AgentCaller):
    etag = etag_of(agent)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(poll, agent, etag, LONGEST_WAIT_S)
        until(lambda: waits_of(owner), "the wait")
        owner.post(f"/v1/agents/{agent.agent_id}/revoke")
        status, took_s = answer.result()
    assert status == 401
    assert took_s < LONGEST_WAIT_S


def test_waiting_holds_no_connection(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 6)
    etags = [etag_of(agent) for agent in world.agents]
    with ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(poll, *one, LONGEST_WAIT_S) for one in zip(world.agents, etags, strict=True)]
        until(lambda: waits_of(owner) == 6, "six waits")
        held = [
            db.engine().pool.checkedout() + db.system_engine().pool.checkedout()
            for _ in range(20)
            if time.sleep(0.02) is None
        ]
        assert not any(answer.done() for answer in answers)
        owner.patch(f"/v1/meshes/{world.id}", json={"rate_hz": 16})
        assert [answer.result()[0] for answer in answers] == [200] * 6
    assert min(held) == 0
    assert max(held) <= 1


def test_one_question_a_second_whoever_waits(owner: Member, make_mesh: MakeMesh, monkeypatch: pytest.MonkeyPatch):
    world = make_mesh(owner, 4)
    etags = [etag_of(agent) for agent in world.agents]
    queries_sent = 0
    lock = threading.Lock()
    original = watch.system_session

    def counting() -> Any:
        nonlocal queries_sent
        with lock:
            queries_sent += 1
        return original()

    monkeypatch.setattr(watch, "system_session", counting)  # nothing else in it reads all tenants
    started = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda pair: poll(pair[0], pair[1], 2.5), zip(world.agents, etags, strict=True)))
    # The first at once; a machine that is busy lets the four begin one after the other.
    assert 2 <= queries_sent <= time.monotonic() - started + 2


def test_who_waits_is_answered_when_the_process_ends(agent: AgentCaller):
    etag = etag_of(agent)
    running = server()

    def wait(port: int) -> int:
        question = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/agents/self/plan?wait_s=20", headers={**agent.headers, "If-None-Match": etag}
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(question, timeout=WAIT_MOST_S) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(2) as pool:
        ended = pool.submit(running.run, [listening])
        until(lambda: running.started, "the start of the server")
        answer = pool.submit(wait, listening.getsockname()[1])
        until(lambda: waits(running.app), "the wait")
        started = time.monotonic()
        running.should_exit = True
        assert answer.result() == 304
        ended.result()
        assert time.monotonic() - started < 20


def test_all_agents_of_a_tenant_share_a_reading(owner: Member, make_mesh: MakeMesh, monkeypatch: pytest.MonkeyPatch):
    agents = make_mesh(owner, 12).agents
    read, meshes_of = watch._read, watch.PlanWatch.meshes_of
    asked: list[object] = []
    readings: list[object] = []

    async def counted(*arguments: Any) -> watch.TenantMeshes:
        asked.append(arguments)
        return await meshes_of(*arguments)

    def once_all_have_asked(*arguments: Any) -> watch.TenantMeshes:
        readings.append(arguments)
        until(lambda: len(asked) == 12, "twelve questions")
        return read(*arguments)

    monkeypatch.setattr(watch.PlanWatch, "meshes_of", counted)
    monkeypatch.setattr(watch, "_read", once_all_have_asked)
    with ThreadPoolExecutor(12) as pool:
        plans = list(pool.map(lambda agent: agent.get("/v1/agents/self/plan").json(), agents))
    assert all(len(plan["meshes"][0]["peers"]) == 11 for plan in plans)
    assert len(readings) == 2  # that of the first, and one that began after the others had asked


def test_members_belong_to_the_revision_whoever_joins_meanwhile(owner: Member, mesh: MeshWorld):
    token = owner.created("/v1/enrolment-tokens", {"mesh_id": str(mesh.id)})["token"]
    late: list[AgentCaller] = []

    def join(*_: object) -> None:
        """Let a VM join as soon as the first statement has read what is there."""
        if not late:
            late.append(mesh.agents[0])
            late[0] = enrol(owner.http, token, "late", "a", "10.0.9.9")

    with tenant_session(owner.tenant_id) as session:
        event.listen(session.connection(), "after_cursor_execute", join)
        (seen,) = queries.mesh_states(session)
        event.remove(session.connection(), "after_cursor_execute", join)
    (now,) = call(queries.mesh_states, tenant=owner.tenant_id)
    assert now.revision > seen.revision
    assert (len(seen.members), len(now.members)) == (2, 3)


def test_agents_are_read_once_for_all_members(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 20)
    seen: list[tuple[str, Any]] = []
    with tenant_session(owner.tenant_id) as session:
        event.listen(session.connection(), "before_cursor_execute", lambda *args: seen.append((args[2], args[3])))
        assert len(queries.mesh_states(session, world.id)[0].members) == 20
        (statement, parameters) = seen[-1]
        cursor = session.connection().connection.cursor()
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
        ((((plan,)),),) = cursor.fetchall()
    # As a join, each VM may be compared with each agent, whatever the planner expects.
    subplans = [node for node in nodes(plan["Plan"]) if node.get("Parent Relationship") == "SubPlan"]
    scans = [node for subplan in subplans for node in nodes(subplan) if node.get("Relation Name") == "agents"]
    assert [scan["Actual Loops"] for scan in scans] == [1]
    assert sum(node.get("Relation Name") == "agents" for node in nodes(plan["Plan"])) == 1


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a node of a plan of PostgreSQL and all nodes below it."""
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def test_a_kept_mesh_is_never_older_than_its_revision(owner: Member, mesh: MeshWorld):

    def names(rename: str = "") -> list[str]:
        with tenant_session(owner.tenant_id) as session:
            if rename:
                session.get_one(Vm, mesh.agents[0].vm_id).name = rename
                session.flush()
            found = [member.name for member in service.mesh_state(session, mesh.id).members]
            if rename:
                session.rollback()
        return found

    before = names()
    assert names(rename="never-committed") == ["never-committed", before[1]]
    assert names() == before
    body_of(owner.patch(f"/v1/vms/{mesh.agents[0].vm_id}", json={"name": "changed"}, headers={"If-Match": "*"}))
    assert names() == ["changed", before[1]]  # with the same revision as the one that was never committed
