"""Operating-system user of the embedded servers.

PostgreSQL refuses to run as root, and no server should. Started by root, the servers run as a dedicated unprivileged
user; started by another user, they run as that user.
"""

import fcntl
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sinemora.embedded.errors import EmbeddedError

DEFAULT_NAME = "sinemora"


@dataclass(frozen=True)
class ServiceUser:
    """Owner of the servers' files and processes; `warning` is set when it is not the requested user."""

    name: str
    uid: int
    gid: int
    warning: str | None = None

    @property
    def is_caller(self) -> bool:
        """Return whether no change of user is needed."""
        return self.uid == os.geteuid()

    def popen_identity(self) -> dict[str, object]:
        """Return the keyword arguments of `subprocess` that run a child as this user."""
        return {} if self.is_caller else {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can(self, flag: str, path: Path) -> bool:
        """Return whether this user passes `test FLAG PATH` (`-x`, `-r`, `-w`), parents included."""
        done = subprocess.run(
            ["/usr/bin/test", flag, str(path)] if Path("/usr/bin/test").exists() else ["test", flag, str(path)],
            cwd="/",
            check=False,
            **self.popen_identity(),  # type: ignore[call-overload]
        )
        return bool(done.returncode == 0)


def service_user(name: str | None = None) -> ServiceUser:
    """Return the user of the servers. Root creates the system user `name` if it is missing.

    Raises EmbeddedError when root finds no unprivileged user.
    """
    if os.geteuid() != 0:
        return _of(pwd.getpwuid(os.geteuid()))
    name = name or DEFAULT_NAME
    try:
        user = _of(pwd.getpwnam(name))
    except KeyError:
        user = _create(name)
    if user.uid == 0:
        raise EmbeddedError(
            f"The service user {name!r} is root, and PostgreSQL refuses to run as root.",
            "Set SINEMORA_SERVICE_USER to an unprivileged user, or leave it out.",
        )
    return user


def _of(entry: pwd.struct_passwd, warning: str | None = None) -> ServiceUser:
    return ServiceUser(entry.pw_name, entry.pw_uid, entry.pw_gid, warning)


@contextmanager
def _alone() -> Iterator[None]:
    """Hold off other processes: of two `useradd` at once the second replaces the user of the first."""
    folder = os.open("/etc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _create(name: str) -> ServiceUser:
    with _alone():
        try:
            return _of(pwd.getpwnam(name))  # another process created it meanwhile
        except KeyError:
            return _add(name)


def _add(name: str) -> ServiceUser:
    useradd = shutil.which("useradd") or shutil.which("useradd", path="/usr/sbin:/sbin")
    if useradd:
        # --system gives an unprivileged id, no home and no login.
        done = subprocess.run(
            [useradd, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", name],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode in (0, 9):  # 9: it exists by now
            return _of(pwd.getpwnam(name))
        reason = done.stderr.strip() or f"useradd ended with {done.returncode}"
    else:
        reason = "useradd is not installed"
    try:
        return _of(pwd.getpwnam("nobody"), f"The system user {name!r} could not be created ({reason}): using nobody.")
    except KeyError:
        raise EmbeddedError(
            f"There is no unprivileged user for the database: {reason}.",
            f"Create one (useradd --system {name}), or run as a normal user.",
        ) from None
