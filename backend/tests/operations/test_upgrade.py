"""A backup of the oldest supported version, with data, becomes a database of this one: verified, and read by the API.

`earlier/0054_pins_as_values.backup` was written by the commit that `migrate.LAST_WITH_EARLIER` names: two tenants with
frames, minutes, spikes, a curve, an application, a rule, a key, a scenario, and a recommendation with its schedule.
The JSON file has what that version answered.
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
from tests import api_clients
from tests.conftest import Servers, forget_settings
from tests.test_migrations import NEWEST

FOLDER = Path(__file__).parent / "earlier"
DATABASE = "upgraded"


@pytest.fixture(scope="module")
def upgraded(servers: Servers) -> Iterator[dict[str, Any]]:
    """Restore the backup into an empty database, which the settings name. Yield what the old version answered."""
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
            with (FOLDER / "0054_pins_as_values.backup").open("rb") as source:
                backup.restore(source, lambda _: None)
            yield json.loads((FOLDER / "0054_pins_as_values.json").read_text())
        finally:
            db.dispose()
            patch.undo()
            forget_settings()


def test_no_row_is_lost_and_every_frame_decodes(upgraded: dict[str, Any]):
    with catalogue.connect() as connection, connection.transaction():
        assert catalogue.revision(connection) == NEWEST
        present = {table.name: table for table in catalogue.tables(connection)}
        for name, count in upgraded["rows"].items():
            if name in present:
                stored, _ = backup.content_digest(connection, name, present[name].columns)
                assert stored >= count, name
    findings = integrity.check()
    assert findings.faults == 0, findings.shown
    assert findings.frames["probe_frames"] == upgraded["rows"]["probe_frames"]


def test_people_sign_in_and_read_what_the_old_version_answered(upgraded: dict[str, Any]):
    with TestClient(create_app(), client=("127.0.0.1", 50000)) as http:
        owner = api_clients.sign_in(http, upgraded["email"])
        period = {"from": upgraded["from"], "to": upgraded["to"], "metric": "round_trip", "statistic": "p50"}
        answer = owner.get(f"/v1/meshes/{upgraded['mesh_id']}/matrix", params=period)
        assert answer.status_code == 200, answer.text
        assert answer.json()["values"] == upgraded["round_trip_p50_ns"]
        assert [entry["name"] for entry in owner.get("/v1/applications").json()["items"]] == ["cache"]
        assert "mine" in {entry["name"] for entry in owner.get("/v1/curves").json()["items"]}
        rules = {entry["name"] for entry in owner.get("/v1/alert-rules").json()["items"]}
        assert "Above a millisecond" in rules
        assert len(owner.get("/v1/api-keys").json()["items"]) == 1
        assert [entry["name"] for entry in owner.get("/v1/scenarios").json()["items"]] == ["b gone"]
        schedule = owner.get(f"/v1/meshes/{upgraded['mesh_id']}/recommendation-schedules").json()
        assert schedule["every_h"] == 24
        recommendation = owner.get(f"/v1/recommendations/{upgraded['recommendation_id']}").json()
        steps = recommendation["steps"]
        assert [[step["task"]["name"], step["source"]["name"], step["target"]["name"]] for step in steps] == upgraded[
            "steps"
        ]
