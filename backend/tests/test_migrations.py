"""The schema is what the models say, and every version can be undone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from sinemora.embedded.postgres import OWNER_ROLE
from tests.conftest import Servers

BACKEND = Path(__file__).parents[1]


@pytest.fixture
def alembic(servers: Servers):
    """Runs alembic on a database of its own, as the owner of the schema."""
    servers.postgres.provision("migrations")
    urls = {
        "SINEMORA_DATABASE_URL": servers.postgres.dsn(database="migrations"),
        "SINEMORA_DATABASE_OWNER_URL": servers.postgres.dsn(OWNER_ROLE, "migrations"),
    }

    def run(*arguments: str, refused: str = "") -> str:
        """What alembic printed; `refused`: it must fail, and say this."""
        done = subprocess.run(
            [sys.executable, "-m", "alembic", *arguments],
            cwd=BACKEND,
            env=os.environ | urls,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == bool(refused), done.stderr
        assert refused in done.stderr
        return done.stdout

    return run


def catalogue(servers: Servers) -> list[str]:
    """Everything of ours in the schema: tables, columns, functions, triggers, policies."""
    url = servers.postgres.dsn(OWNER_ROLE, "migrations").replace("postgresql://", "postgresql+psycopg://")
    with create_engine(url).connect() as connection:
        return list(
            connection.scalars(
                text(
                    "SELECT format('%s.%s %s', table_name, column_name, data_type) FROM information_schema.columns"
                    " WHERE table_schema = 'public'"
                    " UNION ALL SELECT proname FROM pg_proc p WHERE pronamespace = 'public'::regnamespace"
                    "  AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')"  # an extension's
                    " UNION ALL SELECT relname || ' ' || tgname FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid"
                    "  WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace"
                    " UNION ALL SELECT tablename || ' ' || policyname || ' ' || qual FROM pg_policies ORDER BY 1"
                )
            )
        )


def test_up_down_up_ends_where_it_began(alembic, servers: Servers):
    alembic("upgrade", "head")
    alembic("check")
    before = catalogue(servers)
    alembic("downgrade", "base")
    assert [one for one in catalogue(servers) if not one.startswith("alembic_version")] == []
    alembic("upgrade", "head")
    assert catalogue(servers) == before


def test_there_is_one_newest_version(alembic):
    assert len(alembic("heads").split("\n")) == 2


def test_a_migration_gives_up_on_a_lock_and_leaves_all_as_it_was(alembic, servers: Servers):
    """Whoever serves goes on: a migration waits seconds for a lock, not for ever with everybody queued behind it."""
    alembic("upgrade", "head")
    url = servers.postgres.dsn(OWNER_ROLE, "migrations").replace("postgresql://", "postgresql+psycopg://")
    engine = create_engine(url)
    with engine.connect() as reader:
        reader.execute(text("SELECT count(*) FROM pins"))  # a transaction left open holds its lock
        alembic("downgrade", "0006", refused="lock timeout")
        with engine.connect() as other:
            assert other.scalar(text("SELECT version_num FROM alembic_version")) == "0007"
            assert other.scalar(text("SELECT to_regclass('pins') IS NOT NULL"))
            assert other.scalar(text("SELECT to_regproc('forget_measurements_before') IS NOT NULL"))
    alembic("upgrade", "head")
    engine.dispose()
