"""Tests of the real embedded servers: private, without trusted connections, recovered after a crash."""

import os
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SUPERUSER, PostgresServer
from sinemora.operations.embedded.servers.valkey import ValkeyServer
from tests.servers import started


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    # Not tmp_path: started by root, the servers run as a user who cannot enter root's own temporary folders.
    with tempfile.TemporaryDirectory(prefix="sinemora-test-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def postgres(data_dir: Path) -> Iterator[PostgresServer]:
    with started(PostgresServer(data_dir)) as server:
        server.provision()
        yield server


def test_nothing_listens_on_the_network_and_the_socket_is_private(postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.dsn(SUPERUSER)) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        methods = connection.execute("SELECT DISTINCT auth_method FROM pg_hba_file_rules").fetchall()
    assert methods == [("peer",)]
    for folder in (postgres.socket_folder, postgres.cluster, postgres.data_dir):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.stat().st_uid == postgres.user.uid


def test_data_survive_a_crash_and_provisioning_can_be_repeated(postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.dsn(OWNER_ROLE)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
    pid = int((postgres.cluster / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGQUIT)  # immediate: the next start recovers from the log
    postgres.stop()
    postgres.prepare()
    postgres.start()
    postgres.provision()
    with psycopg.connect(postgres.dsn(OWNER_ROLE)) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (42,)


def test_a_server_left_over_is_stopped_before_another_starts(postgres: PostgresServer) -> None:
    old = int((postgres.cluster / "postmaster.pid").read_text().split()[0])
    again = PostgresServer(postgres.data_dir)
    again.prepare()
    postgres.stop()
    assert not (postgres.cluster / "postmaster.pid").exists()
    postgres.start()
    assert int((postgres.cluster / "postmaster.pid").read_text().split()[0]) != old


@pytest.mark.parametrize("killed", ["none", "postmaster"])
def test_a_server_that_hangs_with_all_its_processes_is_ended_and_starts_again(
    postgres: PostgresServer, killed: str
) -> None:
    """Stop every process of the server, as a hung disk does: none takes a signal, and their memory stays in use."""
    session = psycopg.connect(postgres.dsn(SUPERUSER))
    pids = postgres._leftovers()
    postmaster = postgres._postmaster()
    assert postmaster in pids
    assert len(pids) > 3
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    if killed == "postmaster":
        os.kill(postmaster, signal.SIGKILL)
        assert postgres._process is not None
        postgres._process._process.wait()
    postgres.stop_leftover(timeout_s=0.5)
    assert not set(pids) & set(postgres._leftovers())
    session.close()
    postgres.stop()
    postgres.start()
    with psycopg.connect(postgres.dsn(OWNER_ROLE)) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (42,)


def test_data_of_another_version_are_refused_with_the_way_out(postgres: PostgresServer) -> None:
    marker = postgres.cluster / "PG_VERSION"
    right = marker.read_text()
    marker.write_text("16\n")
    try:
        with pytest.raises(EmbeddedError, match="16 wrote the data"):
            postgres._check_version()
    finally:
        marker.write_text(right)


def test_valkey_answers_on_its_socket_alone(data_dir: Path) -> None:
    with started(ValkeyServer(data_dir)) as server:
        client = redis.Redis.from_url(server.url())
        client.set("a", 1)
        assert client.get("a") == b"1"
        assert client.config_get("port") == {"port": "0"}
        assert stat.S_IMODE(server.socket_path.parent.stat().st_mode) == 0o700
        client.close()
