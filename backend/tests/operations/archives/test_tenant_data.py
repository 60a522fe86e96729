"""Export and deletion of a tenant by its owner."""

import io
import json
import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from sinemora.jobs import executor
from sinemora.kit import outbox
from sinemora.operations.archives import deletion
from sinemora.operations.archives import tenant as archives
from sinemora.operations.archives.archive import Reader
from tests.api_clients import Member, MeshWorld, body_of, join, sign_in
from tests.mail_server import MailServer
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import simple
from tests.statements import execute, scalar

# Columns that may have a secret by their name; below, those that have none, such as the digest of a roster.
_SECRET = re.compile("password|secret|digest|credential|encrypted")
_NO_SECRET = {"password_changed_at", "digest", "credential_prefix"}


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_CACHES_EXPIRE_S", 0.0)


@pytest.fixture
def world(owner: Member, other_owner: Member, make_mesh) -> MeshWorld:
    """A tenant with measurements, next to another one."""
    mesh = make_mesh(owner, 2)
    theirs = make_mesh(other_owner, 2)
    for one in (mesh, theirs):
        sent(one.agents[0], report_of(one.key, {one.agents[1].vm_key: simple(50_000)}, window_start()))
    return mesh


def name_of(member: Member) -> str:
    return str(member.get("/v1/auth/session").json()["tenant"]["name"])


def exported(owner: Member, **body: bool) -> str:
    job_id = str(body_of(owner.post(f"/v1/tenants/{owner.tenant_id}/exports", json=body))["id"])
    executor.run(owner.tenant_id, UUID(job_id))
    job = owner.get(f"/v1/jobs/{job_id}").json()
    assert job["state"] == "succeeded", job
    return job_id


def tables_of(data: bytes) -> dict[str, list[dict[str, object]]]:
    reader = Reader(io.BytesIO(data))
    lines = {name: b"".join(pieces).splitlines() for name, pieces in reader.tables()}
    reader.manifest()  # compares the digests
    return {name: [json.loads(line) for line in rows] for name, rows in lines.items()}


def test_an_owner_exports_the_tenant_and_nothing_else(world: MeshWorld, mail_settings: None):
    owner = world.owner
    expires = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    owner.created("/v1/api-keys", {"name": "k", "scopes": ["read"], "expires_at": expires})
    hook = {"url": "https://hooks.example.com/1"}
    receiver = {"name": "r", "kind": "webhook", "settings": hook, "secret": {"key": "a key that signs"}}
    owner.created("/v1/receivers", receiver)
    owner.created("/v1/invitations", {"email": "ada@example.com", "role": "viewer", "delivery": "email"})
    provider = {"issuer": "https://login.example.com", "client_id": "c", "client_secret": "s", "roles": {"*": "viewer"}}
    assert owner.put("/v1/identity-provider", json=provider).status_code == 200
    job_id = exported(owner)
    exported(owner)  # an export does not contain the ones before it
    data = owner.get(f"/v1/jobs/{job_id}/output")
    assert data.headers["content-disposition"] == 'attachment; filename="sinemora-export.tar"'
    tables = tables_of(data.content)
    assert [row["email"] for row in tables["users"]] == [owner.email]
    assert [row["id"] for row in tables["tenants"]] == [str(owner.tenant_id)]
    assert tables["probe_frames"]
    assert "job_chunks" not in tables
    for name, rows in tables.items():
        assert {row["tenant_id"] for row in rows if "tenant_id" in row} <= {str(owner.tenant_id)}, name
        assert {row["tenant_key"] for row in rows if "tenant_key" in row} <= {owner.tenant_key}, name
        secret = {column for row in rows for column in row if _SECRET.search(column)} - _NO_SECRET
        assert secret == set(), name


def test_measurements_can_be_left_out(world: MeshWorld):
    job_id = exported(world.owner, measurements=False)
    tables = tables_of(world.owner.get(f"/v1/jobs/{job_id}/output").content)
    assert tables["meshes"]
    assert not {"probe_frames", "probe_frames_1m", "spikes", "path_latest"} & set(tables)


def test_only_owners_download_an_export(world: MeshWorld):
    job_id = exported(world.owner)
    for role in ("viewer", "editor", "admin"):
        member = join(world.owner, role)
        assert member.get(f"/v1/jobs/{job_id}").status_code == 200
        answer = member.get(f"/v1/jobs/{job_id}/output")
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")
        assert member.post(f"/v1/tenants/{member.tenant_id}/exports", json={}).json()["code"] == "not_allowed"


def test_a_deletion_is_announced_and_cancelled(owner: Member, mail_settings: None, mail_server: MailServer):
    member = join(owner, "admin")
    path, body = f"/v1/tenants/{owner.tenant_id}/deletion", {"tenant_name": name_of(owner)}
    assert member.post(path, json=body).json()["code"] == "not_allowed"
    assert owner.post(path, json={"tenant_name": "another"}).json()["code"] == "confirmation_wrong"
    assert owner.post(path, json=body).json()["deletion_at"]
    assert owner.post(path, json=body).json()["code"] == "deletion_requested"
    assert member.get("/v1/tenants").json()["items"][0]["deletion_at"]
    outbox.deliver_due()
    assert [to for to, _ in mail_server.got].count([owner.email]) == 1
    deletion.delete_due()  # not yet
    assert member.get("/v1/meshes").status_code == 200
    assert owner.delete(path).status_code == 204
    assert owner.delete(path).json()["code"] == "deletion_not_requested"
    execute("UPDATE tenants SET deletion_at = NULL")
    deletion.delete_due()
    assert owner.get("/v1/meshes").status_code == 200


def test_a_due_deletion_leaves_nothing_and_others_everything(world: MeshWorld, other_owner: Member):
    owner, name = world.owner, name_of(world.owner)
    member = join(owner, "viewer")
    invited = {"email": other_owner.email, "role": "viewer", "delivery": "link"}
    token = owner.created("/v1/invitations", invited)["link"].partition("#token=")[2]
    assert other_owner.post("/v1/invitations/accept", json={"token": token}).status_code == 200
    owner.post(f"/v1/tenants/{owner.tenant_id}/deletion", json={"tenant_name": name})
    execute("UPDATE tenants SET deletion_at = now() - interval '1 s' WHERE id = :id", {"id": owner.tenant_id})
    deletion.delete_due()
    deletion.delete_due()
    for gone in (owner, member):
        assert gone.get("/v1/auth/session").status_code == 401
    for table, column, value in (
        ("tenants", "id", owner.tenant_id),
        ("audit_entries", "tenant_id", owner.tenant_id),
        ("meshes", "tenant_id", owner.tenant_id),
        ("probe_frames", "tenant_key", owner.tenant_key),
        ("users", "id", member.user_id),
    ):
        assert scalar(f"SELECT count(*) FROM {table} WHERE {column} = :value", {"value": value}) == 0, table
    assert scalar("SELECT count(*) FROM probe_frames WHERE tenant_key = :key", {"key": other_owner.tenant_key})
    # A member of another tenant stays there.
    assert sign_in(owner.http, other_owner.email).tenant_id == other_owner.tenant_id
