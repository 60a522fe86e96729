"""Fixtures of every test: a real PostgreSQL and a real Valkey of the test run's own, the API on them, its callers.

    client          anybody; no cookies, no headers
    owner           the owner of a fresh tenant, signed in; `other_owner` is one of another tenant
    make_mesh       make_mesh(owner, agents=3, name="demo", window_s=10 …) -> MeshWorld with enrolled agents
    database        the clean database, where a test needs it without the API
    redis           the clean Valkey

Each worker of pytest-xdist has servers of its own; `SINEMORA_TEST_DATABASE_URL` names a PostgreSQL that is there
already (see `external.py`). Whatever a test leaves behind is emptied before the next one.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from redis import Redis
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.pool import NullPool

from sinemora import migrate
from sinemora.embedded.postgres import OWNER_ROLE, PostgresServer
from sinemora.embedded.valkey import ValkeyServer
from sinemora.kit import config, db
from sinemora.kit import redis as kit_redis
from sinemora.kit.celery import celery
from sinemora.main import create_app
from sinemora.measurements.codec import fast
from sinemora.tenants.service import create_owner
from tests import callers
from tests.callers import PASSWORD, Caller, Member, MeshWorld
from tests.external import SETTING, ExternalPostgres

# Merging is done in numpy here; `test_loops.py` compares the compiled loops with that.
fast.stay_without()


@dataclass(frozen=True)
class Servers:
    """The servers of this test process."""

    postgres: PostgresServer | ExternalPostgres
    valkey: ValkeyServer
    owner_engine: Engine


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """PostgreSQL, migrated, and Valkey, started once per process; settings point to them."""
    folder = Path(tempfile.mkdtemp(prefix="sinemora-test-"))
    postgres, valkey = _postgres(folder), ValkeyServer(folder)
    try:
        postgres.provision()
        valkey.prepare()
        valkey.start()
        for name in [name for name in os.environ if name.startswith("SINEMORA_")]:
            del os.environ[name]
        config.Settings.model_config["env_file"] = None
        os.environ["SINEMORA_DATABASE_URL"] = postgres.dsn()
        os.environ["SINEMORA_DATABASE_OWNER_URL"] = postgres.dsn(OWNER_ROLE)
        os.environ["SINEMORA_REDIS_URL"] = valkey.url()
        forget_settings()
        # Read at import, when the settings named another server.
        celery.conf.broker_url = kit_redis.broker_url(valkey.url())
        migrate.upgrade()
        owner_engine = create_engine(config.settings().database_owner_url, poolclass=NullPool)
        yield Servers(postgres, valkey, owner_engine)
        db.engine().dispose()
    finally:
        valkey.stop()
        if isinstance(postgres, ExternalPostgres):
            postgres.drop()
        else:
            postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def timescaledb(servers: Servers) -> str | None:
    """The version of TimescaleDB in the database of the tests; None where it has native partitions."""
    with servers.owner_engine.connect() as connection:
        return connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'"))


def _postgres(folder: Path) -> PostgresServer | ExternalPostgres:
    """The server of `SINEMORA_TEST_DATABASE_URL`, or one started in `folder`."""
    if url := os.environ.get(SETTING):
        return ExternalPostgres(url)
    server = PostgresServer(folder, durable=False)
    server.prepare()
    server.start()
    return server


def forget_settings() -> None:
    """Let the next use read settings, and open connections, anew."""
    config.settings.cache_clear()
    db.engine.cache_clear()
    kit_redis.client.cache_clear()


@pytest.fixture
def redis(servers: Servers) -> Redis:
    """The clean Valkey."""
    client = Redis.from_url(servers.valkey.url(), decode_responses=True)
    client.flushall()
    return client


@pytest.fixture
def database(servers: Servers) -> Engine:
    """The clean database, as the application's role sees it."""
    with servers.owner_engine.begin() as connection:
        # Somebody the test before left behind may hold a lock: say so instead of waiting for ever.
        connection.execute(text("SET LOCAL lock_timeout = '20s'"))
        tables = connection.scalars(
            text(
                "SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
                " AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'alembic_version'"
            )
        ).all()
        connection.execute(text(f"TRUNCATE {', '.join(tables)} CASCADE"))
    db._tenant_key.cache_clear()
    return db.engine()


@pytest.fixture
def http(database: Engine, redis: Redis) -> Iterator[TestClient]:
    """The running API; faults of ours come as the answer a user would get."""
    with TestClient(create_app(), raise_server_exceptions=False) as running:
        yield running


@pytest.fixture
def client(http: TestClient) -> Caller:
    """Somebody who is not signed in."""
    return Caller(http)


@pytest.fixture
def make_owner(http: TestClient) -> Callable[[], Member]:
    """Signs in the owner of a fresh tenant at each call."""

    def make() -> Member:
        name = uuid4().hex[:8]
        create_owner(f"Tenant {name}", f"{name}@sinemora.example", PASSWORD)
        return callers.sign_in(http, f"{name}@sinemora.example")

    return make


@pytest.fixture
def owner(make_owner: Callable[[], Member]) -> Member:
    """The owner of a fresh tenant."""
    return make_owner()


@pytest.fixture
def other_owner(make_owner: Callable[[], Member]) -> Member:
    """The owner of another tenant."""
    return make_owner()


@pytest.fixture
def make_mesh() -> Callable[..., MeshWorld]:
    """A mesh with enrolled agents: `make_mesh(owner, agents=3, name="demo", window_s=10)`."""

    def make(owner: Member, agents: int = 3, name: str = "demo", **settings: Any) -> MeshWorld:
        return callers.make_mesh(owner, agents, name, **settings)

    return make
