"""Migrations create the schema of the models, and refuse an earlier or unknown database with what to do."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, NullPool, create_engine, select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from sinemora import migrate
from sinemora.alerts.evaluation.rule import defaults
from sinemora.alerts.models import AlertRule
from sinemora.alerts.rules.load import condition_json
from sinemora.fleet.meshes.models import BulkOrder
from sinemora.jobs.models import Job
from sinemora.kit import config
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SUPERUSER, SYSTEM_ROLE, PostgresServer
from sinemora.recommendations import schedules
from sinemora.recommendations import service as recommendations
from sinemora.recommendations.models import Recommendation, RecommendationSchedule
from sinemora.recommendations.schemas import RecommendationResult
from sinemora.recommendations.what_if import service as what_if
from sinemora.recommendations.what_if.models import Scenario
from tests.conftest import Servers

BACKEND = Path(__file__).parents[1]
NEWEST = "0066_no_bucket_exports"


@dataclass
class Schema:
    """An empty database, which the settings name while the test runs; `owner` connects as the owner of the schema."""

    owner: Engine

    def version(self) -> str | None:
        """Return the version of the schema."""
        with self.owner.connect() as connection:
            return connection.scalar(text("SELECT version_num FROM alembic_version"))

    def set_version(self, version: str) -> None:
        """Write another version, as another version of the product would have."""
        with self.owner.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})

    def downgrade(self, version: str) -> None:
        """Undo migrations down to `version`."""
        command.downgrade(migrate.configuration(), version)

    def catalogue(self) -> list[str]:
        """Return the columns, functions, triggers and policies of the schema."""
        with self.owner.connect() as connection:
            return list(
                connection.scalars(
                    text(
                        # without those of an extension
                        "WITH of_extensions AS (SELECT objid FROM pg_depend WHERE deptype = 'e')"
                        " SELECT format('%s.%s %s', table_name, column_name, data_type) FROM information_schema.columns"
                        " WHERE table_schema = 'public'"
                        "  AND format('%I.%I', table_schema, table_name)::regclass NOT IN (TABLE of_extensions)"
                        " UNION ALL SELECT proname FROM pg_proc p WHERE pronamespace = 'public'::regnamespace"
                        "  AND p.oid NOT IN (TABLE of_extensions)"
                        " UNION ALL SELECT relname || ' ' || tgname FROM pg_trigger t"
                        "  JOIN pg_class c ON c.oid = tgrelid"
                        "  WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace"
                        " UNION ALL SELECT tablename || ' ' || policyname || ' ' || qual FROM pg_policies ORDER BY 1"
                    )
                )
            )


@pytest.fixture
def schema(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Schema]:
    """An empty database for the test."""
    if isinstance(servers.postgres, PostgresServer):
        with psycopg.connect(servers.postgres.dsn(SUPERUSER, "postgres"), autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS migrations WITH (FORCE)")
    servers.postgres.provision("migrations")
    owner = servers.postgres.dsn(OWNER_ROLE, "migrations")
    monkeypatch.setenv("SINEMORA_DATABASE_URL", servers.postgres.dsn(database="migrations"))
    monkeypatch.setenv("SINEMORA_DATABASE_OWNER_URL", owner)
    monkeypatch.setenv("SINEMORA_DATABASE_SYSTEM_URL", servers.postgres.dsn(SYSTEM_ROLE, "migrations"))
    config.settings.cache_clear()
    yield Schema(create_engine(owner.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool))
    config.settings.cache_clear()


def test_up_down_up_gives_the_same_schema_as_the_models(schema: Schema):
    migrate.upgrade()
    # Run as a developer runs it, with the configuration in pyproject.toml.
    subprocess.run([sys.executable, "-m", "alembic", "check"], cwd=BACKEND, env=os.environ, check=True)
    before = schema.catalogue()
    schema.downgrade(migrate.BASELINE)
    migrate.upgrade()
    assert schema.catalogue() == before


def test_there_is_one_newest_version():
    assert ScriptDirectory.from_config(migrate.configuration()).get_heads() == [NEWEST]


def test_every_table_is_confined_but_those_that_no_request_reads(servers: Servers):
    """A table with rows of tenants that a migration forgets to confine would show them to every tenant."""
    with servers.owner_engine.connect() as connection:
        tables = connection.execute(
            text(
                "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, pg_get_expr(p.polqual, c.oid)"
                " FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = 'tenant'"
                " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
                " AND c.oid NOT IN (SELECT objid FROM pg_depend WHERE deptype = 'e')"
            )
        ).all()
    by_id = (
        "(tenant_id = (NULLIF(NULLIF(current_setting('sinemora.tenant_id'::text, true), '*'::text), ''::text))::uuid)"
    )
    conditions = {
        by_id,
        by_id.replace("tenant_id =", "id ="),
        "(( SELECT current_setting('sinemora.tenant_key'::text, true) AS current_setting) = (tenant_key)::text)",
    }
    others = {table for table, is_confined, condition in tables if not is_confined or condition not in conditions}
    signing_in = {"users", "one_time_tokens", "totp_secrets", "recovery_codes", "passkeys", "identities"}
    assert others == {"alembic_version", "archive_state", "zone_minutes", "path_minutes", *signing_in}
    assert all(is_confined for table, is_confined, _ in tables if table in signing_in)


def test_a_migration_gives_up_on_a_lock_and_leaves_the_schema_as_it_was(schema: Schema):
    """The previous version serves meanwhile; its sessions queue behind a migration that waits for a lock."""
    migrate.upgrade()
    with schema.owner.begin() as connection:
        for table in ("annotations", "zones"):
            connection.execute(text(f"DROP POLICY system ON {table}"))
    before = schema.catalogue()
    with schema.owner.connect() as reader:
        reader.execute(text("SELECT count(*) FROM zones"))  # a transaction left open holds its lock
        with pytest.raises(OperationalError, match="lock timeout"):
            migrate.upgrade()
    assert schema.catalogue() == before


def test_a_database_of_another_version_is_refused_with_what_to_do(schema: Schema, capsys: pytest.CaptureFixture[str]):
    migrate.upgrade()
    older = f"Start an older Sinemora on it once (git checkout {migrate.LAST_WITH_EARLIER})"
    later = "Use the version of Sinemora that wrote it, or a newer one."
    versions = {"0001": older, "0053_zone_minutes": older, "0056_bad_days": later, "9999_later": later}
    for version, advice in versions.items():
        schema.set_version(version)
        assert migrate.main([]) == 1
        assert schema.version() == version
        printed = capsys.readouterr().err
        assert f"the database has version {version}" in printed
        assert advice in printed
        assert "Traceback" not in printed
    # As `make up` runs it: the refusal alone.
    done = subprocess.run([sys.executable, "-m", "sinemora.migrate"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("Schema unknown: the database has version 9999_later"), done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_the_commit_that_messages_name_upgrades_to_the_baseline():
    path = f"{migrate.LAST_WITH_EARLIER}:migrations/versions/{migrate.BASELINE}.py"
    shown = subprocess.run(["git", "show", path], cwd=BACKEND, capture_output=True, text=True)
    if shown.returncode != 0 and not (BACKEND.parent / ".git").exists():
        pytest.skip("not a clone of the repository")
    assert f'revision: str = "{migrate.BASELINE}"' in shown.stdout, shown.stderr


def test_a_version_that_no_migration_has_is_refused_with_those_that_are_there(
    schema: Schema, capsys: pytest.CaptureFixture[str]
):
    assert migrate.main(["0040_service_plans"]) == 1
    printed = capsys.readouterr().err
    assert "0040_service_plans" in printed
    assert f"Use one of {migrate.BASELINE}" in printed


def test_stored_requests_and_results_are_read_by_their_present_names(schema: Schema):
    """Rows that the version before wrote as `question` and `answer`, queued jobs and simulations included."""
    examples = json.loads(files("sinemora.contract").joinpath("examples/recommendations.json").read_text())
    result = _example(examples, "result")["result"]
    request = {"minutes": 20, "moves_max": 3}
    changes = {"changes": [{"kind": "drop_zone", "zone": "a"}], "minutes": 10}
    now = datetime.now(UTC)
    tenant, mesh, row, simulation = (uuid4() for _ in range(4))
    identity, of_mesh = {"id": row, "tenant_id": tenant}, {"tenant_id": tenant, "mesh_id": mesh}
    proposed = {"state": "proposed", "trigger": "asked", "requested_by": "kim", "moves": "[]", "version": 1}
    transfers = {"kind": "transfers", "vm_ids": [], "steps": "[]", "progress": "{}", "requested_by": "kim"}
    job = {"tenant_id": tenant, "title": "of the version before", "queue": "solve", "requested_by": "kim"}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("tenants", {"id": tenant, "name": "acme"}),
        (
            "meshes",
            {"id": mesh, "tenant_id": tenant, "name": "m", "window_s": 10, "rate_hz": 8, "flows": 4, "version": 1},
        ),
        ("recommendations", identity | of_mesh | proposed | {"question": request, "answer": result}),
        ("recommendation_schedules", of_mesh | {"every_h": 24, "question": request}),
        ("scenarios", identity | of_mesh | {"name": "s", "question": changes, "version": 1}),
        (
            "bulk_orders",
            identity
            | of_mesh
            | transfers
            | {"question": {"bound_s": 2}, "starts_at": now, "ends_at": now + timedelta(minutes=1)},
        ),
        ("jobs", job | {"id": row, "kind": "recommendations.recommend", "params": {"question": request}}),
        ("jobs", job | {"id": simulation, "kind": "simulation.simulate", "params": {"run": {}}}),
    ]
    of_one_path = _default_rules("path", "path-drift", "recurring")
    rows.append(("alert_rules", identity | of_mesh | of_one_path["path"]))
    migrate.upgrade("0054_pins_as_values")
    with schema.owner.begin() as connection:
        _act_for(connection, tenant)
        for table, columns in rows:
            values = {name: json.dumps(v) if isinstance(v, dict) else v for name, v in columns.items()}
            places = ", ".join(f":{name}" for name in values)
            connection.execute(text(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"), values)
    migrate.upgrade()
    with schema.owner.connect() as connection, Session(connection) as session:
        _act_for(connection, tenant)
        read = recommendations.read(session, session.get_one(Recommendation, row))
        assert (read.request.minutes, read.request.moves_max) == (20, 3)
        assert read.result == RecommendationResult.model_validate(result)
        schedule = schedules.schedule_read(session.get_one(RecommendationSchedule, mesh))
        assert schedule.request.minutes == 20
        assert what_if.scenario_read(session.get_one(Scenario, row)).request.minutes == 10
        assert session.get_one(BulkOrder, row).request == {"bound_s": 2}
        assert session.get_one(Job, row).params == {"request": request}
        assert session.get_one(Job, simulation).params == {"run": {}}
        for rule in session.scalars(select(AlertRule).where(AlertRule.mesh_id == mesh)):
            expected = of_one_path.pop(rule.origin or "")
            assert {name: getattr(rule, name) for name in expected} == expected
        assert not of_one_path
    schema.downgrade("0054_pins_as_values")
    migrate.upgrade()


def _default_rules(*ids: str) -> dict[str, dict[str, Any]]:
    """Return the columns of default rules by their id."""
    return {
        rule.id: {
            "name": rule.name,
            "enabled": True,
            "severity": str(rule.severity),
            "condition": condition_json(rule.condition),
            "scope": {},
            "windows_x": rule.x,
            "windows_y": rule.y,
            "sources_min": rule.sources_min,
            "hold_s": rule.hold_s,
            "keep_firing_s": rule.keep_firing_s,
            "origin": rule.id,
            "version": 1,
        }
        for rule in defaults()
        if rule.id in ids
    }


def _act_for(connection: Connection, tenant: UUID) -> None:
    """See the rows of a tenant until the end of the transaction."""
    connection.execute(text("SELECT set_config('sinemora.tenant_id', :tenant, true)"), {"tenant": str(tenant)})


def _example(values: object, field: str) -> dict[str, Any]:
    """Return the first object with `field` in recorded examples."""
    if isinstance(values, dict) and field in values:
        return values
    parts = values.values() if isinstance(values, dict) else values if isinstance(values, list) else ()
    return next((found for part in parts if (found := _example(part, field))), {})
