"""Settings of bucket exports: who may change them, what is refused, and the secret."""

import io
import json
from uuid import UUID

from sqlalchemy import text

from lab.object_storage_server import ObjectStorageServer
from sinemora.jobs import executor
from sinemora.kit.db import system_session
from sinemora.operations.archives import tenant as archives
from sinemora.operations.archives.archive import Reader
from tests.api_clients import Member, join
from tests.statements import scalar

BODY = {"name": "warehouse", "bucket": "measurements", "access_key": "AK", "secret": "a secret"}


def test_an_administrator_creates_it_and_nobody_reads_the_secret(owner: Member):
    export = owner.created("/v1/bucket-exports", BODY)
    assert export.keys() >= {"name", "endpoint", "next_at", "state"}
    assert "a secret" not in str(export)
    assert "secret" not in export
    stored = scalar("SELECT secret FROM bucket_exports WHERE id = :id", {"id": export["id"]})
    assert stored is not None
    assert b"a secret" not in bytes(stored)
    for role, status in (("viewer", 403), ("editor", 403), ("admin", 201)):
        answer = join(owner, role).post("/v1/bucket-exports", json={**BODY, "name": role, "prefix": role})
        assert answer.status_code == status, (role, answer.text)
    seen = join(owner, "viewer").get("/v1/bucket-exports")
    assert [one["name"] for one in seen.json()["items"]] == ["admin", "warehouse"]
    assert "secret" not in seen.text


def test_wrong_input_is_refused_at_its_field(owner: Member):
    for field, value, message in (
        ("endpoint", "ftp://example.com", "use an address such as https://s3.example.com"),
        ("endpoint", "https://example.com/bucket", "without a path"),
        ("bucket", "Upper", "use lower-case letters"),
        ("prefix", "a//b", "single slashes"),
        ("prefix", "a/../b", "single slashes"),
        ("tables", ["zones_1m", "zones_1m"], "repeated"),
        ("tables", ["raw"], "zones_1m"),
    ):
        answer = owner.post("/v1/bucket-exports", json={**BODY, field: value})
        assert answer.status_code == 422, answer.text
        error = answer.json()["errors"][0]
        assert error["pointer"].startswith(f"#/{field}")
        assert message in error["message"]


def test_names_and_places_are_unique(owner: Member):
    owner.created("/v1/bucket-exports", BODY)
    name = owner.post("/v1/bucket-exports", json={**BODY, "prefix": "other"})
    assert (name.status_code, name.json()["code"]) == (409, "bucket_export_name_taken")
    place = owner.post("/v1/bucket-exports", json={**BODY, "name": "other"})
    assert (place.status_code, place.json()["code"]) == (409, "bucket_place_taken")


def test_a_secret_is_not_sent_to_another_endpoint(owner: Member):
    export = owner.created("/v1/bucket-exports", BODY)
    path = f"/v1/bucket-exports/{export['id']}"
    refused = owner.patch(path, json={"endpoint": "https://s3.example.com"})
    assert (refused.status_code, refused.json()["code"]) == (422, "secret_needed_again")
    moved = owner.patch(path, json={"endpoint": "https://S3.example.com/", "secret": "another"})
    assert (moved.status_code, moved.json()["endpoint"]) == (200, "https://s3.example.com")
    stale = owner.patch(path, json={"hour": 3}, headers={"If-Match": '"1"'})
    assert stale.status_code == 412


def test_an_address_of_the_operators_network_is_refused(owner: Member, storage_server: ObjectStorageServer):
    place = storage_server.location
    body = {**BODY, "endpoint": place.endpoint, "access_key": place.access_key, "secret": place.secret_key}
    export = owner.created("/v1/bucket-exports", body)
    answer = owner.post(f"/v1/bucket-exports/{export['id']}/tests")
    assert answer.json()["error"] == (
        "Address refused: 127.0.0.1 is not on the public internet; use a public address, or ask the operator of this"
        " installation to allow its network."
    )
    run = owner.post(f"/v1/bucket-exports/{export['id']}/runs").json()
    executor.run(owner.tenant_id, UUID(run["id"]))
    found = owner.get(f"/v1/bucket-exports/{export['id']}").json()
    assert found["state"] == "failing"
    assert "not on the public internet" in found["error"]


def test_deletion_deletes_the_secret_and_the_archive_has_none(owner: Member):
    export = owner.created("/v1/bucket-exports", BODY)
    out = io.BytesIO()
    archives.export(str(owner.tenant_id), out, lambda *_: None)
    out.seek(0)
    reader = Reader(out)
    content = {name: b"".join(pieces) for name, pieces in reader.tables()}
    (exported,) = map(json.loads, content["bucket_exports"].splitlines())
    assert exported["bucket"] == "measurements"
    assert "secret" not in exported
    assert owner.delete(f"/v1/bucket-exports/{export['id']}").status_code == 204
    with system_session() as session:
        for table in ("bucket_exports", "bucket_export_progress", "exported_days"):
            assert (
                session.scalar(text(f"SELECT count(*) FROM {table} WHERE tenant_id = :id"), {"id": owner.tenant_id})
                == 0
            )
