"""Privileges of the database roles, granted again after each migration, since it covers new tables too.

The application's role reads and writes rows of one tenant at a time. The system role works across tenants: sweeps,
sign-in, the storage of reports. Only a policy of its own lets it, so SQL injected into a request of one tenant cannot
reach another tenant, drop measurements or rewrite the audit log.

A caller who is limited to some meshes sees the rows of these meshes alone (`kit/mesh_limit.py`). The policies follow
from the columns and the foreign keys of each table, so that a new table has its own without being named here.
"""

from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from sinemora import mesh_policies
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
_READ_ONLY = ("alembic_version",)


def apply(connection: Connection) -> None:
    """Grant the roles of the settings what they need, as the owner of the schema."""
    owner = str(connection.scalar(text("SELECT current_user")))
    application = make_url(settings().database_url).username or owner
    system = make_url(settings().database_system_url).username or owner
    quote = connection.dialect.identifier_preparer.quote
    for role in {application, system} - {owner}:
        for statement in _to_write(quote(role)):
            connection.execute(text(statement))
    if system not in (owner, application):
        for function in _MAINTENANCE:
            connection.execute(text(f"GRANT EXECUTE ON FUNCTION {function} TO {quote(system)}"))
    # The owner too: the functions of maintenance and the backup run as the owner.
    allowed = ", ".join(sorted({quote(owner), quote(system)}))
    tables = connection.scalars(
        text("SELECT tablename FROM pg_policies WHERE policyname = 'tenant' AND schemaname = 'public'")
    ).all()
    set_policies(connection, "system", dict.fromkeys(tables, f"TO {allowed} USING ({_EVERY_TENANT})"))
    mesh_policies.apply(connection, sorted(tables), quote(application))


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
