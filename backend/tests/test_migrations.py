"""The schema is what the models say, and every version can be undone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine, NullPool, create_engine, text

from sinemora.alerts.evaluation.rule import again_and_again
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


def owning(servers: Servers) -> Engine:
    """That database, as the owner of the schema."""
    url = servers.postgres.dsn(OWNER_ROLE, "migrations")
    return create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool)


def catalogue(servers: Servers) -> list[str]:
    """Everything of ours in the schema: tables, columns, functions, triggers, policies."""
    with owning(servers).connect() as connection:
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
    engine = owning(servers)
    with engine.connect() as reader:
        reader.execute(text("SELECT count(*) FROM pins"))  # a transaction left open holds its lock
        alembic("downgrade", "0006", refused="lock timeout")
        with engine.connect() as other:
            assert other.scalar(text("SELECT version_num FROM alembic_version")) == "0007"
            assert other.scalar(text("SELECT to_regclass('pins') IS NOT NULL"))
            assert other.scalar(text("SELECT to_regproc('forget_measurements_before') IS NOT NULL"))
    alembic("upgrade", "head")


def test_spike_rules_nobody_changed_follow_the_length_of_windows(alembic, servers: Servers):
    alembic("upgrade", "head")
    alembic("downgrade", "0016")
    lengths_s = (1, 10, 11, 12, 24, 25, 48, 49, 60)
    everything = text("SELECT set_config('sinemora.tenant_id', '*', true)")
    with owning(servers).begin() as connection:
        connection.execute(everything)
        connection.execute(text("INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'windows')"))
        for window_s in lengths_s:
            connection.execute(
                text(
                    "INSERT INTO meshes (id, name, window_s, rate_hz, flows, version, tenant_id)"
                    " SELECT gen_random_uuid(), 'every ' || :s, :s, 1, 1, 1, id FROM tenants WHERE name = 'windows'"
                ),
                {"s": window_s},
            )
        for x, name in ((4, "as given"), (3, "chosen")):
            connection.execute(
                text(
                    "INSERT INTO alert_rules (id, mesh_id, tenant_id, name, enabled, severity, condition, scope,"
                    " windows_x, windows_y, sources_min, hold_s, keep_firing_s, origin, version)"
                    " SELECT gen_random_uuid(), id, tenant_id, :name, true, 'info', '{}', '{}',"
                    " :x, 6, 2, 0, 0, 'spikes', 1 FROM meshes"
                ),
                {"x": x, "name": name},
            )
    alembic("upgrade", "head")
    with owning(servers).begin() as connection:
        connection.execute(everything)
        rules = connection.execute(
            text("SELECT r.name, m.window_s, windows_x, windows_y FROM alert_rules r JOIN meshes m ON m.id = r.mesh_id")
        )
        found = {(name, window_s): (x, y) for name, window_s, x, y in rules}
        connection.execute(text("DELETE FROM tenants WHERE name = 'windows'"))
    assert found == {("as given", s): again_and_again(s) for s in lengths_s} | {
        ("chosen", s): (3, 6) for s in lengths_s
    }
