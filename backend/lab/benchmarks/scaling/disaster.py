"""Disaster under load: the database dies with its disk and its archiver, and is restored from object storage."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.fleet import Fleet, Record, lost
from lab.benchmarks.storing.product import Product, World, addresses, read_settings_again
from lab.object_storage_server import ObjectStorageServer
from sinemora.kit import archive_state
from sinemora.kit.db import dispose
from sinemora.operations.embedded.servers.postgres import DATABASE, SUPERUSER, PostgresServer

SENDERS = 20
LOAD_S = 45.0
_COMMAND = [sys.executable, "-m", "sinemora.cli"]


def restore(product: Product) -> None:
    """Kill database and archiver under load, delete their disks, restore, and count the lost acknowledged windows."""
    world = product.world("restore", SENDERS)
    with tempfile.TemporaryDirectory(prefix="sinemora-bench-archive-") as name:
        place = Path(name)
        place.chmod(0o711)
        (place / "storage").mkdir(mode=0o700)
        storage = ObjectStorageServer(place / "storage")
        storage.start()
        try:
            record, killed_at, killed_s = _disaster(product, world, storage, place)
            env = _environment(product, storage)
            subprocess.run([*_COMMAND, "recover", "--storage", "--to", place / "restored"], env=env, check=True)
            restored = PostgresServer(place / "restored")
            restored.prepare()
            restored.start()
            try:
                _serve_from(product, restored)
                product.get(f"/v1/meshes/{world.mesh_id}/matrix")
                rto_s = time.monotonic() - killed_s
                _report(record, world, killed_at, rto_s)
            finally:
                dispose()
                product.stop()
                restored.stop()
        finally:
            storage.stop()


def _disaster(product: Product, world: World, storage: ObjectStorageServer, place: Path) -> tuple[Record, float, float]:
    """Archive under load, then end it all. Return the fate of the reports, and when: Unix time, monotonic, s."""
    line = [*_COMMAND, "archive", "--storage", "--spool", str(place / "spool")]
    archiver = subprocess.Popen(line, env=_environment(product, storage), start_new_session=True)
    try:
        _until(lambda: archive_state.read().age_s is not None and archive_state.read().base_age_s is not None, 120)
        fleet = Fleet(product.port, world).start()
        time.sleep(LOAD_S)
        comment(f"state of the archive before the disaster: {archive_state.read()}")
        killed_at, killed_s = time.time(), time.monotonic()
        os.kill(product.postmaster, signal.SIGKILL)
    finally:
        os.killpg(archiver.pid, signal.SIGKILL)
        archiver.wait()
    shutil.rmtree(product.postgres.cluster)
    shutil.rmtree(place / "spool")
    return fleet.stop(give_up=True), killed_at, killed_s


def _environment(product: Product, storage: ObjectStorageServer) -> dict[str, str]:
    return (
        os.environ
        | storage.settings()
        | {
            "PGHOST": str(product.postgres.socket_folder),
            "PGUSER": SUPERUSER,
            "PGDATABASE": DATABASE,
            "PATH": f"{product.postgres.programs}{os.pathsep}{os.environ['PATH']}",
        }
    )


def _serve_from(product: Product, restored: PostgresServer) -> None:
    os.environ |= addresses(restored)
    dispose()
    read_settings_again()
    product.restart()


def _report(record: Record, world: World, killed_at: float, rto_s: float) -> None:
    missing, acknowledged = lost(record, world), record.acknowledged
    # The age of the oldest acknowledged window that is lost, when the database died.
    rpo_s = max((killed_at - acknowledged[window] for window in missing), default=0.0)
    counted = {"acknowledged": len(acknowledged), "lost": len(missing)}
    comment(f"{len(acknowledged)} windows acknowledged, {len(missing)} of them lost, the oldest {rpo_s:.2f} s before")
    figures.report("scale_restore_rpo_s", max(rpo_s, 0.0), **counted)
    figures.report("scale_restore_rto_s", rto_s)


def _until(true: Callable[[], bool], limit_s: float) -> None:
    until_s = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > until_s:
            sys.exit(f"not within {limit_s:.0f} s")
        time.sleep(0.2)
