"""Privileges of the database roles, granted again after each migration, since it covers new tables too.

The application's role reads and writes rows of one tenant at a time. The system role works across tenants: sweeps,
sign-in, the storage of reports. Only a policy of its own lets it, so SQL injected into a request of one tenant cannot
reach another tenant, drop measurements or rewrite the audit log.

A caller who is limited to some meshes sees the rows of these meshes alone (`kit/mesh_limit.py`). The policies follow
from the columns and the foreign keys of each table, so that a new table has its own without being named here.
"""

from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from sinemora.fleet.meshes import row_policies as mesh_policies
from sinemora.kit.config import settings
from sinemora.kit.row_policies import set_policies

_EVERY_TENANT = "(SELECT current_setting('sinemora.tenant_id', true)) = '*'"
_MAINTENANCE = (
    "make_measurement_partitions(date, date)",
    "drop_measurements_before(text, date)",
    "forget_measurements_before(text, date)",
    "tune_measurement_partitions()",
)
# Rows that stay as they were written.
_APPEND_ONLY = ("audit_entries",)
_READ_ONLY = ("alembic_version", "sql_logins")
# Without row-level security: only the owner and the system role read them, others by the views of `_SQL_VIEWS`.
_NOT_OF_REQUESTS = text(
    "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    " AND relname IN ('zone_minutes', 'path_minutes')"
)
_SQL_VIEWS = "sinemora_read"
# What these views read as their owner: the tenant of the role that authenticated. Each view selects that itself too.
_OWN_TENANT = "(SELECT l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text)"
_OF_LOGINS = {
    "sql_logins": "role = session_user::text",
    "tenants": f"id = {_OWN_TENANT}",
    "meshes": f"tenant_id = {_OWN_TENANT}",
    "zones": f"tenant_id = {_OWN_TENANT}",
    "vms": f"tenant_id = {_OWN_TENANT}",
    "vm_traffic": f"tenant_key = (SELECT t.key FROM public.tenants t WHERE t.id = {_OWN_TENANT})",
}


def apply(connection: Connection) -> None:
    """Grant the roles of the settings what they need, as the owner of the schema."""
    owner = str(connection.scalar(text("SELECT current_user")))
    application = make_url(settings().database_url).username or owner
    system = make_url(settings().database_system_url).username or owner
    quote = connection.dialect.identifier_preparer.quote
    for role in {application, system} - {owner}:
        for statement in _to_write(quote(role)):
            connection.execute(text(statement))
    if application not in (owner, system):
        for table in connection.scalars(_NOT_OF_REQUESTS).all():
            connection.execute(text(f"REVOKE ALL ON {table} FROM {quote(application)}"))
    if system not in (owner, application):
        for function in _MAINTENANCE:
            connection.execute(text(f"GRANT EXECUTE ON FUNCTION {function} TO {quote(system)}"))
    # The owner too: the functions of maintenance and the backup run as the owner.
    allowed = ", ".join(sorted({quote(owner), quote(system)}))
    tables = connection.scalars(
        text("SELECT tablename FROM pg_policies WHERE policyname = 'tenant' AND schemaname = 'public'")
    ).all()
    set_policies(connection, "system", dict.fromkeys(tables, f"TO {allowed} USING ({_EVERY_TENANT})"))
    logins = {table: f"FOR SELECT TO {quote(owner)} USING ({condition})" for table, condition in _OF_LOGINS.items()}
    set_policies(connection, "login", logins)
    mesh_policies.apply(connection, sorted(tables), quote(application))
    _let_logins_read(connection)


def of_login(connection: Connection, role: str, *, revoked: bool = False) -> None:
    """Let a database role read the views of its tenant, or no longer; as the owner of the schema."""
    quote = connection.dialect.identifier_preparer.quote
    database = quote(str(connection.scalar(text("SELECT current_database()"))))
    verb, who = ("REVOKE", f"FROM {quote(role)}") if revoked else ("GRANT", f"TO {quote(role)}")
    for what in (
        f"CONNECT ON DATABASE {database}",
        f"USAGE ON SCHEMA {_SQL_VIEWS}",
        f"SELECT ON ALL TABLES IN SCHEMA {_SQL_VIEWS}",
    ):
        connection.execute(text(f"{verb} {what} {who}"))


def _let_logins_read(connection: Connection) -> None:
    """Grant every SQL login of this server its views again: a migration may have replaced them."""
    connection.execute(text("SELECT set_config('sinemora.tenant_id', '*', true)"))
    roles = connection.scalars(text("SELECT l.role FROM sql_logins l JOIN pg_roles r ON r.rolname = l.role")).all()
    for role in roles:
        of_login(connection, role)


def _to_write(role: str) -> list[str]:
    """Return the statements that let a role read and write, but change neither schema nor history."""
    return [
        f"GRANT USAGE ON SCHEMA public TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO {role}",
        f"REVOKE UPDATE, DELETE ON {', '.join(_APPEND_ONLY)} FROM {role}",
        f"REVOKE INSERT, UPDATE, DELETE ON {', '.join(_READ_ONLY)} FROM {role}",
    ]
