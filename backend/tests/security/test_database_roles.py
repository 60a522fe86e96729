"""SQL injected under the application's role reaches one tenant, and neither the schema nor the audit log."""

from typing import Any

import pytest
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import ProgrammingError

from sinemora import migrate
from sinemora.kit.config import settings
from sinemora.kit.db import engine, system_engine, system_session, tenant_session
from tests.api_clients import Member
from tests.conftest import Servers
from tests.statements import execute, scalar

EVERY_TENANT = "SELECT set_config('sinemora.tenant_id', '*', true), set_config('sinemora.tenant_key', '*', true)"


@pytest.fixture
def injected(owner: Member, other_owner: Member, make_mesh: Any) -> Any:
    """Return a function that runs SQL in a session of the first tenant, after the attempt to be every tenant."""
    make_mesh(owner, 2)
    make_mesh(other_owner, 2)

    def run(statement: str, **values: object) -> list[Any]:
        with tenant_session(owner.tenant_id) as session:
            connection = session.connection()
            connection.execute(text(EVERY_TENANT))
            result = connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    return run


def test_no_setting_shows_another_tenant(injected: Any, other_owner: Member):
    columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    with engine().connect() as connection:
        names = {(str(table), str(column)) for table, column in connection.execute(text(columns))}
    keys = {"tenant_id": other_owner.tenant_id, "tenant_key": other_owner.tenant_key}
    owned = [(table, column) for table, column in names if column in keys]
    assert len(owned) > 50
    for table, column in owned:
        shown = injected(f"SELECT count(*) FROM {table} WHERE {column} = :other", other=keys[column])
        assert shown[0][0] == 0, table
    assert injected("SELECT count(*) FROM users WHERE email = :email", email=other_owner.email)[0][0] == 0
    assert injected("SELECT count(*) FROM tenants")[0][0] == 0


def test_every_table_of_a_tenant_has_both_policies(database: Engine):
    with database.connect() as connection:
        rows = connection.execute(text("SELECT tablename, policyname, roles::text, qual FROM pg_policies")).all()
    by_table: dict[str, set[str]] = {}
    for table, policy, roles, condition in rows:
        by_table.setdefault(table, set()).add(policy)
        if policy == "tenant":
            assert "OR" not in str(condition), table
        elif policy == "system":
            assert roles == "{sinemora_owner,sinemora_system}", table
        elif policy == "login":
            assert roles == "{sinemora_owner}", table
            assert "SESSION_USER" in str(condition), table
    readable_in_sql = {"meshes", "sql_logins", "tenants", "vm_traffic", "vms", "zones"}
    assert {table for table in by_table if "login" in by_table[table]} == readable_in_sql
    assert all(policies - {"meshes", "login"} == {"tenant", "system"} for policies in by_table.values())


def test_a_migration_that_changes_nothing_waits_for_no_request(servers: Servers):
    with system_session() as session:
        session.execute(text("SELECT count(*) FROM vms"))  # a lock until the end of the transaction
        migrate.upgrade()


def test_a_policy_that_is_not_as_wanted_is_made_again(servers: Servers):
    owner = create_engine(settings().database_owner_url)
    with owner.begin() as connection:
        connection.execute(text("DROP POLICY meshes ON vms"))
        connection.execute(text("COMMENT ON POLICY system ON zones IS 'of an older version'"))
    migrate.upgrade()
    with owner.connect() as connection:
        rows = connection.execute(text("SELECT tablename, policyname FROM pg_policies")).all()
        comment = connection.scalar(
            text("SELECT obj_description(oid) FROM pg_policy WHERE polrelid = 'zones'::regclass AND polname = 'system'")
        )
    owner.dispose()
    assert {("vms", "meshes"), ("zones", "system")} <= {tuple(row) for row in rows}
    assert str(comment).startswith("TO ")


FORBIDDEN = [
    "SELECT drop_measurements_before('spikes', '2999-01-01')",
    "SELECT forget_measurements_before('spikes', '2999-01-01')",
    "SELECT make_measurement_partitions('2026-01-01', '2026-01-02')",
    "SELECT tune_measurement_partitions()",
    "UPDATE audit_entries SET actor_name = 'nobody'",
    "DELETE FROM audit_entries",
    "TRUNCATE audit_entries",
    "UPDATE alembic_version SET version_num = '0001'",
    "DELETE FROM alembic_version",
    "CREATE TABLE mine (a int)",
    "ALTER TABLE zones DISABLE ROW LEVEL SECURITY",
    "DROP POLICY tenant ON zones",
    "CREATE POLICY mine ON zones USING (true)",
    "ALTER ROLE sinemora_app BYPASSRLS",
    "SET row_security = off; SELECT * FROM zones",
    "SET ROLE sinemora_system",
    "SET SESSION AUTHORIZATION sinemora_owner",
]


def test_the_role_of_requests_cannot(injected: Any):
    for statement in FORBIDDEN:
        with pytest.raises(ProgrammingError) as refused:
            injected(statement)
        assert isinstance(refused.value.orig, InsufficientPrivilege), statement


@pytest.mark.parametrize("statement", ["UPDATE audit_entries SET actor_name = ''", "DELETE FROM audit_entries"])
def test_the_system_role_cannot_rewrite_the_audit_log_either(owner: Member, statement: str):
    with pytest.raises(ProgrammingError), system_session() as session:
        session.execute(text(statement))


def test_the_system_role_sees_every_tenant_only_in_its_sessions(owner: Member, other_owner: Member):
    assert scalar("SELECT count(*) FROM tenants") >= 2
    with system_engine().connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM tenants")) == 0


def test_deleting_a_tenant_takes_its_audit_log(owner: Member):
    execute("DELETE FROM tenants WHERE id = :id", {"id": owner.tenant_id})
    assert scalar("SELECT count(*) FROM audit_entries WHERE tenant_id = :id", {"id": owner.tenant_id}) == 0
