"""The one folder everything of an embedded product lives in: where it is, whose it is, who runs on it now.

.sinemora-data            marker: only a folder with it is ever deleted by us
postgres/ valkey/         the servers' files              run/     sockets, lock, state of the supervisor
engine/                   copy of the servers' binaries   logs/    one file per process
demo/NAME/                identity and spool of a demonstration agent
secret.key                what secrets of receivers are encrypted with
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

from sinemora.embedded.errors import TroubleError
from sinemora.embedded.service_user import ServiceUser
from sinemora.embedded.sockets import private_dir, short_socket_dirs
from sinemora.kit.config import Settings

MARKER = ".sinemora-data"
SYSTEM_FOLDER = Path("/var/lib/sinemora")


class RunningError(TroubleError):
    """A supervisor runs on the folder already."""


def checkout() -> Path | None:
    """Return the checkout this package runs from, if it does."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "Makefile").is_file() and (root / "backend").is_dir() else None


def locate(settings: Settings, user: ServiceUser) -> tuple[Path, str]:
    """Return the data folder, and a word on why it is there when that is not obvious.

    `.data` in the checkout, unless the service user cannot reach it (a checkout under a private home, started by
    root): then the system's folder. A folder set by hand is taken as it is, or refused with the reason.
    """
    if "data_dir" in settings.model_fields_set:
        path = settings.data_dir.expanduser().resolve()
        if not _reachable(path, user):
            raise TroubleError(
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
    # The folder itself is handed to the user; what counts is whether its parents let the user through.
    return user.can("-x", there.parent if there == path else there)


@dataclass(frozen=True)
class DataFolder:
    """A data folder and its conventions; nothing is created before `claim`."""

    path: Path

    def claim(self, user: ServiceUser) -> None:
        """Create the folder or recognise it as ours.

        Raises TroubleError when something else is in it, or when it cannot be written.
        """
        try:
            if self.path.is_dir() and not self.is_ours() and any(self.path.iterdir()):
                raise TroubleError(
                    f"{self.path} is not empty and not a data folder of Sinemora.",
                    "Choose an empty or new folder with SINEMORA_DATA_DIR.",
                )
            private_dir(self.path, user)
            if not self.is_ours():
                made = {"product": "sinemora", "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
                self.marker.write_text(json.dumps(made) + "\n")
            for name, mode in (("run", 0o711), ("logs", 0o755), ("engine", 0o755), ("demo", 0o700)):
                (self.path / name).mkdir(mode=mode, exist_ok=True)
        except OSError as error:
            raise TroubleError(
                f"The data folder {self.path} cannot be used: {error.strerror}.",
                "Make it writable for you, or choose another with SINEMORA_DATA_DIR.",
            ) from None

    @property
    def marker(self) -> Path:
        """The file that makes it ours."""
        return self.path / MARKER

    @property
    def logs(self) -> Path:
        """One file per process."""
        return self.path / "logs"

    def is_ours(self) -> bool:
        """Return whether the marker is there."""
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
                    time.sleep(0.1)  # `status` holds it for a moment to see whether it is free
            yield
        finally:
            os.close(handle)

    def running(self) -> dict[str, Any] | None:
        """Return the state the running supervisor last wrote; None when none runs."""
        try:
            handle = os.open(self.path / "run" / "supervisor.lock", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except PermissionError:
            raise TroubleError(
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
        """What the supervisor last wrote about itself; empty before its first word."""
        try:
            state: dict[str, Any] = json.loads((self.path / "run" / "supervisor.json").read_text())
        except (OSError, ValueError):
            return {}
        return state

    def write_state(self, state: dict[str, Any]) -> None:
        """Replace the state in one step, so that readers never see half of it."""
        target = self.path / "run" / "supervisor.json"
        fresh = target.with_suffix(".new")
        fresh.write_text(json.dumps(state, indent=1) + "\n")
        fresh.rename(target)

    def delete(self) -> None:
        """Delete the folder and all in it. Refused without the marker and while a supervisor runs."""
        if not self.is_ours():
            raise TroubleError(
                f"{self.path} has no {MARKER} in it, so it is not deleted.", "Delete it by hand if you mean it."
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
