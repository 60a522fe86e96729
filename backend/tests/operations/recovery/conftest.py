"""A server of tests that is named as `sinemora run` names it, and a place for what is restored."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.object_storage_server import ObjectStorageServer
from sinemora.operations.embedded.servers.postgres import DATABASE, SUPERUSER, PostgresServer
from tests.operations.recovery.archiving import drop_slot_of_archiver


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the user of the servers may enter."""
    with tempfile.TemporaryDirectory(prefix="sinemora-recovery-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture
def named(servers: Any, monkeypatch: pytest.MonkeyPatch) -> PostgresServer:
    """The server of the tests, named as `sinemora run` names it to a command."""
    postgres = servers.postgres
    if not isinstance(postgres, PostgresServer):
        pytest.skip("the programs of the server's version are needed")
    monkeypatch.setenv("PGHOST", str(postgres.socket_folder))
    monkeypatch.setenv("PGUSER", SUPERUSER)
    monkeypatch.setenv("PGDATABASE", DATABASE)
    monkeypatch.setenv("PATH", f"{postgres.programs}{os.pathsep}{os.environ['PATH']}")
    return postgres


@pytest.fixture
def world(owner, make_mesh):
    """A mesh whose first agent reports."""
    return make_mesh(owner, 3)


@pytest.fixture
def slot_dropped(named: PostgresServer) -> Iterator[None]:
    """Delete the slot of the archiver after the test, whose archiver has ended by then."""
    yield
    drop_slot_of_archiver(named.dsn(SUPERUSER))


@pytest.fixture
def storage(use_storage: Callable[[dict[str, str]], ObjectStorageServer]) -> ObjectStorageServer:
    """Return the storage, set for the product with an archive in it that is uploaded every second."""
    return use_storage({"SINEMORA_ARCHIVE": "on", "SINEMORA_ARCHIVE_UPLOAD_S": "1"})
