"""Run migrations as the owner of the schema: one transaction a version, locks and statements limited to seconds."""

from pathlib import Path

from alembic import context
from sqlalchemy import Connection, MetaData, create_engine, pool, text

from sinemora import grants, migrate
from sinemora.kit import cluster
from sinemora.kit.config import settings

# Any constant: two deployments that migrate at once take turns.
_TURN = 8420
_STEPS = Path(__file__).parent / "sql_steps.sql"


def _models() -> MetaData | None:
    """Return the tables of the models, which `alembic check` and `alembic revision` need.

    An upgrade does without them, so it does not load the code of the product.
    """
    if not context.config.attributes.get("models", True):
        return None
    from sinemora.tables import metadata

    return metadata


metadata = _models()


def _modelled(name: str | None, kind: str, *_: object) -> bool:
    """Tell autogenerate to skip tables without a model: partitions are created and dropped at run time."""
    return kind != "table" or metadata is None or name in metadata.tables


def _migrate() -> None:
    engine = create_engine(settings().database_owner_url, poolclass=pool.NullPool)
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:turn)"), {"turn": _TURN})
        connection.execute(text("SET lock_timeout = '4s'"))
        connection.execute(text("SET statement_timeout = '60s'"))
        if cluster.version(connection) is not None:
            connection.execute(text(f"SET {cluster.ONE_CONNECTION_A_WORKER}"))
        migrate.check_database(connection)
        connection.commit()
        context.configure(
            connection=connection,
            target_metadata=metadata,
            transaction_per_migration=True,
            compare_server_default=True,
            include_name=_modelled,
            # A migration reads no setting by itself, so that it depends on nothing that a later version may change.
            raw_days=settings().retention_raw_days,
        )
        with context.begin_transaction():
            context.run_migrations()
        # At any version: a backup of an older one is loaded before the schema is migrated further.
        if metadata is None and context.get_context().get_current_heads():
            _make_steps(connection)
            grants.apply(connection)
        connection.commit()


def _make_steps(connection: Connection) -> None:
    """Make the hours and days for readers with SQL; with TimescaleDB, keep them as long as the settings say."""
    connection.execute(text(_STEPS.read_text("utf-8")))
    if connection.scalar(text("SELECT pg_temp.has_aggregates()")):
        connection.execute(
            text("SELECT pg_temp.set_policies(:minutes, :hours, :days)"),
            {
                "minutes": settings().retention_1m_days,
                "hours": settings().retention_1h_days,
                "days": settings().retention_1d_days,
            },
        )


_migrate()
