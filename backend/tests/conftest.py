"""Fixtures of every test: a real PostgreSQL and a real Valkey, the API on them, its callers.

    client          a caller without cookies or credentials
    owner           the owner of a fresh tenant, signed in, whose rows are stored at once; `other_owner` owns another
    make_mesh       make_mesh(owner, agents=3, name="demo", window_s=10 …) -> MeshWorld with enrolled agents, whose rows
                    are stored at once; `api_clients.make_mesh` enrols them through the API
    mesh            the owner's mesh of three agents, a-1, b-1 and c-1; of another number with the marker `agents`
    run             runs a command and returns what it prints: run("owner", "create", code=1) is to end with 1
    online          the same, with the address and key of `connected`, a client of `owner` while the API listens
    database        the database, where a test needs it without the API
    redis           an empty Valkey
    queued          the jobs that would have gone to a worker
    agent           the first agent of `mesh`
    mail_server     a mail server; through `mailbox` the product sends

Each process of pytest-xdist starts its servers, migrates one database and runs one API for all its tests;
`SINEMORA_TEST_DATABASE_URL` names a PostgreSQL server to use instead (see `lab/external_postgres.py`). A test has its
own tenants, and the isolation of tenants keeps it apart from the rows of earlier tests. A test that reads or sweeps the
rows of all tenants has the marker `whole_store`: it begins with empty tables. A test that stops servers or changes
settings of the API has the marker `own_app`: an API runs for it alone.

Property tests have no time limit for one example, since the machine may be busy with other tests. How many examples
and numbered seeds run: `seeds.py`; `make check` runs fewer (`--hypothesis-profile=quick`).
"""

import gc
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from hypothesis import settings as property_settings
from redis import Redis
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.pool import NullPool

from lab.external_postgres import SETTING, ExternalPostgres
from lab.object_storage_server import ObjectStorageServer
from sinemora import migrate
from sinemora.jobs.dispatch import TASKS
from sinemora.kit import cluster, config, db, security
from sinemora.kit import redis as kit_redis
from sinemora.kit.celery import celery
from sinemora.main import create_app
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.store import binary_rows, partitions
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SUPERUSER, SYSTEM_ROLE, PostgresServer
from sinemora.operations.embedded.servers.valkey import ValkeyServer
from tests import sample_tenant
from tests.api_clients import PASSWORD, AgentCaller, Caller, Member, MeshWorld
from tests.mail_server import MailServer, serve
from tests.measurements.reports import now_s
from tests.recorded_examples import RECORDING, RecordingClient
from tests.seeds import examples
from tests.terminal import connected as connected
from tests.terminal import online as online
from tests.terminal import run as run

# A password is hashed and checked for nearly every test: as quickly as argon2 can.
security._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
security._no_user_hash = security._hasher.hash(PASSWORD)

property_settings.register_profile("patient", deadline=None, max_examples=examples(100))
property_settings.register_profile("quick", deadline=None, max_examples=10)
property_settings.load_profile("patient")


# Nothing that is imported or collected ends before the process: the collector of cycles need not pass over it.
gc.disable()


def pytest_collection_finish() -> None:
    """Let the collector begin, with what the tests make."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that do not use the API, while examples of it are recorded.

    With a server that runs already, leave out those that do not use it.
    """
    needed = "http" if RECORDING else "servers" if os.environ.get(SETTING) else None
    if needed is not None:
        others = [item for item in items if needed not in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Count the windows of a test back from a time of this test."""
    now_s.cache_clear()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests with asyncio, as the product runs."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _log_of_each_test() -> Iterator[None]:
    """Take back what a test set of logging: its handler writes to a captured stream, which ends with the test."""
    handlers = logging.root.handlers[:]
    yield
    logging.root.handlers[:] = handlers


@dataclass(frozen=True)
class Servers:
    """The servers of this test process."""

    postgres: PostgresServer | ExternalPostgres
    valkey: ValkeyServer
    owner_engine: Engine
    superuser_engine: Engine  # keeps a connection, whose server process remembers the tables


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
        os.environ["SINEMORA_DATABASE_SYSTEM_URL"] = postgres.dsn(SYSTEM_ROLE)
        os.environ["SINEMORA_REDIS_URL"] = valkey.url()
        # All callers of the tests have one address.
        os.environ["SINEMORA_ANONYMOUS_LIMIT_PER_MINUTE"] = "1000000"
        # Meshes of tests have a few windows; tests of settling set it.
        os.environ["SINEMORA_ALERT_SETTLING_S"] = "0"
        forget_settings()
        # Read at import, when the settings named another server.
        celery.conf.broker_url = kit_redis.broker_url(valkey.url())
        migrate.upgrade()
        owner_engine = create_engine(config.settings().database_owner_url, poolclass=NullPool)
        if isinstance(postgres, ExternalPostgres):
            postgres.distribute()
        # An earlier test may have left a transaction open that holds a lock: fail instead of waiting for ever.
        superuser = partial(psycopg.connect, postgres.dsn(SUPERUSER), options="-c lock_timeout=20s")
        superuser_engine = create_engine("postgresql+psycopg://", creator=superuser, pool_pre_ping=True)
        yield Servers(postgres, valkey, owner_engine, superuser_engine)
        superuser_engine.dispose()
        db.dispose()
    finally:
        valkey.stop()
        if isinstance(postgres, ExternalPostgres):
            postgres.drop()
        else:
            postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def timescaledb(servers: Servers) -> str | None:
    """Return the version of TimescaleDB in the database of the tests; None for native partitions."""
    with servers.owner_engine.connect() as connection:
        return connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'"))


def _postgres(folder: Path) -> PostgresServer | ExternalPostgres:
    """Yield the server of `SINEMORA_TEST_DATABASE_URL`, or one started in `folder`."""
    if url := os.environ.get(SETTING):
        return ExternalPostgres(url)
    server = PostgresServer(folder, durable=False)
    server.prepare()
    server.start()
    return server


def forget_settings() -> None:
    """Clear caches of settings, connections and what a database holds, so that the next use reads them again."""
    config.settings.cache_clear()
    shared_cache.cache_clear()
    binary_rows.ROSTERS.clear()
    db.engine.cache_clear()
    db.system_engine.cache_clear()
    kit_redis.client.cache_clear()


@pytest.fixture(scope="session")
def valkey(servers: Servers) -> Redis:
    """Return a connection to Valkey."""
    return Redis.from_url(servers.valkey.url(), decode_responses=True)


@pytest.fixture
def redis(valkey: Redis) -> Redis:
    """Empty Valkey: no attempts to sign in are counted, no tasks wait."""
    valkey.flushall()
    return valkey


@pytest.fixture
def database(servers: Servers, request: pytest.FixtureRequest) -> Engine:
    """Return the database as the application's role sees it; its tables are empty for a test of the whole store."""
    if request.node.get_closest_marker("whole_store"):
        _empty(servers)
    return db.engine()


# Tables with rows, or that had some; the chunks of TimescaleDB inherit from their table. And whether it is of a day.
_FILLED = """
SELECT quote_ident(relname), relispartition FROM pg_class c
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version' AND relname <> ALL (%s)
AND (pg_relation_size(oid) > 0 OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid))
"""


def _empty(servers: Servers) -> None:
    """Delete all rows. To truncate every table, each day of measurements included, takes a tenth of a second."""
    with servers.superuser_engine.begin() as superuser:
        distributed = cluster.distributed_tables(superuser)
        for table in distributed:
            # Truncating would take a command for each day and part of it.
            superuser.exec_driver_sql(f"DELETE FROM {table}")
    with servers.superuser_engine.begin() as superuser:
        superuser.exec_driver_sql("SET LOCAL session_replication_role = replica")  # no foreign keys, so in any order
        for table, is_day in superuser.exec_driver_sql(_FILLED, (list(distributed),)).all():
            superuser.exec_driver_sql(f"{'TRUNCATE' if is_day else 'DELETE FROM'} {table}")
    db._tenant_key.cache_clear()
    with db.system_session() as session:  # an earlier test may have dropped some
        partitions.make_ahead(session, datetime.now(UTC), config.settings().retention_raw_days)


@pytest.fixture(scope="session")
def app(servers: Servers) -> Iterator[RecordingClient]:
    """Yield the API that most tests of the process share. Unexpected errors become responses, as for a user."""
    with RecordingClient(create_app(), raise_server_exceptions=False, client=("127.0.0.1", 50000)) as running:
        yield running
    if RECORDING:
        running.recorder.write(Path(RECORDING))


@pytest.fixture
def http(database: Engine, redis: Redis, request: pytest.FixtureRequest) -> Iterator[RecordingClient]:
    """Return the running API. At the end, its answers must have had only what the contract declares."""
    if not request.node.get_closest_marker("own_app"):
        running = request.getfixturevalue("app")
        yield running
    else:
        with RecordingClient(create_app(), raise_server_exceptions=False, client=("127.0.0.1", 50000)) as running:
            yield running
    assert sorted(set(running.recorder.take_undeclared())) == []


@pytest.fixture
def client(http: TestClient) -> Caller:
    """A caller who is not signed in."""
    return Caller(http)


@pytest.fixture
def make_owner(http: TestClient) -> Callable[[], Member]:
    """Create a tenant at each call, with an owner who is signed in."""
    return lambda: sample_tenant.make_owner(http)


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
    return sample_tenant.make_mesh


@pytest.fixture
def mesh(owner: Member, make_mesh: Callable[..., MeshWorld], request: pytest.FixtureRequest) -> MeshWorld:
    """A mesh of three enrolled agents, or of as many as the marker `agents` says."""
    marker = request.node.get_closest_marker("agents")
    return make_mesh(owner, marker.args[0] if marker else 3)


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Jobs that would have gone to a worker."""
    left: list[dict[str, str]] = []
    for task in TASKS.values():
        monkeypatch.setattr(task, "apply_async", lambda kwargs, **_: left.append(kwargs))
    return left


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    """A mail server that keeps what it gets."""
    yield from serve(MailServer())


@pytest.fixture
def mailbox(mail_server: MailServer, mail_settings: None) -> MailServer:
    """A mail server that the product sends through."""
    return mail_server


@pytest.fixture
def agent(mesh: MeshWorld) -> AgentCaller:
    """The first agent of the mesh."""
    return mesh.agents[0]


@pytest.fixture
def bare() -> Iterator[None]:
    """An environment without settings of the product, until the test ends."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SINEMORA_")]:
            patch.delenv(name)
        config.settings.cache_clear()
        yield
    config.settings.cache_clear()


@pytest.fixture
def set_to() -> Iterator[Callable[..., None]]:
    """Change settings by their names, until the test ends: `set_to(port="1")`; None removes one."""
    with pytest.MonkeyPatch.context() as patch:

        def change(**values: str | None) -> None:
            for name, value in values.items():
                if value is None:
                    patch.delenv(f"SINEMORA_{name.upper()}", raising=False)
                else:
                    patch.setenv(f"SINEMORA_{name.upper()}", value)
            config.settings.cache_clear()

        yield change
    config.settings.cache_clear()


@pytest.fixture
def secret_key(servers: Servers, set_to: Callable[..., None]) -> None:
    """Settings with a key, under which secrets are stored."""
    set_to(secret_key="of the tests")


@pytest.fixture
def mail_settings(mail_server: MailServer, secret_key: None, set_to: Callable[..., None]) -> None:
    """Settings with a mail server and a secret key."""
    set_to(smtp_url=f"smtp://127.0.0.1:{mail_server.port}")


@pytest.fixture(scope="session")
def storage_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStorageServer]:
    """Yield a running storage server."""
    server = ObjectStorageServer(tmp_path_factory.mktemp("storage"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def use_storage(
    storage_server: ObjectStorageServer, servers: Servers, set_to: Callable[..., None]
) -> Callable[[dict[str, str]], ObjectStorageServer]:
    """Return a function that sets the storage for the product, below a new prefix, with more settings."""

    def use(more: dict[str, str], server: ObjectStorageServer = storage_server) -> ObjectStorageServer:
        prefix = {"SINEMORA_STORAGE_PREFIX": f"test-{uuid4().hex[:8]}"}
        values = {**server.settings(), **prefix, **more}
        set_to(**{name.removeprefix("SINEMORA_"): value for name, value in values.items()})
        return server

    return use
