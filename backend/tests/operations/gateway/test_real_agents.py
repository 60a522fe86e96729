"""Real agents enrol and report through a gateway that is killed while the backend is away."""

import subprocess
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from sinemora.kit.db import system_session
from tests.api_clients import Member
from tests.operations.gateway.conftest import Gateways
from tests.operations.gateway.processes import HTTP, Server
from tests.waits import until

AGENT = Path(__file__).parents[4] / "agent" / "target" / "debug" / "sinemora-agent"
pytestmark = pytest.mark.skipif(not AGENT.is_file(), reason="the agent is not built (make setup)")


def starts_by_vm(mesh_key: int) -> dict[int, list[int]]:
    """Return the starts of the stored windows of each VM, s, in order."""
    with system_session() as session:
        rows = session.execute(
            text(
                "SELECT vm_key, array_agg(extract(epoch FROM started_at)::bigint ORDER BY started_at)"
                " FROM probe_frames WHERE mesh_key = :key GROUP BY vm_key"
            ),
            {"key": mesh_key},
        )
        return {vm_key: list(starts) for vm_key, starts in rows}


def newest_s(mesh_key: int) -> int:
    return max((starts[-1] for starts in starts_by_vm(mesh_key).values()), default=0)


def test_windows_of_an_outage_are_stored_once_at_their_time(
    api: Server, gateway: Gateways, owner: Member, tmp_path: Path
) -> None:
    front = gateway("queued")
    mesh = owner.created("/v1/meshes", {"name": "behind a gateway", "window_s": 1, "rate_hz": 4})
    token = owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"], "max_uses": 2})["token"]
    agents, logs = [], [tmp_path / f"agent-{n}.log" for n in range(2)]
    for n, path in enumerate(logs):
        command = [AGENT, "run", "--backend", front.url, "--token", token, "--name", f"real-{n}"]
        command += ["--listen-address", f"127.0.91.{n + 1}", "--event-port", "20319", "--general-port", "20320"]
        command += ["--metrics-listen", "off", "--cloud-metadata", "off", "--state-dir", tmp_path / str(n)]
        with path.open("wb") as log:
            agents.append(subprocess.Popen(command, stderr=log))
    try:
        until(lambda: newest_s(mesh["key"]) > 0, front.output)
        before_s = newest_s(mesh["key"])
        api.kill()
        until(lambda: front.metric("sinemora_gateway_queue_reports") >= 4, front.output)
        front.kill()
        front.start()
        queued = front.metric("sinemora_gateway_queue_reports")
        until(lambda: front.metric("sinemora_gateway_queue_reports") >= queued + 3, front.output)
        api.start()
        back_s = time.time()
        until(lambda: newest_s(mesh["key"]) > back_s + 2, front.output)
    finally:
        for agent in agents:
            agent.terminate()
        for agent in agents:
            agent.wait()
    until(lambda: front.metric("sinemora_gateway_queue_reports") == 0, front.output)
    assert front.metric("sinemora_gateway_refused_total") == 0
    for starts in starts_by_vm(mesh["key"]).values():
        # The primary key admits no second row of a window. Each second of the outage has its window, and none is late.
        during = [at for at in starts if before_s <= at <= back_s]
        assert during == list(range(during[0], during[-1] + 1))
        assert starts[-1] <= time.time()
    assert all("once they are queued on its disk" in path.read_text() for path in logs)
    assert HTTP.get(front.url + "/readyz").json()["status"] == "ready"
