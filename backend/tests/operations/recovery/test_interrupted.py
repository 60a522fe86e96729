"""A restore that cannot end, for want of space or because a person stops it, says so and leaves no server running."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sinemora.operations.embedded.servers import postgres
from sinemora.operations.embedded.servers.foreground import Foreground
from sinemora.operations.embedded.servers.postgres import PostgresServer
from sinemora.operations.recovery.archive import Archive
from sinemora.operations.recovery.errors import RecoveryError
from sinemora.operations.recovery.restore import restore
from tests.operations.recovery.archiving import Archiver
from tests.processes import mentioning
from tests.waits import WAIT_MOST_S, until

pytestmark = pytest.mark.whole_store

DISK_BYTES = 20 << 20
"""Less than the files of the smallest cluster."""


@pytest.fixture
def archive(named: PostgresServer, slot_dropped: None, place: Path) -> Path:
    """A whole archive that is kept up no more."""
    with Archiver(place / "archive") as running:
        running.wait_for_base()
    return place / "archive"


def line(archive: Path, to: Path) -> list[str]:
    return [sys.executable, "-m", "sinemora.cli", "recover", "--from", str(archive), "--to", str(to)]


def test_a_disk_that_is_too_small_is_said_before_anything_is_written(archive: Path, place: Path):
    disk = place / "disk"
    disk.mkdir()
    outer, back = ["unshare", "--mount"], []
    if os.geteuid() != 0:
        outer = ["unshare", "-Urm"]
        back = ["unshare", "--user", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
        if subprocess.run([*outer, "true"], capture_output=True, check=False).returncode:
            pytest.skip(
                "not run: this machine gives users no namespace to mount a small file system in; run it as root"
            )
    script = f'disk=$1; mount -t tmpfs -o size={DISK_BYTES},mode=711 small "$disk"; shift; "$@"; code=$?'
    script += '; find "$disk" -type f; exit $code'
    done = subprocess.run(
        [*outer, "sh", "-c", script, "sh", str(disk), *back, *line(archive, disk / "restored")],
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_MOST_S,
    )
    assert done.returncode == 1, done.stderr
    assert "Too little space for" in done.stderr
    assert " GB, 0.02 GB are free" in done.stderr
    assert not done.stdout, "files that were left"


def test_ctrl_c_leaves_no_server_running(archive: Path, place: Path):
    to = place / "restored"
    process = subprocess.Popen(line(archive, to), stderr=subprocess.PIPE, text=True)
    until(lambda: process.poll() is not None or (to / "postgres" / "postmaster.pid").exists(), "the server")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WAIT_MOST_S)
    assert process.returncode in (0, 1), said  # 0: it was ready by then
    assert "Traceback" not in said
    assert process.returncode == 0 or f"{to} may be deleted" in said
    assert_stopped(to)


def test_a_server_that_was_interrupted_before_it_had_a_name_is_stopped(
    archive: Path, place: Path, monkeypatch: pytest.MonkeyPatch
):
    to = place / "restored"

    def started(*arguments: Any) -> None:
        Foreground(*arguments)
        until((to / "postgres" / "postmaster.pid").exists, "the server")
        raise KeyboardInterrupt

    monkeypatch.setattr(postgres, "Foreground", started)
    with pytest.raises(RecoveryError, match="may be deleted"):
        restore(Archive(archive), to)
    assert_stopped(to)


def assert_stopped(to: Path) -> None:
    assert not (to / "postgres" / "postmaster.pid").exists()
    assert not mentioning(str(to))
