"""Faults of a product as contexts. Each yields a check whether it still lasts: what the supervisor killed has ended."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import psycopg

from lab.embedded_product import EmbeddedProduct
from sinemora.operations.embedded.programs import children_of
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SUPERUSER, PostgresServer

Lasts = Callable[[], bool]
_SLOW_S, _FAST_S = 0.9, 0.1
_DISK_BYTES, _INODES = 3 << 30, 30_000
_CLONE_NEWNS = 0x20000


def pids(product: EmbeddedProduct, *names: str) -> list[int]:
    """Return the processes of programs: their own and all their descendants."""
    found = [int(product.child(name)["pid"]) for name in names]
    for pid in found:  # grows meanwhile
        found += children_of(pid)
    return found


@contextmanager
def killed(product: EmbeddedProduct, *names: str) -> Iterator[Lasts]:
    """Kill all processes of programs."""
    for pid in pids(product, *names):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    yield lambda: False


@contextmanager
def replaced(product: EmbeddedProduct) -> Iterator[Lasts]:
    """Replace API, workers and beat, as an upgrade does."""
    product.do("replace")
    yield lambda: False


def stopped(product: EmbeddedProduct, *names: str) -> AbstractContextManager[Lasts]:
    """Stop all processes of programs (SIGSTOP); those that still exist continue afterwards."""
    return _stopped(pids(product, *names))


@contextmanager
def _stopped(found: list[int]) -> Iterator[Lasts]:
    processes = [psutil.Process(pid) for pid in found if psutil.pid_exists(pid)]
    try:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        yield lambda: any(process.is_running() for process in processes)
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


@contextmanager
def slowed(product: EmbeddedProduct, *names: str) -> Iterator[Lasts]:
    """Let all processes of programs run a tenth of the time, in turns of a second."""
    ended = threading.Event()

    def take_turns() -> None:
        while not ended.wait(_FAST_S):
            with suppress(KeyError, TypeError, psutil.NoSuchProcess), _stopped(pids(product, *names)):
                ended.wait(_SLOW_S)

    thread = threading.Thread(target=take_turns)
    thread.start()
    try:
        yield lambda: True
    finally:
        ended.set()
        thread.join()


@contextmanager
def session(product: EmbeddedProduct, role: str = OWNER_ROLE) -> Iterator[psycopg.Connection]:
    """Open a session of the embedded database, ended afterwards even by a server that does not answer."""
    connection = psycopg.connect(PostgresServer(product.folder.path).dsn(role), autocommit=True)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def locked(product: EmbeddedProduct, table: str) -> Iterator[Lasts]:
    """Lock a table against all use."""
    with session(product) as connection:
        connection.execute("BEGIN")
        connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield lambda: True


@contextmanager
def connections_used(product: EmbeddedProduct) -> Iterator[Lasts]:
    """Use all connections that the database has left, and end those of the product, which wants them back."""
    with ExitStack() as open_ones:
        own = open_ones.enter_context(session(product, SUPERUSER))
        with suppress(psycopg.OperationalError):
            while True:
                open_ones.enter_context(session(product))
        own.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'sinemora_app'")
        until_s = time.monotonic() + 2
        while time.monotonic() < until_s:
            with suppress(psycopg.OperationalError):
                open_ones.enter_context(session(product))
        yield lambda: True


def _backends(product: EmbeddedProduct) -> list[int]:
    """Return the server processes of the database that work for tenants."""
    query = "SELECT pid FROM pg_stat_activity WHERE usename = 'sinemora_app' ORDER BY state_change DESC"
    with session(product, SUPERUSER) as connection:
        return [int(pid) for (pid,) in connection.execute(query)]


@contextmanager
def backend_killed(product: EmbeddedProduct) -> Iterator[Lasts]:
    """Kill a server process of the database: PostgreSQL ends all sessions and recovers."""
    os.kill(_backends(product)[0], signal.SIGKILL)
    yield lambda: False


def backends_stopped(product: EmbeddedProduct) -> AbstractContextManager[Lasts]:
    """Stop the present server processes that work for tenants; all others work, and new ones do."""
    return _stopped(_backends(product))


@contextmanager
def busy(processes: int) -> Iterator[Lasts]:
    """Keep the machine busy with this many loops."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield lambda: True
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Disk:
    """Small file system of which a data folder is the only content, at `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def full(self) -> Iterator[Lasts]:
        """Fill it to the last block."""
        ballast = self.folder / "ballast"
        with ballast.open("wb") as file:
            try:
                with suppress(OSError):
                    for size in (1 << 26, 1 << 20, 1 << 12):
                        with suppress(OSError):
                            while True:
                                file.write(b"x" * size)
                                file.flush()
                yield lambda: True
            finally:
                os.truncate(ballast, 0)
        ballast.unlink()

    @contextmanager
    def without_inodes(self) -> Iterator[Lasts]:
        """Create files until none can be created."""
        with TemporaryDirectory(dir=self.folder) as many:
            with suppress(OSError):
                for number in range(_INODES):
                    (Path(many) / str(number)).touch()
            yield lambda: True

    @contextmanager
    def unchangeable(self) -> Iterator[Lasts]:
        """Let nobody, root included, create or delete a file in any of its folders (chattr +i)."""
        folders = [str(path) for path in (self.folder, *self.folder.rglob("*")) if path.is_dir()]
        try:
            subprocess.run(["chattr", "+i", *folders], check=True)
            yield lambda: True
        finally:
            subprocess.run(["chattr", "-i", *folders], check=True)

    @contextmanager
    def hanging(self) -> Iterator[Lasts]:
        """Let everything wait that writes to it (fsfreeze)."""
        subprocess.run(["fsfreeze", "--freeze", self.folder], check=True)
        try:
            yield lambda: True
        finally:
            subprocess.run(["fsfreeze", "--unfreeze", self.folder], check=True)


@contextmanager
def small_disk() -> Iterator[Disk | None]:
    """Mount a file system that only this process and its children see; None where the machine does not allow it."""
    with TemporaryDirectory(prefix="sinemora-disk-") as place:
        image, folder = Path(place) / "image", Path(place) / "disk"
        folder.mkdir()
        Path(place).chmod(0o755)
        with image.open("wb") as file:
            file.truncate(_DISK_BYTES)
        made: list[str | Path] = ["mkfs.ext4", "-q", "-m", "0", "-N", str(_INODES), image]
        try:
            if ctypes.CDLL(None).unshare(_CLONE_NEWNS):
                raise OSError("no mount namespace")
            subprocess.run(made, check=True, capture_output=True)
            subprocess.run(["mount", "--make-rprivate", "/"], check=True, capture_output=True)
            subprocess.run(["mount", "-o", "loop", image, folder], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            yield None
            return
        try:
            yield Disk(folder)
        finally:
            subprocess.run(["umount", folder], check=False)
