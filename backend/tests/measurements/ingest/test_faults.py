"""A disk that is full: what was acknowledged is stored exactly once.

The counts are printed. `kill -9` of each process under load is in tests/operations/embedded/test_durability.py.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from redis import Redis

from sinemora import migrate
from sinemora.access.tenants.service import create_owner
from sinemora.kit import db
from sinemora.main import create_app
from sinemora.measurements.ingest import storing_check
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SYSTEM_ROLE, PostgresServer
from tests import api_clients
from tests.api_clients import PASSWORD, MeshWorld
from tests.conftest import Servers, forget_settings
from tests.measurements.reports import report_of, send, window_start
from tests.measurements.worlds import simple
from tests.statements import rows
from tests.waits import WAIT_MOST_S

DISK_BYTES = 160 << 20
SMALL_DISK = "SINEMORA_TEST_SMALL_DISK"


def stored(mesh: MeshWorld) -> Counter[tuple[int, int]]:
    """Count how often each window of each VM of a mesh is stored."""
    windows = "SELECT vm_key, extract(epoch FROM started_at)::bigint FROM probe_frames WHERE mesh_key = :mesh"
    return Counter((vm_key, at) for vm_key, at in rows(windows, {"mesh": mesh.key}))


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Mount a file system small enough to be filled; without root, yield the one mounted by `on_small_disk`."""
    if given := os.environ.get(SMALL_DISK):
        yield Path(given)
        return
    folder = Path(tempfile.mkdtemp(prefix="sinemora-full-"))
    folder.chmod(0o755)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "sinemora-full", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


def on_small_disk(request: pytest.FixtureRequest, folder: Path) -> None:
    """Run the test of `request` once more, where an ordinary user may mount a small file system on `folder`.

    As root of a user namespace the file system is mounted; in a second one, inside it, the user is the user again,
    because PostgreSQL refuses to run as root.
    """
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("not run: this machine gives users no namespace to mount a small file system in; run it as root")
    mount = f'mount -t tmpfs -o size={DISK_BYTES},mode=700 sinemora-full "$1" && shift && exec "$@"'
    back = ["unshare", "--user", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
    pytest_again = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", request.node.nodeid]
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-ec", mount, "sh", folder, *back, *pytest_again],
        cwd=request.config.rootpath,
        env=os.environ | {SMALL_DISK: str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, done.stderr, sep="\n")
    assert done.returncode == 0


@pytest.fixture
def http_on_small_disk(small_disk: Path, servers: Servers, redis: Redis, monkeypatch: Any) -> Iterator[tuple[Any, Any]]:
    """An API whose database lies on the small disk, and that database's server."""
    postgres = PostgresServer(small_disk / "data")
    postgres.prepare()
    postgres.start()
    try:
        postgres.provision()
        monkeypatch.setenv("SINEMORA_DATABASE_URL", postgres.dsn())
        monkeypatch.setenv("SINEMORA_DATABASE_OWNER_URL", postgres.dsn(OWNER_ROLE))
        monkeypatch.setenv("SINEMORA_DATABASE_SYSTEM_URL", postgres.dsn(SYSTEM_ROLE))
        db.dispose()
        forget_settings()
        db._tenant_key.cache_clear()
        migrate.upgrade()
        with TestClient(create_app(), raise_server_exceptions=False) as http:
            yield http, postgres
        db.dispose()
    finally:
        postgres.stop()
        monkeypatch.undo()
        forget_settings()
        db._tenant_key.cache_clear()


def test_a_full_disk_is_told_and_when_there_is_space_again_all_goes_on(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    if os.geteuid() != 0 and SMALL_DISK not in os.environ:
        return on_small_disk(request, tmp_path)
    http, postgres = request.getfixturevalue("http_on_small_disk")
    small_disk: Path = request.getfixturevalue("small_disk")
    create_owner("Full", "full@sinemora.example", PASSWORD)
    mesh = api_clients.make_mesh(api_clients.sign_in(http, "full@sinemora.example"), 3)
    agent, at = mesh.agents[0], window_start(2)
    acknowledged: set[tuple[int, int]] = set()
    refusals: Counter[tuple[int, str]] = Counter()

    def report() -> bool:
        nonlocal at
        peers = {peer.vm_key: simple(40_000 + at % 977, count=400) for peer in mesh.agents[1:]}
        answer = send(agent, report_of(mesh.key, peers, at))
        if answer.status_code == 204:
            acknowledged.add((agent.vm_key, at))
            at -= 10
            return True
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        refusals[answer.status_code, answer.json()["code"]] += 1
        return False

    for _ in range(20):
        assert report()
    filler = small_disk / "filler"
    with filler.open("wb") as out, suppress(OSError):
        while True:
            out.write(bytes(1 << 16))
            out.flush()
    before = len(acknowledged)
    deadline = time.monotonic() + WAIT_MOST_S
    while not refusals and time.monotonic() < deadline:
        with filler.open("ab") as out, suppress(OSError):  # what a checkpoint freed meanwhile
            out.write(bytes(1 << 20))
        report()
    while_full = len(acknowledged) - before
    if postgres.ready():  # without reports, too, and with what the database has in reserve in its files
        storing_check.forget()
        assert storing_check.problem() == "reports cannot be stored: the disk of the database is full"
    assert refusals, "the disk was never full for the database"
    assert {status for status, _ in refusals} == {503}
    assert {code for _, code in refusals} <= {"database_full", "database_unavailable", "database_busy"}
    filler.unlink()
    if not postgres.ready():  # without space for its log it ends; the supervisor would start it again
        postgres.stop()
        postgres.start()
    freed = time.monotonic()
    while not report():
        assert time.monotonic() - freed < WAIT_MOST_S, refusals
        time.sleep(0.2)
    took_s = time.monotonic() - freed
    for _ in range(20):
        assert report()
    assert stored(mesh).total() == len(stored(mesh))
    assert acknowledged <= set(stored(mesh))
    with capsys.disabled():
        print(
            f"\ndisk of {shutil.disk_usage(small_disk).total >> 20} MiB filled: {while_full} reports still went in,"
            f" then {dict(refusals)}; {took_s:.1f} s after space was there again reports are stored;"
            f" {len(acknowledged)} acknowledged, {stored(mesh).total()} stored, 0 lost, 0 twice"
        )
