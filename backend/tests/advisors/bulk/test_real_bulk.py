"""Real agents and sinemora-transfer run a trial by order of a real backend, over loopback."""

from pathlib import Path
from typing import Any

import pytest

from sinemora_client import Client
from tests.api_clients import Member
from tests.real_agents import running_agents
from tests.waits import until

OFFER = ("--bulk-sender", "--bulk-max-size", "64MiB", "--bulk-max-mbit", "200", "--bulk-max-s", "40")


@pytest.mark.whole_store
def test_a_trial(owner: Member, tmp_path: Path, connected: Client, online: Any):
    mesh = owner.created("/v1/meshes", {"name": "real", "window_s": 1})
    tokens = [owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"]})["token"] for _ in range(2)]
    with running_agents(connected.url, tokens, tmp_path, *OFFER, subnet=89):
        until(lambda: [bool(vm["last_report_at"]) for vm in owner.get("/v1/agents").json()["items"]] == [True] * 2)
        senders = f"/v1/meshes/{mesh['id']}/bulk-senders"
        until(lambda: [one["is_on"] for one in owner.get(senders).json()] == [True] * 2)
        assert "64 s" not in online("advise", "bulk-senders", "--mesh", "real")
        tried = ("--mesh", "real", "--size-mb", "2", "--rounds", "3", "--b", "4 tls")
        assert "completed" in online("advise", "try", "real-0", "real-1", *tried)
        latest: dict[str, Any] = owner.get("/v1/bulk-runs").json()["items"][0]
        read = owner.get(f"/v1/bulk-runs/{latest['id']}").json()
        assert (read["trial"]["a"]["done"], read["trial"]["b"]["done"]) == (3, 3)
        for one in read["transfers"]:
            # 2 MB at 200 Mbit/s take 80 ms; no transfer is faster than the cap.
            assert 0.07 < one["elapsed_s"] < 10
            assert one["sent_bytes"] == 2_000_000
        assert read["trial"]["b"]["jain"] > 0.3
        # A run that is stopped leaves no connection.
        body = {"mesh": "real", "source": "real-0", "target": "real-1", "size_mb": 5, "b": {"connections": 2}}
        slow = owner.created("/v1/transport-trials", body)
        url = f"/v1/bulk-runs/{slow['id']}"
        until(lambda: owner.get(url).json()["status"] == "running")
        assert owner.post(f"{url}/stop").json()["status"] == "stopped"
        owner.created("/v1/transport-trials", body | {"size_mb": 1})
