"""A backup of the oldest supported release, with data, becomes a database of this one: verified, and read by the API.

`earlier/0004_alerts.backup` was written by the release whose newest migration was 0004_alerts: two tenants with frames,
minutes, spikes, a curve, an application, a rule and a key. The file beside it has what that release answered.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from sinemora.kit import db
from sinemora.main import create_app
from sinemora.operations import backup, integrity
from sinemora.operations.archives import catalogue
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SUPERUSER, SYSTEM_ROLE, PostgresServer
from tests import callers
from tests.conftest import Servers, forget_settings

FOLDER = Path(__file__).parent / "earlier"
DATABASE = "upgraded"
# Rows that the upgrade itself adds or moves: what it does with them is the subject of the tests of migrations.
MOVED = {"users"}


@pytest.fixture(scope="module")
def upgraded(servers: Servers) -> Iterator[dict[str, Any]]:
    """Restore the backup into an empty database, which the settings name. Yield what the old release answered."""
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(servers.postgres, PostgresServer):
            with psycopg.connect(servers.postgres.dsn(SUPERUSER, "postgres"), autocommit=True) as connection:
                connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        servers.postgres.provision(DATABASE)
        patch.setenv("SINEMORA_DATABASE_URL", servers.postgres.dsn(database=DATABASE))
        patch.setenv("SINEMORA_DATABASE_OWNER_URL", servers.postgres.dsn(OWNER_ROLE, DATABASE))
        patch.setenv("SINEMORA_DATABASE_SYSTEM_URL", servers.postgres.dsn(SYSTEM_ROLE, DATABASE))
        db.dispose()
        forget_settings()
        try:
            with (FOLDER / "0004_alerts.backup").open("rb") as source:
                backup.restore(source, lambda _: None)
            yield json.loads((FOLDER / "0004_alerts.json").read_text())
        finally:
            db.dispose()
            patch.undo()
            forget_settings()


def test_no_row_is_lost_and_every_frame_decodes(upgraded: dict[str, Any]):
    with catalogue.connect() as connection, connection.transaction():
        assert catalogue.revision(connection) != "0004_alerts"
        present = {table.name: table for table in catalogue.tables(connection)}
        for name, count in upgraded["rows"].items():
            if name in present and name not in MOVED:
                stored, _ = backup.content_digest(connection, name, present[name].columns)
                assert stored >= count, name
    findings = integrity.check()
    assert findings.faults == 0, findings.shown
    assert findings.frames["probe_frames"] == upgraded["rows"]["probe_frames"]


def test_people_sign_in_and_read_what_the_old_release_answered(upgraded: dict[str, Any]):
    with TestClient(create_app(), client=("127.0.0.1", 50000)) as http:
        owner = callers.sign_in(http, upgraded["email"])
        period = {"from": upgraded["from"], "to": upgraded["to"], "metric": "round_trip", "statistic": "p50"}
        answer = owner.get(f"/v1/meshes/{upgraded['mesh_id']}/matrix", params=period)
        assert answer.status_code == 200, answer.text
        assert answer.json()["values"] == upgraded["round_trip_p50_ns"]
        assert [entry["name"] for entry in owner.get("/v1/applications").json()["items"]] == ["cache"]
        assert "mine" in {entry["name"] for entry in owner.get("/v1/curves").json()["items"]}
        rules = {entry["name"] for entry in owner.get("/v1/alert-rules").json()["items"]}
        assert "Above a millisecond" in rules
        assert len(owner.get("/v1/api-keys").json()["items"]) == 1
