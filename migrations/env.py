"""How migrations run: as the owner of the schema, one transaction per version, patient for seconds only."""

from alembic import context
from sqlalchemy import Connection, create_engine, pool, text
from sqlalchemy.engine import make_url

from sinemora.kit.config import settings
from sinemora.tables import metadata

# Any constant: two deployments that migrate at once take turns.
_TURN = 8420


def _owned_by_us(name: str | None, kind: str, *_: object) -> bool:
    """Whether autogenerate should look at this: partitions and their indexes come and go by themselves."""
    return kind != "table" or name in metadata.tables


def _grant(connection: Connection) -> None:
    """Let the application's role read and write, and no more, where it is not the owner itself."""
    role = make_url(settings().database_url).username
    owner = connection.scalar(text("SELECT current_user"))
    if role is None or role == owner:
        return
    name = connection.dialect.identifier_preparer.quote(role)
    for what in (
        f"GRANT USAGE ON SCHEMA public TO {name}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {name}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {name}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {name}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO {name}",
    ):
        connection.execute(text(what))


def _migrate() -> None:
    engine = create_engine(settings().database_owner_url, poolclass=pool.NullPool)
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:turn)"), {"turn": _TURN})
        connection.execute(text("SET lock_timeout = '4s'"))
        connection.execute(text("SET statement_timeout = '60s'"))
        connection.commit()
        context.configure(
            connection=connection,
            target_metadata=metadata,
            transaction_per_migration=True,
            compare_server_default=True,
            include_name=_owned_by_us,
        )
        with context.begin_transaction():
            context.run_migrations()
        _grant(connection)
        connection.commit()


_migrate()
