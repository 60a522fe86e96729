"""Migrations create the schema of the models, and refuse an earlier or unknown database with what to do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from sinemora import migrate
from tests.conftest import Servers
from tests.empty_databases import empty_database

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
def schema(servers: Servers) -> Iterator[Schema]:
    """An empty database for the test."""
    with empty_database(servers, "migrations") as owner:
        yield Schema(create_engine(owner.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool))


def test_up_down_up_gives_the_same_schema_as_the_models(schema: Schema):
    migrate.upgrade()
    # Run as a developer runs it, with the configuration in pyproject.toml.
    subprocess.run([sys.executable, "-m", "alembic", "check"], cwd=BACKEND, env=os.environ, check=True)
    before = schema.catalogue()
    command.downgrade(migrate.configuration(), migrate.BASELINE)
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
