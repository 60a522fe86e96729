"""Migrations create the schema of the models, can be undone, and take over or refuse an earlier database."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from sinemora import migrate
from sinemora.kit import config
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SUPERUSER, SYSTEM_ROLE, PostgresServer
from sinemora.recommendations.schemas import VerifiedOutcome
from tests.conftest import Servers

BACKEND = Path(__file__).parents[1]
NEWEST = "0054_pins_as_values"


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
    schema.downgrade("base")
    assert [item for item in schema.catalogue() if not item.startswith("alembic_version")] == []
    migrate.upgrade()
    assert schema.catalogue() == before


def test_there_is_one_newest_version():
    assert ScriptDirectory.from_config(migrate.configuration()).get_heads() == [NEWEST]


def test_a_migration_gives_up_on_a_lock_and_leaves_the_schema_as_it_was(schema: Schema):
    """The previous version serves meanwhile; its sessions queue behind a migration that waits for a lock."""
    migrate.upgrade("0012_one_optimiser")
    with schema.owner.connect() as reader:
        reader.execute(text("SELECT count(*) FROM annotations"))  # a transaction left open holds its lock
        with pytest.raises(OperationalError, match="lock timeout"):
            schema.downgrade("0006_estimable_policies")
        # Later versions are done and committed one by one.
        assert schema.version() == "0007_annotations"
        with schema.owner.connect() as other:
            assert other.scalar(text("SELECT to_regclass('annotations') IS NOT NULL"))


def test_a_database_of_the_last_version_before_the_squash_is_taken_over(schema: Schema):
    migrate.upgrade()
    before = schema.catalogue()
    schema.downgrade(migrate.SQUASHED["0018"])
    schema.set_version("0018")
    assert migrate.main([]) == 0
    assert schema.version() == NEWEST
    assert schema.catalogue() == before


@pytest.mark.parametrize("version", ["0001", "0017"])
def test_a_database_of_an_earlier_version_is_refused_with_what_to_do(
    schema: Schema, version: str, capsys: pytest.CaptureFixture[str]
):
    migrate.upgrade()
    schema.set_version(version)
    assert migrate.main([]) == 1
    assert schema.version() == version
    printed = capsys.readouterr().err
    assert f"the database has version {version}. This version of Sinemora upgrades from version 0018" in printed
    assert "Start an older Sinemora on it once" in printed


def test_a_database_of_an_unknown_version_is_refused_with_what_to_do(
    schema: Schema, capsys: pytest.CaptureFixture[str]
):
    migrate.upgrade()
    schema.set_version("9999_later")
    assert migrate.main([]) == 1
    assert schema.version() == "9999_later"
    printed = capsys.readouterr().err
    assert "version 9999_later, which this version of Sinemora does not know" in printed
    assert "Start the version of Sinemora that wrote it, or a newer one." in printed


def test_stored_results_get_the_names_of_the_present(schema: Schema):
    migration = ScriptDirectory.from_config(migrate.configuration()).get_revision("0005_field_terms").module
    old = {"front": [{"moves": 1}], "evidence": {"hysteresis": 0.01, "paths": 6}, "total": None}
    new = {"pareto_front": [{"moves": 1}], "evidence": {"min_gain": 0.01, "paths": 6}, "total": None}
    with schema.owner.connect() as connection:
        for expression, before, after in ((migration.RESULT_UP, old, new), (migration.RESULT_DOWN, new, old)):
            statement = text(f"SELECT {expression} FROM (SELECT CAST(:answer AS jsonb) AS answer) AS stored")
            assert connection.scalar(statement, {"answer": json.dumps(before)}) == after


def test_earlier_outcomes_are_no_verdicts(schema: Schema):
    migration = ScriptDirectory.from_config(migrate.configuration()).get_revision("0011_verdicts").module
    estimate = {"mean": 0.75, "low": 0.5, "high": 1.0, "windows": 9}
    window = {"from": "2026-11-20T10:00:00Z", "to": "2026-11-20T10:10:00Z"}
    old = {"observed": estimate, "predicted": estimate, "gain_observed": 0.25, "gain_predicted": 0.25, "held": True}
    with schema.owner.connect() as connection:

        def rewritten(expression: str, outcome: dict[str, object]) -> dict[str, object]:
            statement = text(f"SELECT {expression} FROM (SELECT CAST(:outcome AS jsonb) AS outcome) AS stored")
            return dict(connection.scalar(statement, {"outcome": json.dumps(outcome)}))

        new = rewritten(migration.OUTCOME_UP, old | {"window": window})
        assert VerifiedOutcome.model_validate(new).verdict == "cannot_tell"
        assert new["observed"] == new["promised"] == {"mean": 0.25, "low": 0.0, "high": 0.5}
        back = rewritten(migration.OUTCOME_DOWN, new | {"observed": None})
        assert back.keys() == {*old, "window"}
        assert (back["held"], back["gain_observed"]) == (False, 0.25)
