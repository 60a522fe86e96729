"""A backup of the oldest supported version, with data, becomes a database of this one: verified, and read by the API.

`earlier/0054_pins_as_values.backup` was written by the commit that `migrate.LAST_WITH_EARLIER` names: two tenants with
frames, minutes, spikes, a curve, an application, a rule, a key, a scenario, and a recommendation with its schedule.
The JSON file has what that version answered.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from fastapi.testclient import TestClient

from sinemora import migrate
from sinemora.alerts.evaluation.rule import defaults
from sinemora.alerts.rules.load import condition_json
from sinemora.main import create_app
from sinemora.operations import backup, integrity
from sinemora.operations.archives import catalogue
from tests import api_clients
from tests.conftest import Servers
from tests.empty_databases import empty_database
from tests.statements import execute, rows
from tests.test_migrations import NEWEST

FOLDER = Path(__file__).parent / "earlier"


@pytest.fixture(scope="module")
def upgraded(servers: Servers) -> Iterator[dict[str, Any]]:
    """Restore the backup into an empty database, which the settings name. Yield what the old version answered."""
    with empty_database(servers, "upgraded"):
        with (FOLDER / "0054_pins_as_values.backup").open("rb") as source:
            backup.restore(source, lambda _: None)
        yield json.loads((FOLDER / "0054_pins_as_values.json").read_text())


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
        [scenario] = owner.get("/v1/scenarios").json()["items"]
        assert (scenario["name"], scenario["request"]["minutes"]) == ("b gone", 60)
        schedule = owner.get(f"/v1/meshes/{upgraded['mesh_id']}/recommendation-schedules").json()
        assert schedule["every_h"] == 24
        assert (schedule["request"]["minutes"], schedule["request"]["moves_max"]) == (30, 1)
        recommendation = owner.get(f"/v1/recommendations/{upgraded['recommendation_id']}").json()
        assert (recommendation["request"]["minutes"], recommendation["request"]["moves_max"]) == (30, 10)
        assert recommendation["result"]["evidence"]["judged_on"] == 7
        steps = recommendation["steps"]
        assert [[step["task"]["name"], step["source"]["name"], step["target"]["name"]] for step in steps] == upgraded[
            "steps"
        ]


def test_a_mesh_with_the_rule_about_one_path_gets_the_newer_ones(upgraded: dict[str, Any]):
    stored = rows(
        "SELECT origin, name, enabled, severity, condition, scope, windows_x, windows_y, sources_min, hold_s,"
        " keep_firing_s FROM alert_rules WHERE mesh_id = :mesh AND origin IN ('path', 'path-drift', 'recurring')",
        {"mesh": upgraded["mesh_id"]},
    )
    default = {rule.id: rule for rule in defaults()}
    assert len(stored) == 3
    for id, name, is_enabled, severity, condition, scope, *numbers in stored:
        rule = default[id]
        assert (name, is_enabled, severity, scope) == (rule.name, True, rule.severity, {})
        assert condition == condition_json(rule.condition)
        assert numbers == [rule.x, rule.y, rule.sources_min, rule.hold_s, rule.keep_firing_s]


def test_queued_jobs_have_the_present_names_also_after_the_way_back(upgraded: dict[str, Any]):
    def asked() -> dict[str, dict[str, Any]]:
        return dict(rows("SELECT DISTINCT ON (kind) kind, params FROM jobs"))

    before = asked()["recommendations.recommend"]
    assert "question" not in before
    assert before["request"]["minutes"] == 30
    execute(
        "INSERT INTO jobs (id, tenant_id, kind, title, queue, requested_by, params) SELECT gen_random_uuid(),"
        """ tenant_id, 'simulation.simulate', 'of another kind', 'solve', 'kim', '{"run": {}}' FROM jobs LIMIT 1"""
    )
    command.downgrade(migrate.configuration(), migrate.BASELINE)
    migrate.upgrade()
    assert asked() == {"recommendations.recommend": before, "simulation.simulate": {"run": {}}}
