"""An empty database of its own for a test."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from sinemora.kit import db
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SUPERUSER, SYSTEM_ROLE, PostgresServer
from tests.conftest import Servers, forget_settings


@contextmanager
def empty_database(servers: Servers, name: str) -> Iterator[str]:
    """Let the settings name an empty database until the end. Yield the address for the owner of its schema."""
    if isinstance(servers.postgres, PostgresServer):
        with psycopg.connect(servers.postgres.dsn(SUPERUSER, "postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    servers.postgres.provision(name)
    owner = servers.postgres.dsn(OWNER_ROLE, name)
    db.dispose()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SINEMORA_DATABASE_URL", servers.postgres.dsn(database=name))
        patch.setenv("SINEMORA_DATABASE_OWNER_URL", owner)
        patch.setenv("SINEMORA_DATABASE_SYSTEM_URL", servers.postgres.dsn(SYSTEM_ROLE, name))
        forget_settings()
        try:
            yield owner
        finally:
            db.dispose()
    forget_settings()
