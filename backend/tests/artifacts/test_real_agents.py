"""Real agents bring each other a real file: published by the command, read on a VM, deleted everywhere."""

import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sinemora.artifacts.command import blocks_of
from sinemora.artifacts.models import Chunking
from sinemora.kit import config
from tests.api_clients import Member
from tests.terminal import listening
from tests.waits import until

AGENT = Path(__file__).parents[3] / "agent" / "target" / "debug" / "sinemora-agent"
TRANSFER = AGENT.with_name("sinemora-transfer")


@contextmanager
def running_agents(url: str, tokens: list[str], folder: Path) -> Iterator[None]:
    agents = []
    for n, token in enumerate(tokens):
        own = ["run", "--backend", url, "--listen-address", f"127.0.88.{n + 1}", "--state-dir", folder / str(n)]
        command = [AGENT, *own, "--token", token, "--name", f"real-{n}", "--cloud-metadata", "off"]
        command += ["--event-port", "20319", "--general-port", "20320"]
        agents.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        agents.append(subprocess.Popen([TRANSFER, *own, "--artifacts"], stderr=subprocess.DEVNULL))
    try:
        yield
    finally:
        for agent in agents:
            agent.terminate()
        for agent in agents:
            agent.wait()


@pytest.mark.whole_store
def test_a_file_spreads_between_agents(owner: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SINEMORA_SECRET_KEY", "of the tests")
    config.settings.cache_clear()
    mesh = owner.created("/v1/meshes", {"name": "real", "window_s": 1})
    settings = f"/v1/meshes/{mesh['id']}/artifact-settings"
    assert owner.put(settings, json={"enabled": True, "rate_mbit": 100}).status_code == 200
    tokens = [owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"]})["token"] for _ in range(3)]
    file = tmp_path / "file"
    file.write_bytes(random.Random(3).randbytes(6_000_000))
    with listening(owner) as client, running_agents(client.url, tokens, tmp_path):
        until(lambda: owner.get(settings).json()["serving"] == 3)
        blocks = list(blocks_of(file, Chunking.CONTENT, 64 << 10))
        with file.open("rb") as source:
            for digest, _, size in blocks:
                assert owner.put(f"/v1/artifact-blocks/{digest}", content=source.read(size)).status_code == 204
        body = {"name": "file", "release": "1", "mesh_id": mesh["id"], "chunking": "content"}
        listed = [{"digest": digest, "size": size} for digest, _, size in blocks]
        made = owner.created("/v1/artifacts", body | {"blocks": listed})
        path = f"/v1/artifacts/{made['id']}"
        until(lambda: owner.get(path).json()["complete"] == 3)
        copies = owner.get(f"{path}/copies").json()
        assert copies["peer_bytes"] + copies["backend_bytes"] == 18_000_000
        assert copies["peer_bytes"] > 3_000_000
        read = subprocess.run(
            [TRANSFER, "read", "file", "--state-dir", tmp_path / "1"], capture_output=True, check=True
        )
        assert read.stdout == file.read_bytes()
        assert owner.delete(path).status_code == 204
        held = tmp_path / "1" / "artifacts" / "blocks"
        until(lambda: not [one for one in held.rglob("*") if one.is_file()])
    config.settings.cache_clear()
