"""Check of the database role, for the API and for the supervisor, which imports neither SQLAlchemy nor FastAPI."""

from typing import Any

UNCONFINED = (
    "Database role refused: {role} of SINEMORA_DATABASE_URL is a superuser or may bypass row-level security, which"
    " separates tenants. Use a role without these rights (docs/databases.md)."
)


def unconfined_role(connection: Any) -> str | None:
    """Return the role of a database connection (DB-API) if row-level security does not bind it, else None."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)")
        row = cursor.fetchone()
    connection.rollback()
    return str(row[0]) if row else None
