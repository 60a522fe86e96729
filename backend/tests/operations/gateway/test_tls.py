"""TLS on both sides: two gateways in a row, the second as the backend of the first, with one authority."""

import ssl
from pathlib import Path

import httpx2
import pytest

from lab.benchmarks.storing.product import free_port
from tests.api_clients import AgentCaller
from tests.certificates import certificate
from tests.measurements.reports import ZSTD, window_starts
from tests.operations.gateway.processes import Api, gateway
from tests.operations.gateway.test_gateway import REPORTS, body_of, stored
from tests.waits import until


def test_reports_pass_two_gateways_over_tls(api: Api, owner, make_mesh, tmp_path: Path) -> None:
    made = certificate(tmp_path)
    tls = ("--tls-certificate", made.chain, "--tls-key", made.key, "--ca-file", made.authority)
    behind = gateway(tmp_path / "behind", api.url, "queued", *tls, scheme="https")
    front = gateway(tmp_path / "front", behind.url, "stored", *tls, scheme="https")
    trust = ssl.create_default_context(cafile=str(made.authority))
    mesh = make_mesh(owner, 2)
    agent: AgentCaller = mesh.agents[0]
    (at,) = window_starts([1])
    try:
        for server in (behind, front):
            server.start(trust)
        with httpx2.Client(base_url=front.url, verify=trust, headers=agent.headers) as client:
            assert client.get("/v1/agents/self/plan").status_code == 200
            answer = client.post(REPORTS, content=body_of(mesh, 0, at), headers=ZSTD)
            # The first passes on what the second has done.
            assert (answer.status_code, answer.headers["sinemora-acknowledged"]) == (204, "queued")
            assert "strict-transport-security" in answer.headers
        until(lambda: stored(mesh).total() == 1, behind.output)
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            httpx2.get(front.url + "/healthz")
    finally:
        for server in (front, behind):
            server.stop()


def test_a_gateway_that_is_its_own_backend_says_so(owner, make_mesh, tmp_path: Path) -> None:
    port = free_port()
    server = gateway(tmp_path / "gateway", f"http://127.0.0.1:{port}", "queued", port=port)
    mesh = make_mesh(owner, 2)
    (at,) = window_starts([1])
    try:
        server.start()
        plan = httpx2.get(f"{server.url}/v1/agents/self/plan", headers=mesh.agents[0].headers)
        assert (plan.status_code, plan.json()["code"]) == (508, "gateway_loop")
        report = httpx2.post(
            server.url + REPORTS, content=body_of(mesh, 0, at), headers={**mesh.agents[0].headers, **ZSTD}, timeout=60
        )
        assert (report.status_code, report.json()["code"]) == (503, "backend_unavailable")
    finally:
        server.stop()
