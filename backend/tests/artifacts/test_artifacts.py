"""Artifacts: publishing, spreading, tokens of agents, limits, and tenants apart."""

import base64
import hashlib
import json
import random
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sinemora.artifacts.command import blocks_of
from sinemora.artifacts.core import access
from sinemora.artifacts.models import Chunking
from sinemora.cli import main
from sinemora.kit.signing import verifies
from tests.api_clients import AgentCaller, MakeMesh, Member, MeshWorld, SetTo, body_of, code_of, enrolment
from tests.measurements.reports import report_of, sent
from tests.measurements.worlds import simple
from tests.statements import execute
from tests.terminal import listening

pytestmark = pytest.mark.usefixtures("secret_key")


@pytest.fixture
def mesh(owner: Member, make_mesh: MakeMesh) -> MeshWorld:
    """A mesh of three agents with artifacts switched on."""
    world = make_mesh(owner, 3)
    switch(owner, world, enabled=True)
    return world


def switch(owner: Member, mesh: MeshWorld, **body: Any) -> dict[str, Any]:
    return body_of(owner.put(f"/v1/meshes/{mesh.id}/artifact-settings", json=body))


def store(owner: Member, *parts: bytes) -> list[dict[str, Any]]:
    for part in parts:
        assert owner.put(f"/v1/artifact-blocks/{hashlib.sha256(part).hexdigest()}", content=part).status_code == 204
    return [{"digest": hashlib.sha256(part).hexdigest(), "size": len(part)} for part in parts]


def publish(owner: Member, mesh: MeshWorld, *parts: bytes, **changes: Any) -> dict[str, Any]:
    return owner.created("/v1/artifacts", body_for(mesh, blocks=store(owner, *parts), **changes))


def body_for(mesh: MeshWorld, **fields: Any) -> dict[str, Any]:
    """Return the body that publishes an artifact."""
    return {"name": "image", "release": "1", "mesh_id": str(mesh.id), "chunking": "fixed", "blocks": [], **fields}


def exchange(agent: AgentCaller, *copies: dict[str, Any], port: int = 8421) -> dict[str, Any]:
    return body_of(agent.post("/v1/agents/self/artifacts", json={"port": port, "copies": list(copies)}))


def test_agents_get_a_signed_document_the_manifest_and_the_blocks(owner: Member, mesh: MeshWorld):
    made = publish(owner, mesh, b"one" * 50, b"two" * 50)
    assert (made["size_bytes"], made["block_count"], made["copies"], made["complete"]) == (300, 2, 3, 0)
    agent = mesh.agents[0]
    work = exchange(agent)
    (wanted,) = work["artifacts"]
    document = json.loads(wanted["document"])
    (key,) = work["keys"]
    assert verifies(document, wanted["signatures"][0]["value"], base64.b64decode(key))
    assert document["root"] == made["root"]
    assert document["tenant_id"] == str(owner.tenant_id)
    manifest = agent.get(f"/v1/agents/self/artifacts/{made['id']}/manifest").content
    assert len(manifest) == 72
    block = agent.get(f"/v1/agents/self/artifact-blocks/{manifest[:32].hex()}")
    assert block.content == b"one" * 50
    assert owner.get(f"/v1/artifacts/{made['id']}/content").content == b"one" * 50 + b"two" * 50


def test_the_keys_are_pinned_at_enrolment(owner: Member, mesh: MeshWorld):
    token = owner.created("/v1/enrolment-tokens", {"mesh_id": str(mesh.id)})["token"]
    enrolled = AgentCaller(owner.http).post("/v1/agents/enrol", json=enrolment(token, "later", "a", "10.1.1.1")).json()
    assert enrolled["keys"] == exchange(mesh.agents[0])["keys"]


def test_peers_are_the_nearest_with_tokens_that_their_keys_check(owner: Member, mesh: MeshWorld):
    a, b, c = mesh.agents
    sent(a, report_of(mesh.key, {b.vm_key: simple(900_000), c.vm_key: simple(50_000)}))
    sent(b, report_of(mesh.key, {a.vm_key: simple(900_000), c.vm_key: simple(40_000)}))
    sent(c, report_of(mesh.key, {a.vm_key: simple(50_000), b.vm_key: simple(40_000)}))
    publish(owner, mesh, b"x")
    keys = {agent.vm_key: exchange(agent, port=8000 + at)["serving_key"] for at, agent in enumerate((b, c))}
    peers = exchange(a)["peers"]
    assert [peer["vm_key"] for peer in peers] == [c.vm_key, b.vm_key]
    assert [peer["port"] for peer in peers] == [8001, 8000]
    assert peers[0]["round_trip_us"] < peers[1]["round_trip_us"]
    for peer in peers:
        token = access.token(bytes.fromhex(keys[peer["vm_key"]]), a.vm_key, peer["expires_s"])
        assert peer["token"] == token.hex()


def test_peers_are_those_that_have_or_fetch_the_artifact(owner: Member, mesh: MeshWorld):
    """A VM that has nothing to do with an artifact is no peer, however near; one that holds blocks is, however far."""
    a, b, c = mesh.agents
    made = publish(owner, mesh, b"x" * 20, b"y" * 20, everywhere=False)
    for agent in (b, c):
        exchange(agent)
    asked = owner.post(f"/v1/artifacts/{made['id']}/copies", json={"vm_ids": [str(a.vm_id), str(c.vm_id)]})
    assert asked.status_code == 202
    assert [(peer["vm_key"], peer["artifacts"]) for peer in exchange(a)["peers"]] == [(c.vm_key, [made["id"]])]
    exchange(c, {"artifact_id": made["id"], "state": "refused", "note": "no space"})
    assert exchange(a)["peers"] == []


def test_a_copy_shows_its_share_its_sources_and_who_sent_corrupt_blocks(owner: Member, mesh: MeshWorld):
    made = publish(owner, mesh, b"a", b"b", b"c", b"d")
    a, b, c = mesh.agents
    sources = {"sources": {str(b.vm_key): 2, "backend": 1}, "corrupt": {str(c.vm_key): 1}}
    exchange(a, {"artifact_id": made["id"], "state": "fetching", "blocks_held": 3, **sources})
    copies = owner.get(f"/v1/artifacts/{made['id']}/copies").json()
    found = next(one for one in copies["items"] if one["vm_id"] == str(a.vm_id))
    assert (found["share"], found["state"], found["corrupt_from"]) == (0.75, "fetching", [c.name])
    assert [(one["name"], one["size_bytes"]) for one in found["sources"]] == [(b.name, 2), ("Backend", 1)]
    assert (copies["peer_bytes"], copies["backend_bytes"]) == (2, 1)
    # Three of four bytes took a while, so the fourth takes a third of it.
    began, done = (datetime.fromisoformat(found[name]) for name in ("started_at", "done_at"))
    elapsed_s = 3 * 8 / 1e6 / found["rate_mbit"]
    assert (done - began).total_seconds() == pytest.approx(elapsed_s * 4 / 3, rel=0.01)
    waiting = next(one for one in copies["items"] if one["vm_id"] == str(b.vm_id))
    assert (waiting["rate_mbit"], waiting["done_at"]) == (None, None)
    exchange(a, {"artifact_id": made["id"], "state": "complete", "blocks_held": 4})
    copies = owner.get(f"/v1/artifacts/{made['id']}/copies").json()
    assert copies["artifact"]["complete"] == 1


def test_an_artifact_for_some_vms_reaches_those_that_are_asked(owner: Member, mesh: MeshWorld):
    made = publish(owner, mesh, b"x", everywhere=False)
    a, b, _ = mesh.agents
    assert exchange(a)["artifacts"] == []
    assert owner.post(f"/v1/artifacts/{made['id']}/copies", json={"vm_ids": [str(a.vm_id)]}).status_code == 202
    assert [one["id"] for one in exchange(a)["artifacts"]] == [made["id"]]
    assert exchange(b)["artifacts"] == []


def test_nothing_happens_where_artifacts_are_off(owner: Member, mesh: MeshWorld):
    made = publish(owner, mesh, b"x")
    switch(owner, mesh, enabled=False)
    work = exchange(mesh.agents[0])
    assert (work["enabled"], work["artifacts"], work["peers"], work["serving_key"]) == (False, [], [], "")
    assert mesh.agents[0].get(f"/v1/agents/self/artifacts/{made['id']}/manifest").status_code == 404
    assert code_of(owner.post("/v1/artifacts", json=body_for(mesh))) == (409, "artifacts_off")


def test_a_copy_that_waits_says_what_for(owner: Member, mesh: MeshWorld):
    a, b, _ = mesh.agents
    made = publish(owner, mesh, b"x")
    exchange(a)

    def waits() -> list[str | None]:
        items = owner.get(f"/v1/artifacts/{made['id']}/copies").json()["items"]
        by_vm = {one["vm_id"]: one["waits_for"] for one in items}
        return [by_vm[str(agent.vm_id)] for agent in mesh.agents]

    assert waits() == [None, "request", "request"]  # a asks for artifacts, the others do not
    assert owner.post(f"/v1/agents/{b.agent_id}/revoke").status_code == 200
    assert waits() == [None, "agent", "request"]
    exchange(a, {"artifact_id": made["id"], "state": "complete", "blocks_held": 1})
    switch(owner, mesh, enabled=False)
    assert waits() == [None, "distribution", "distribution"]


def test_tenants_share_neither_blocks_nor_names(owner: Member, other_owner: Member, mesh: MeshWorld, make_mesh: Any):
    made = publish(owner, mesh, b"the same bytes")
    digest = hashlib.sha256(b"the same bytes").hexdigest()
    theirs = make_mesh(other_owner, 1, "theirs")
    switch(other_owner, theirs, enabled=True)
    asked = other_owner.post("/v1/artifacts/missing-blocks", json={"digests": [digest]})
    assert asked.json() == {"missing": [digest]}
    stranger = theirs.agents[0]
    assert stranger.get(f"/v1/agents/self/artifact-blocks/{digest}").status_code == 404
    assert stranger.get(f"/v1/agents/self/artifacts/{made['id']}/manifest").status_code == 404
    assert other_owner.get(f"/v1/artifacts/{made['id']}/copies").status_code == 404
    assert publish(other_owner, theirs, b"the same bytes")["name"] == made["name"]
    assert {one["vm_key"] for one in exchange(stranger)["peers"]} == set()


def test_wrong_input_is_explained(owner: Member, mesh: MeshWorld, set_to: SetTo):
    digest = hashlib.sha256(b"x").hexdigest()
    assert code_of(owner.put(f"/v1/artifact-blocks/{digest}", content=b"y")) == (422, "block_mismatch")
    body = body_for(mesh, blocks=[{"digest": digest, "size": 1}])
    assert code_of(owner.post("/v1/artifacts", json=body)) == (409, "blocks_missing")
    publish(owner, mesh, b"x")
    assert code_of(owner.post("/v1/artifacts", json=body | {"name": "image"})) == (409, "artifact_exists")
    copies = f"/v1/artifacts/{publish(owner, mesh, b'z', release='2')['id']}/copies"
    assert code_of(owner.post(copies, json={"vm_ids": [str(UUID(int=1))]})) == (409, "vm_not_in_mesh")
    set_to(quota_artifact_mib="0")
    last = f"/v1/artifact-blocks/{hashlib.sha256(b'q').hexdigest()}"
    assert code_of(owner.put(last, content=b"q")) == (403, "quota_exceeded")


def test_the_cost_of_a_move_counts_only_what_the_target_lacks(owner: Member, mesh: MeshWorld):
    """A and the image share one of two blocks: half of the image is brought, at the rate of the mesh or of the path."""
    a, b, _ = mesh.agents
    sent(a, report_of(mesh.key, {b.vm_key: simple(50_000)}))
    sent(b, report_of(mesh.key, {a.vm_key: simple(50_000)}))
    base = publish(owner, mesh, b"x" * 500_000, name="base")
    image = publish(owner, mesh, b"x" * 500_000, b"y" * 500_000)
    exchange(a, {"artifact_id": base["id"], "state": "complete", "blocks_held": 1})
    exchange(b, {"artifact_id": image["id"], "state": "complete", "blocks_held": 2})
    url = f"/v1/artifacts/{image['id']}/move-costs"
    cost = owner.get(f"{url}/{a.vm_id}").json()
    assert (cost["source"], cost["size_bytes"], cost["moved_bytes"], cost["share"]) == (b.name, 1_000_000, 500_000, 0.5)
    assert cost["rate_mbit"] == 50
    assert cost["seconds"] == pytest.approx(500_000 * 8 / 50e6)
    assert cost["words"] == "brings 50 % of 1 MB, less than a second"
    assert owner.get(f"{url}/{b.vm_id}").json()["words"] == "brings nothing: all 1 MB are there"


def test_deleting_keeps_blocks_that_another_artifact_has(owner: Member, mesh: MeshWorld):
    first = publish(owner, mesh, b"shared", b"only in one")
    publish(owner, mesh, b"shared", release="2")
    execute("UPDATE artifact_blocks SET stored_at = stored_at - interval '2 hours'")
    assert owner.delete(f"/v1/artifacts/{first['id']}").status_code == 204
    digests = [hashlib.sha256(part).hexdigest() for part in (b"shared", b"only in one")]
    missing = owner.post("/v1/artifacts/missing-blocks", json={"digests": digests}).json()["missing"]
    assert missing == digests[1:]


def test_content_defined_blocks_survive_an_insertion(tmp_path: Path):
    """A byte in front shifts every fixed block; cut by content, nearly all blocks stay the same."""
    data = random.Random(7).randbytes(6_000_000)
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_bytes(data)
    after.write_bytes(b"!" + data)
    shared = {}
    for chunking in Chunking:
        cut = [list(blocks_of(file, chunking, 64 << 10)) for file in (before, after)]
        assert all(
            sum(size for _, _, size in blocks) == size for blocks, size in zip(cut, (6_000_000, 6_000_001), strict=True)
        )
        known = {digest for digest, _, _ in cut[0]}
        shared[chunking] = sum(size for digest, _, size in cut[1] if digest in known) / 6_000_001
    assert shared[Chunking.FIXED] == 0
    assert shared[Chunking.CONTENT] > 0.9


def test_a_script_waits_for_copies_no_longer_than_it_says(
    owner: Member, mesh: MeshWorld, capsys: pytest.CaptureFixture[str]
):
    publish(owner, mesh, b"one" * 50)
    with listening(owner) as client:
        code = main(["artifacts", "status", "image", "--wait", "0.2", "--url", client.url, "--key", client.key])
    output = capsys.readouterr()
    assert (code, output.err.strip()) == (1, "3 of 3 copies are incomplete after 0.2 s.")
    assert output.out.count("waiting") == 3
