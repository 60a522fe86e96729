"""A database role of one tenant reads the minutes of its tenant and nothing else, whatever SQL it runs."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from psycopg.errors import DataCorrupted, InsufficientPrivilege, InvalidTextRepresentation, UndefinedObject
from sqlalchemy import text

from sinemora.cli import main
from sinemora.kit.db import tenant_session
from sinemora.measurements import tasks
from sinemora.operations.embedded.servers.postgres import APP_ROLE, OWNER_ROLE, SYSTEM_ROLE
from tests.api_clients import Member, MeshWorld
from tests.conftest import Servers
from tests.measurements.reports import host_of, report_of, sent, window_start
from tests.measurements.worlds import simple
from tests.sql_logins import compute_steps, connected, login, role
from tests.statements import execute

pytestmark = pytest.mark.whole_store

OURS_NS, THEIRS_NS = 50_000, 730_000
AGO = 30 * 60
"""Minutes: so long that the hour and the day are computed."""
MEASURED = tuple(f"{kind}_{step}" for kind in ("zone", "path") for step in ("minutes", "hours", "days"))
VIEWS = (*MEASURED, "meshes", "zones", "host_waits")


@pytest.fixture
def worlds(
    owner: Member, other_owner: Member, make_mesh: Any, servers: Servers, timescaledb: str | None
) -> tuple[MeshWorld, MeshWorld]:
    """Two tenants with a merged minute each; no delay of one is a delay of the other."""
    ours, theirs = make_mesh(owner, 3, "ours"), make_mesh(other_owner, 3, "theirs")
    for mesh, delay_ns in ((ours, OURS_NS), (theirs, THEIRS_NS)):
        a, b, c = mesh.agents
        assert main(["sql-paths", "add", str(mesh.owner.tenant_id), a.name, b.name]) == 0
        sent(a, report_of(mesh.key, {b.vm_key: simple(delay_ns), c.vm_key: simple(delay_ns)}, window_start(AGO, 60)))
        sent(b, host_of({window_start(AGO, 60): delay_ns // 1_000}))
    tasks.roll_up()
    compute_steps(servers, timescaledb)
    return ours, theirs


@pytest.fixture
def reader(worlds: tuple[MeshWorld, MeshWorld], servers: Servers) -> Iterator[psycopg.Connection]:
    """A connection of a login of the first tenant."""
    with login(servers, worlds[0].owner) as connection:
        yield connection


def column_of(view: str) -> str:
    """Return the column of a view that has a delay."""
    return "delay_p50_ns" if view.endswith("minutes") else "largest_delay_p50_ns"


def seen(connection: psycopg.Connection) -> set[tuple[str, str]]:
    """Return what each view shows of whom: (view, mesh or zone)."""
    shown: set[tuple[str, str]] = set()
    for view, name in (
        *((view, "mesh") for view in (*MEASURED, "meshes")),
        ("zones", "zone_id::text"),
        ("host_waits", "vm || wake_max_us"),
    ):
        rows = connection.execute(f"SELECT DISTINCT {name} FROM sinemora_read.{view}").fetchall()
        shown |= {(view, value) for (value,) in rows}
    return shown


def expected(mesh: MeshWorld) -> set[tuple[str, str]]:
    zones = mesh.owner.get("/v1/zones").json()["items"]
    waits = {("host_waits", f"ours-b-1{OURS_NS // 1_000}")}
    named = {(view, "ours") for view in (*MEASURED, "meshes")}
    return {*named, *(("zones", zone["id"]) for zone in zones), *waits}


def test_a_login_sees_its_tenant(reader: psycopg.Connection, worlds: tuple[MeshWorld, MeshWorld]):
    assert seen(reader) == expected(worlds[0])
    rows = reader.execute("SELECT source_zone, target_zone, delay_p50_ns FROM sinemora_read.zone_minutes").fetchall()
    assert sorted((a, b) for a, b, _ in rows) == [("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")]
    assert all(delay_ns == pytest.approx(OURS_NS, rel=0.01) for *_, delay_ns in rows)


ESCAPES = [
    "SET sinemora.tenant_id = '*'; SET sinemora.tenant_key = '*'",
    "SELECT set_config('sinemora.tenant_id', (SELECT 'OTHER_ID'), false)",
    "SET sinemora.tenant_key = 'OTHER_KEY'; SET sinemora.mesh_keys = ''",
    "SET row_security = on; SET sinemora.tenant_id = '*'",
    "CREATE TEMP TABLE sql_logins AS SELECT 'OTHER_ID'::uuid AS tenant_id, session_user::text AS role",
    "CREATE TEMP TABLE zone_minutes (tenant_key int); SET search_path = pg_temp, public",
    "CREATE FUNCTION pg_temp.session_user() RETURNS text LANGUAGE sql AS $$ SELECT 'postgres' $$",
    "SET enable_hashjoin = off; SET enable_mergejoin = off; SET sinemora.tenant_id = '*'",
    "SET enable_nestloop = off; SET enable_indexscan = off; SET sinemora.tenant_id = '*'",
    "SET force_parallel_mode = on",
    "SET debug_parallel_query = on; SET sinemora.tenant_id = '*'",
    "RESET ALL; DISCARD ALL",
]


def test_no_setting_shows_another_tenant(
    reader: psycopg.Connection, servers: Servers, worlds: tuple[MeshWorld, MeshWorld]
):
    theirs = worlds[1].owner
    for escape in ESCAPES:
        named = escape.replace("OTHER_ID", str(theirs.tenant_id)).replace("OTHER_KEY", str(theirs.tenant_key))
        with connected(servers, reader.info.user) as connection:
            for part in named.split(";"):
                # A setting of another version, or one that is refused.
                with suppress(UndefinedObject, InsufficientPrivilege):
                    connection.execute(part)
            assert seen(connection) == expected(worlds[0]), escape


def test_views_without_row_level_security_are_refused(reader: psycopg.Connection):
    reader.execute("SET row_security = off")
    for view in VIEWS:
        with pytest.raises(InsufficientPrivilege, match="row-level security"):
            reader.execute(f"SELECT * FROM sinemora_read.{view}")


LEAK = """
CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
$$ BEGIN RAISE NOTICE 'seen %', $1; RETURN true; END $$
"""


def test_a_function_in_a_condition_gets_no_row_of_another_tenant(
    reader: psycopg.Connection, worlds: tuple[MeshWorld, MeshWorld]
):
    """A cheap function with side effects is what the planner would run first."""
    notices: list[str] = []
    reader.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
    reader.execute(LEAK)
    reader.execute("SET sinemora.tenant_id = '*'")
    of_minutes = [("zone_minutes", name) for name in ("mesh", "source_zone_id::text", "delay_p50_ns::text")]
    of_minutes += [(view, f"{column_of(view)}::text") for view in MEASURED] + [(view, "mesh") for view in MEASURED]
    for joins in ("RESET enable_hashjoin", "SET enable_hashjoin = off", "SET enable_nestloop = off"):
        reader.execute(joins)
        for view, column in (*of_minutes, ("meshes", "mesh"), ("zones", "zone_id::text")):
            reader.execute(f"SELECT count(*) FROM sinemora_read.{view} WHERE pg_temp.leak({column})")
    zones = {zone["id"] for zone in worlds[0].owner.get("/v1/zones").json()["items"]}
    # The engine has notices of its own: Citus says that the function is not made on workers.
    words = {notice.removeprefix("seen ") for notice in notices if notice.startswith("seen ")}
    delays = {word for word in words if word.isdigit()}
    assert delays
    assert all(int(word) == pytest.approx(OURS_NS, rel=0.01) for word in delays)
    assert words - delays <= {"ours"} | zones
    assert "ours" in words


def test_an_error_quotes_no_value_of_another_tenant(reader: psycopg.Connection, worlds: tuple[MeshWorld, MeshWorld]):
    reader.execute("SET sinemora.tenant_id = '*'")
    for view in ("zone_minutes", "meshes"):
        with pytest.raises(InvalidTextRepresentation, match='integer: "ours"'):
            reader.execute(f"SELECT count(*) FROM sinemora_read.{view} WHERE mesh::int = 1")
    # A row of theirs that reached the condition would divide by zero.
    for view in MEASURED:
        reader.execute(
            f"SELECT count(*) FROM sinemora_read.{view}"
            f" WHERE 1 / (CASE WHEN {column_of(view)} > {THEIRS_NS // 2} THEN 0 ELSE 1 END) = 1"
        )


def relations(servers: Servers) -> list[str]:
    """Return all tables, partitions and chunks that the product owns, and views but for those of logins."""
    with servers.owner_engine.connect() as connection:
        found = connection.scalars(
            text(
                "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = relnamespace"
                " WHERE relkind IN ('r', 'p', 'm', 'v') AND nspname <> 'sinemora_read'"
                " AND pg_get_userbyid(relowner) = current_user ORDER BY 1"
            )
        )
        return list(found)


def compress(servers: Servers) -> None:
    with servers.owner_engine.begin() as connection:
        for table in ("zone_minutes", "path_minutes"):
            connection.execute(text(f"SELECT compress_chunk(chunk) FROM show_chunks('{table}') AS chunk"))


def test_no_table_is_read_directly(reader: psycopg.Connection, servers: Servers, timescaledb: str | None):
    if timescaledb:
        compress(servers)
    names = relations(servers)
    assert {f"{'public' if name.endswith('minutes') else 'sinemora_steps'}.{name}" for name in MEASURED} <= set(names)
    assert any("_materialized_hypertable_" in name for name in names) == bool(timescaledb)
    assert sum("zone_minutes" in name or "_hyper_" in name for name in names) > 1  # a partition or chunk
    for name in names:
        with servers.owner_engine.connect() as owner:
            may = text("SELECT has_table_privilege(:role, :name, 'SELECT')")
            assert owner.scalar(may, {"role": reader.info.user, "name": name}) is False, name
        # TimescaleDB's planner refuses the parent of compressed chunks before PostgreSQL looks at privileges.
        with pytest.raises((InsufficientPrivilege, DataCorrupted)):
            reader.execute(f"SELECT * FROM {name}")


FORBIDDEN = [
    *(f"SET ROLE {name}" for name in (OWNER_ROLE, APP_ROLE, SYSTEM_ROLE)),
    f"SET SESSION AUTHORIZATION {OWNER_ROLE}",
    f"GRANT {SYSTEM_ROLE} TO session_user",
    "ALTER ROLE session_user BYPASSRLS",
    "INSERT INTO sql_logins (role, tenant_id) SELECT 'me', mesh_id FROM sinemora_read.meshes",
    "UPDATE sql_logins SET role = 'me'",
    "UPDATE sinemora_read.meshes SET mesh = 'mine'",
    "DELETE FROM sinemora_read.zones",
    "CREATE VIEW sinemora_read.mine AS SELECT 1",
    "CREATE OR REPLACE VIEW sinemora_read.meshes AS SELECT 'x'::varchar AS mesh, NULL::uuid AS mesh_id",
    "ALTER VIEW sinemora_read.zone_minutes RESET (security_barrier)",
    "CREATE TABLE public.mine (a int)",
    "CREATE POLICY mine ON public.zones USING (true)",
    "SELECT forget_measurements_before('zone_minutes', '2999-01-01')",
    "SELECT make_measurement_partitions('2026-01-01', '2026-01-02')",
    "COPY zone_minutes TO STDOUT",
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    "SELECT pg_read_file('postgresql.conf')",
]


def is_refused(connection: psycopg.Connection, statement: str) -> bool:
    try:
        connection.execute(statement)
    except InsufficientPrivilege:
        return True
    return False


def test_a_login_cannot(reader: psycopg.Connection):
    assert [statement for statement in FORBIDDEN if not is_refused(reader, statement)] == []


def test_no_function_of_the_product_gives_rights_away(reader: psycopg.Connection):
    """Functions that run as the owner would read for the login."""
    runs_as_owner = reader.execute(
        "SELECT proname FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE prosecdef"
        " AND nspname IN ('public', 'sinemora_read') AND has_function_privilege(p.oid, 'EXECUTE')"
        " AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e') ORDER BY 1"
    ).fetchall()
    assert [name for (name,) in runs_as_owner] == []


def test_a_revoked_login_reads_nothing_also_in_an_open_connection(reader: psycopg.Connection):
    name = reader.info.user
    assert main(["sql-logins", "revoke", name]) == 0
    for view in VIEWS:
        with pytest.raises(InsufficientPrivilege):
            reader.execute(f"SELECT * FROM sinemora_read.{view}")
    assert main(["sql-logins", "revoke", name]) == 1


def test_the_login_of_a_deleted_tenant_reads_nothing(reader: psycopg.Connection, worlds: tuple[MeshWorld, MeshWorld]):
    execute("DELETE FROM tenants WHERE id = :id", {"id": worlds[0].owner.tenant_id})
    assert seen(reader) == set()


def test_a_role_that_was_never_granted_reads_nothing(worlds: tuple[MeshWorld, MeshWorld], servers: Servers):
    with role(servers) as name:
        with servers.owner_engine.begin() as owner:  # the privileges alone show nothing
            owner.execute(text(f"GRANT USAGE ON SCHEMA sinemora_read TO {name}"))
            owner.execute(text(f"GRANT SELECT ON ALL TABLES IN SCHEMA sinemora_read TO {name}"))
            owner.execute(text(f"GRANT CONNECT ON DATABASE {owner.engine.url.database} TO {name}"))
        with connected(servers, name) as connection:
            connection.execute("SET sinemora.tenant_id = '*'")
            assert seen(connection) == set()


def test_the_role_of_requests_has_no_right_to_minutes(owner: Member):
    reads = (
        "zone_minutes",
        "path_minutes",
        "sinemora_steps.zone_hours",
        "sinemora_steps.zone_days",
        "sinemora_read.meshes",
    )
    for statement in (*(f"SELECT * FROM {name}" for name in reads), "DELETE FROM zone_minutes"):
        with pytest.raises(Exception, match="permission denied"), tenant_session(owner.tenant_id) as session:
            session.execute(text(statement))
    for statement in ("DELETE FROM sql_logins", "UPDATE sql_logins SET role = 'x'"):
        with pytest.raises(Exception, match="permission denied"), tenant_session(owner.tenant_id) as session:
            session.execute(text(statement))


def test_a_role_that_could_read_more_is_refused(owner: Member, other_owner: Member, servers: Servers, run):
    def refused(name: str, tenant: object = owner.tenant_id) -> str:
        return run("sql-logins", "grant", name, str(tenant), code=1)

    assert "no role nobody_here in the database. Create it" in refused("nobody_here")
    for name in (APP_ROLE, OWNER_ROLE, SYSTEM_ROLE):
        assert "is a role of the product" in refused(name)
    for options in ("SUPERUSER", "BYPASSRLS", "CREATEROLE", "REPLICATION"):
        with role(servers, options) as name:
            assert f"Use a plain role for this alone: CREATE ROLE {name}_sql" in refused(name)
    with role(servers, "IN ROLE pg_read_all_data") as name:
        assert "is a member of pg_read_all_data and reads what that role reads" in refused(name)
    with role(servers) as name:
        assert "unknown tenant: nobody" in refused(name, "nobody")
        run("sql-logins", "grant", name, str(owner.tenant_id))
        assert main(["sql-logins", "grant", name, str(owner.tenant_id)]) == 0  # again changes nothing
        assert "reads another tenant. Revoke that first" in refused(name, other_owner.tenant_id)
        assert [line.split()[2] for line in run("sql-logins", "list").splitlines() if line.startswith(name)] != []
        run("sql-logins", "revoke", name)
    entries = owner.get("/v1/audit-entries").json()["items"]
    assert [(entry["action"], entry["subject_name"]) for entry in entries[:2]] == [
        ("sql_login.revoked", name),
        ("sql_login.granted", name),
    ]


def test_a_tenant_has_a_limit_of_logins(owner: Member, servers: Servers, monkeypatch: pytest.MonkeyPatch):
    from sinemora.measurements.store.sql_models import SqlLogin

    monkeypatch.setattr(SqlLogin, "rows_max", 1)
    with role(servers) as first, role(servers) as second:
        assert main(["sql-logins", "grant", first, str(owner.tenant_id)]) == 0
        assert main(["sql-logins", "grant", second, str(owner.tenant_id)]) == 1
        assert main(["sql-logins", "revoke", first]) == 0
