"""Real agents bring each other a real file: published by the command, read on a VM, deleted everywhere."""

import random
import subprocess
from pathlib import Path

import pytest

from sinemora.artifacts.command import blocks_of
from sinemora.artifacts.models import Chunking
from sinemora_client import Client
from tests.api_clients import Member
from tests.real_agents import TRANSFER, running_agents
from tests.waits import until


@pytest.mark.whole_store
def test_a_file_spreads_between_agents(owner: Member, tmp_path: Path, secret_key: None, connected: Client):
    mesh = owner.created("/v1/meshes", {"name": "real", "window_s": 1})
    settings = f"/v1/meshes/{mesh['id']}/artifact-settings"
    assert owner.put(settings, json={"enabled": True, "rate_mbit": 100}).status_code == 200
    tokens = [owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"]})["token"] for _ in range(3)]
    file = tmp_path / "file"
    file.write_bytes(random.Random(3).randbytes(6_000_000))
    with running_agents(connected.url, tokens, tmp_path, "--artifacts", subnet=88):
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
