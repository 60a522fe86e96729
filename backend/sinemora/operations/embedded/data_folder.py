"""Data folder of an embedded product: its location, owner, lock and state.

.sinemora-data            marker: only a folder with it is ever deleted
postgres/ valkey/         files of the servers            run/     sockets, lock, state of the supervisor
engine/                   copy of the servers' binaries   logs/    one file per process
demo/NAME/                identity and spool of a demonstration agent
secret.key                key that encrypts secrets of receivers
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sinemora.kit.folder_settings import FolderSettings
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers.service_user import ServiceUser
from sinemora.operations.embedded.servers.sockets import private_dir, short_socket_dirs

MARKER = ".sinemora-data"
SYSTEM_FOLDER = Path("/var/lib/sinemora")


class RunningError(EmbeddedError):
    """Error: a supervisor runs on the folder already."""


def checkout() -> Path | None:
    """Return the checkout that this package runs from, if any."""
    root = Path(__file__).resolve().parents[4]
    return root if (root / "Makefile").is_file() and (root / "backend").is_dir() else None


def locate(settings: FolderSettings, user: ServiceUser) -> tuple[Path, str]:
    """Return the data folder, and the reason for its place if it is not the default.

    `.data` in the checkout, unless the service user cannot reach it (a checkout under a private home, started by
    root): then the system's folder. A folder of the settings is used unchanged, or refused with the reason.
    """
    if "data_dir" in settings.model_fields_set:
        path = settings.data_dir.expanduser().resolve()
        if not _reachable(path, user):
            raise EmbeddedError(
                f"{path} cannot be reached by the user {user.name}, who runs the database: a parent is closed to it.",
                "Choose a folder outside private homes with SINEMORA_DATA_DIR.",
            )
        return path, ""
    path = (checkout() or Path.cwd()) / ".data"
    if _reachable(path, user):
        return path, ""
    return SYSTEM_FOLDER, f"{path.parent} is closed to the user {user.name}, who runs the database"


def _reachable(path: Path, user: ServiceUser) -> bool:
    """Return whether `user` can pass through the nearest existing folder of `path`."""
    if user.is_caller:
        return True
    there = next(folder for folder in (path, *path.parents) if folder.exists())
    # The folder itself will belong to the user; only its parents matter.
    return user.can("-x", there.parent if there == path else there)


@dataclass(frozen=True)
class DataFolder:
    """Data folder and its layout; nothing is created before `claim`."""

    path: Path

    def claim(self, user: ServiceUser) -> None:
        """Create the folder, or take over an existing data folder.

        Raises EmbeddedError when it has other content, or is not writable.
        """
        try:
            if self.path.is_dir() and not self.is_ours() and any(self.path.iterdir()):
                raise EmbeddedError(
                    f"{self.path} is not empty and not a data folder of Sinemora.",
                    "Choose an empty or new folder with SINEMORA_DATA_DIR.",
                )
            private_dir(self.path, user)
            if not self.is_ours():
                marker = {"product": "sinemora", "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
                self.marker.write_text(json.dumps(marker) + "\n")
            for name, mode in (("run", 0o711), ("logs", 0o755), ("engine", 0o755), ("demo", 0o700)):
                (self.path / name).mkdir(mode=mode, exist_ok=True)
        except OSError as error:
            raise EmbeddedError(
                f"The data folder {self.path} cannot be used: {error.strerror}.",
                "Make it writable for you, or choose another with SINEMORA_DATA_DIR.",
            ) from None

    @property
    def marker(self) -> Path:
        return self.path / MARKER

    @property
    def logs(self) -> Path:
        """Return the folder of logs, one file per process."""
        return self.path / "logs"

    def is_ours(self) -> bool:
        """Return whether the folder has the marker."""
        return self.marker.is_file()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder's lock; raises RunningError when a supervisor holds it."""
        handle = os.open(self.path / "run" / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            for attempt in range(5):
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if attempt == 4:
                        raise self._running() from None
                    time.sleep(0.1)  # `status` takes it for a moment to see whether it is free
            yield
        finally:
            os.close(handle)

    def running(self) -> dict[str, Any] | None:
        """Return the last state of the running supervisor; None when none runs."""
        try:
            handle = os.open(self.path / "run" / "supervisor.lock", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except PermissionError:
            raise EmbeddedError(
                f"{self.path} belongs to another user.", "Run this as the user who ran `make up`."
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except BlockingIOError:
            return self.read_state()
        finally:
            os.close(handle)

    def read_state(self) -> dict[str, Any]:
        """Return the last state that the supervisor wrote; empty before the first."""
        try:
            state: dict[str, Any] = json.loads((self.path / "run" / "supervisor.json").read_text())
        except (OSError, ValueError):
            return {}
        return state

    def write_state(self, state: dict[str, Any]) -> None:
        """Replace the state atomically."""
        target = self.path / "run" / "supervisor.json"
        fresh = target.with_suffix(".new")
        fresh.write_text(json.dumps(state, indent=1) + "\n")
        fresh.rename(target)

    def delete(self) -> None:
        """Delete the folder and its content. Refused without the marker and while a supervisor runs."""
        if not self.is_ours():
            raise EmbeddedError(
                f"{self.path} has no {MARKER} in it, so it is not deleted.",
                "Delete it yourself if it is the right folder.",
            )
        if self.running() is not None:
            raise self._running()
        shorts = short_socket_dirs(self.path)
        marker_last = sorted(self.path.iterdir(), key=lambda entry: entry.name == MARKER)
        for entry in marker_last:  # an interrupted deletion leaves a folder that can be deleted again
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        with suppress(OSError):  # a mount point stays
            self.path.rmdir()
        for folder in shorts:
            shutil.rmtree(folder, ignore_errors=True)

    def _running(self) -> RunningError:
        state = self.read_state()
        return RunningError(
            f"Sinemora runs already: {state.get('address', 'starting')} (process {state.get('pid', 'unknown')}, "
            f"data in {self.path}).",
            "Stop it with `make down`, or run a second one with its own SINEMORA_DATA_DIR and SINEMORA_PORT.",
        )
