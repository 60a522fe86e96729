"""Ingest gateways as processes in front of a real API: what they acknowledge is stored, and once."""

import random
import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx2
import zstandard

from tests.api_clients import AgentCaller, MeshWorld, enrolment
from tests.http_server import Answer, answering
from tests.measurements.reports import PROTOBUF, ZSTD, report_of, window_starts
from tests.measurements.worlds import simple
from tests.operations.gateway.conftest import Gateways
from tests.operations.gateway.processes import HTTP, Api, Server
from tests.statements import rows
from tests.waits import until

REPORTS = "/v1/agents/self/reports"


def body_of(mesh: MeshWorld, n: int, started_at_s: int) -> bytes:
    """Return the body of a report of agent `n` about all others."""
    peers = {peer.vm_key: simple(40_000) for peer in mesh.agents if peer is not mesh.agents[n]}
    return zstandard.compress(report_of(mesh.key, peers, started_at_s).SerializeToString())


def send(server: Server, agent: AgentCaller, body: bytes, media: dict[str, str] = ZSTD) -> httpx2.Response:
    return HTTP.post(server.url + REPORTS, content=body, headers={**agent.headers, **media}, timeout=60)


def stored(mesh: MeshWorld) -> Counter[tuple[int, int]]:
    """Count how often each window of each VM of a mesh is stored."""
    windows = "SELECT vm_key, extract(epoch FROM started_at)::bigint FROM probe_frames WHERE mesh_key = :mesh"
    return Counter((vm_key, at) for vm_key, at in rows(windows, {"mesh": mesh.key}))


def test_stored_is_acknowledged_after_the_commit(api: Api, gateway: Gateways, owner, make_mesh) -> None:
    mesh, front = make_mesh(owner, 2), gateway("stored")
    (at,) = window_starts([1])
    answer = send(front, mesh.agents[0], body_of(mesh, 0, at))
    assert (answer.status_code, answer.headers["sinemora-acknowledged"]) == (204, "stored")
    assert int(answer.headers["sinemora-time-ns"]) > 0
    assert stored(mesh) == {(mesh.agents[0].vm_key, at): 1}
    refused = send(front, mesh.agents[0], b"no report", PROTOBUF)
    assert (refused.status_code, refused.json()["code"]) == (422, "malformed_report")
    assert "sinemora-acknowledged" not in refused.headers
    api.stop()
    away = send(front, mesh.agents[0], body_of(mesh, 0, at - 10))
    assert (away.status_code, away.json()["code"]) == (503, "backend_unavailable")
    assert int(away.headers["retry-after"]) > 0


def test_slow_strangers_leave_the_room_of_agents_that_the_backend_knows(
    api: Api, gateway: Gateways, owner, make_mesh
) -> None:
    mesh, front = make_mesh(owner, 2), gateway("stored")
    agent, (at,) = mesh.agents[0], window_starts([1])
    assert HTTP.get(front.url + "/v1/agents/self/plan?wait_s=0", headers=agent.headers).status_code == 200
    head = f"POST {REPORTS} HTTP/1.1\r\nHost: a\r\nContent-Length: {8 << 20}\r\nAuthorization: Bearer sma_x\r\n\r\na"
    address = ("127.0.0.1", int(front.url.rpartition(":")[2]))
    with ExitStack() as callers:
        slow = [callers.enter_context(socket.create_connection(address, timeout=60)) for _ in range(17)]
        for caller in slow:  # together they declare more than a gateway receives at once
            caller.sendall(head.encode())
        assert slow[-1].recv(65_536).startswith(b"HTTP/1.1 503")
        assert send(front, agent, body_of(mesh, 0, at)).status_code == 204


def test_no_connection_is_refused_while_a_gateway_is_replaced(gateway: Gateways) -> None:
    front, answers = gateway("stored"), Counter[int]()
    with ThreadPoolExecutor(1) as asking:
        replaced = asking.submit(front.replace)
        while not replaced.done() or answers.total() < 20:
            answers[HTTP.get(front.url + "/livez", timeout=60).status_code] += 1
    replaced.result()
    answers[HTTP.get(front.url + "/readyz", timeout=60).status_code] += 1
    assert set(answers) == {200}


def test_requests_of_agents_pass_unchanged(api: Api, gateway: Gateways, owner, make_mesh) -> None:
    mesh, front = make_mesh(owner, 2), gateway("queued")
    path, agent = "/v1/agents/self/plan?wait_s=0", mesh.agents[0]
    direct = HTTP.get(api.url + path, headers=agent.headers)
    through = HTTP.get(front.url + path, headers=agent.headers)
    assert through.json() | {"server_time_ns": 0} == direct.json() | {"server_time_ns": 0}
    same = {"etag", "content-type", "cache-control"}
    assert {name: through.headers[name] for name in same} == {name: direct.headers[name] for name in same}
    assert direct.json()["server_time_ns"] < through.json()["server_time_ns"]
    held = HTTP.get(front.url + path, headers={**agent.headers, "If-None-Match": through.headers["etag"]})
    assert (held.status_code, held.content) == (304, b"")
    assert int(held.headers["sinemora-time-ns"]) > int(through.headers["sinemora-time-ns"])
    assert HTTP.get(front.url + "/v1/meshes").json()["code"] == "route_unknown"
    unknown = HTTP.get(front.url + path, headers={"Authorization": "Bearer sma_unknown"})
    assert (unknown.status_code, unknown.json()["code"]) == (401, "agent_credential_unknown")
    assert unknown.json()["detail"].startswith("Unknown credential")
    token = owner.created("/v1/enrolment-tokens", {"mesh_id": str(mesh.id)})["token"]
    enrolled = HTTP.post(f"{front.url}/v1/agents/enrol", json=enrolment(token, "new", "a", "10.0.0.99"), timeout=60)
    assert (enrolled.status_code, "credential" in enrolled.json()) == (201, True), enrolled.text


def test_queued_reports_survive_outage_and_kill_and_are_stored_once(
    api: Api, gateway: Gateways, owner, make_mesh
) -> None:
    mesh, front = make_mesh(owner, 3), gateway("queued")
    starts = window_starts(range(1, 31))
    acknowledged: set[tuple[int, int]] = set()

    def upload(at: int) -> None:
        for n, agent in enumerate(mesh.agents):
            answer = send(front, agent, body_of(mesh, n, at))
            assert (answer.status_code, answer.headers["sinemora-acknowledged"]) == (204, "queued"), answer.text
            assert "sinemora-time-ns" not in answer.headers
            acknowledged.add((agent.vm_key, at))

    for at in starts[:10]:
        upload(at)
    api.stop()
    for at in starts[10:20]:
        upload(at)
    repeated = body_of(mesh, 0, starts[19] - 10_000)
    before = front.metric("sinemora_gateway_queue_reports")
    assert before >= 30
    assert [send(front, mesh.agents[0], repeated).status_code for _ in range(3)] == [204] * 3
    acknowledged.add((mesh.agents[0].vm_key, starts[19] - 10_000))
    assert front.metric("sinemora_gateway_queue_reports") == before + 1
    assert front.metric("sinemora_gateway_backend_up") == 0
    front.kill()
    front.start()
    # The credentials were verified by the process that was killed.
    for at in starts[20:]:
        upload(at)
    api.start()
    until(lambda: front.metric("sinemora_gateway_queue_reports") == 0, front.output)
    assert stored(mesh) == Counter(acknowledged)
    assert front.metric("sinemora_gateway_queue_bytes") == 0
    assert front.metric("sinemora_gateway_forwarded_total") >= 60
    assert front.metric("sinemora_gateway_refused_total") == 0


def test_an_unknown_credential_is_never_queued(api: Api, gateway: Gateways, owner, make_mesh) -> None:
    mesh, front = make_mesh(owner, 2), gateway("queued")
    stranger = AgentCaller(owner.http, {"Authorization": "Bearer sma_unknown"})
    answer = send(front, stranger, b"x", PROTOBUF)
    assert (answer.status_code, answer.json()["code"]) == (401, "agent_credential_unknown")
    assert HTTP.post(front.url + REPORTS, content=b"x", headers=PROTOBUF).json()["code"] == "sign_in_required"
    api.stop()
    (at,) = window_starts([1])
    # Neither has been seen by the backend.
    for agent in (AgentCaller(owner.http, {"Authorization": "Bearer sma_other"}), mesh.agents[0]):
        answer = send(front, agent, body_of(mesh, 0, at))
        assert (answer.status_code, answer.json()["code"]) == (503, "backend_unavailable")
    assert front.metric("sinemora_gateway_queue_reports") == 0


def test_a_revoked_agent_is_refused_and_its_queue_set_aside(
    api: Api, gateway: Gateways, owner, make_mesh, tmp_path: Path
) -> None:
    mesh, front = make_mesh(owner, 2), gateway("queued", "--verify-s", "1")
    starts, agent = window_starts(range(1, 5)), mesh.agents[0]
    assert send(front, agent, body_of(mesh, 0, starts[0])).status_code == 204
    until(lambda: stored(mesh).total() == 1)
    api.stop()
    for at in starts[1:3]:
        assert send(front, agent, body_of(mesh, 0, at)).status_code == 204
    revoked = owner.post(f"/v1/agents/{agent.agent_id}/revoke")
    assert revoked.status_code == 200, revoked.text
    api.start()
    refused = tmp_path / "gateway" / "refused"
    until(lambda: len(list(refused.glob("*.report"))) == 2, front.output)
    whys = [path.read_text() for path in sorted(refused.glob("*.why"))]
    assert all("HTTP 401 agent_revoked" in why and agent.headers["Authorization"][7:17] in why for why in whys)
    until(lambda: front.metric("sinemora_gateway_refused_total") == 2, front.output)  # counted after it is written
    answer = send(front, agent, body_of(mesh, 0, starts[3]))
    assert (answer.status_code, answer.json()["code"]) == (401, "agent_revoked")
    assert stored(mesh).total() == 1


def test_a_report_that_the_backend_never_accepts_does_not_hold_up_the_next(
    gateway: Gateways, owner, make_mesh, tmp_path: Path
) -> None:
    mesh, front = make_mesh(owner, 2), gateway("queued")
    (at,) = window_starts([1])
    assert send(front, mesh.agents[0], b"no report", PROTOBUF).status_code == 204
    assert send(front, mesh.agents[0], body_of(mesh, 0, at)).status_code == 204
    until(lambda: stored(mesh).total() == 1, front.output)
    (kept,) = (tmp_path / "gateway" / "refused").glob("*.report")
    assert kept.read_bytes() == b"no report"
    assert "HTTP 422 malformed_report" in kept.with_suffix(".why").read_text()
    assert "the backend refused a queued report" in front.output()


def test_a_full_queue_refuses_and_drops_nothing(api: Api, gateway: Gateways, owner, make_mesh) -> None:
    mesh, front = make_mesh(owner, 2), gateway("queued", "--capacity-mib", "1")
    (at,) = window_starts([1])
    assert send(front, mesh.agents[0], body_of(mesh, 0, at)).status_code == 204
    until(lambda: stored(mesh).total() == 1)
    api.stop()
    bodies = [random.Random(n).randbytes(300_000) for n in range(4)]
    statuses = [send(front, mesh.agents[0], body, PROTOBUF).status_code for body in bodies]
    assert statuses == [204, 204, 204, 503]
    answer = send(front, mesh.agents[0], bodies[3], PROTOBUF)
    assert answer.json()["code"] == "gateway_queue_full"
    assert int(answer.headers["retry-after"]) > 0
    assert front.metric("sinemora_gateway_queue_reports") == 3
    # A small one still has room.
    assert HTTP.get(front.url + "/readyz").json()["status"] == "degraded"
    assert send(front, mesh.agents[0], body_of(mesh, 0, at - 10)).status_code == 204
    api.start()
    until(lambda: stored(mesh).total() == 2, front.output)
    assert front.metric("sinemora_gateway_refused_total") == 3


def test_readiness_follows_the_backend_in_stored_mode_only(api: Api, gateway: Gateways) -> None:
    front = gateway("stored")
    assert HTTP.get(front.url + "/readyz").json()["status"] == "ready"
    assert HTTP.get(front.url + "/livez").json() == {"status": "ok"}
    api.stop()
    until(lambda: HTTP.get(front.url + "/readyz").status_code == 503, front.output)
    assert HTTP.get(front.url + "/readyz").json()["dependencies"]["backend"]["state"] == "down"
    front.stop()
    front = gateway("queued")
    until(lambda: HTTP.get(front.url + "/readyz").json()["status"] == "degraded", front.output)
    assert HTTP.get(front.url + "/readyz").status_code == 200
    assert HTTP.get(front.url + "/livez").status_code == 200


PAGES = {
    "maintenance": (200, "application/json", b'{"status": "maintenance"}'),
    "not found": (404, "application/json", b'{"code": 404, "message": "no such route"}'),
    "signed out": (401, "application/json", b'{"code": "token_invalid"}'),
    "page": (200, "text/html", b"<h1>We are back soon</h1>"),
}


@contextmanager
def another_server(address: str, *pages: tuple[int, str, bytes]) -> Iterator[list[str]]:
    """Answer at an address with the next page after each POST, then with the last; yield the methods of requests."""
    seen: list[str] = []

    def reply(request: BaseHTTPRequestHandler, _: bytes) -> Answer:
        status, media_type, content = pages[min(seen.count("POST"), len(pages) - 1)]
        seen.append(request.command)
        return status, {"Content-Type": media_type}, content

    with answering(reply, int(address.rpartition(":")[2])):
        yield seen


def test_a_queued_report_waits_for_the_backend_itself(
    api: Api, gateway: Gateways, owner, make_mesh, tmp_path: Path
) -> None:
    mesh, front = make_mesh(owner, 2), gateway("queued")
    first, second = window_starts([1, 2])
    assert send(front, mesh.agents[0], body_of(mesh, 0, first)).status_code == 204
    until(lambda: front.metric("sinemora_gateway_queue_reports") == 0, front.output)
    api.stop()
    assert send(front, mesh.agents[0], body_of(mesh, 0, second)).status_code == 204
    with another_server(api.url, *PAGES.values()) as seen:
        until(lambda: seen.count("POST") > len(PAGES), front.output)
        assert front.metric("sinemora_gateway_queue_reports") == 1
        assert front.metric("sinemora_gateway_refused_total") == 0
        other = gateway("stored", "--directory", str(tmp_path / "other"))
        answer = HTTP.get(other.url + "/readyz")
        assert answer.status_code == 503
        assert "another server answers" in answer.json()["dependencies"]["backend"]["detail"]
        assert other.metric("sinemora_gateway_backend_up") == 0
    api.start()
    until(lambda: front.metric("sinemora_gateway_queue_reports") == 0, front.output)
    until(lambda: HTTP.get(other.url + "/readyz").status_code == 200, other.output)
    assert stored(mesh) == Counter({(mesh.agents[0].vm_key, at): 1 for at in (first, second)})
