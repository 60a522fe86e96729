"""Operating-system user of the product's processes.

PostgreSQL refuses to run as root, and no server should. Started by root, all processes run as a dedicated unprivileged
user; started by another user, they run as that user.
"""

import fcntl
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sinemora.operations.embedded.errors import EmbeddedError

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
        return caller()
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


def caller() -> ServiceUser:
    """Return the user of this process."""
    return _of(pwd.getpwuid(os.geteuid()))


def product_user(user: ServiceUser, port: int) -> tuple[ServiceUser, str]:
    """Return the user of the API, the workers and the agents: `user` if possible, else the caller and the reason.

    PostgreSQL's programs are copied to where its user can read them. Python, the backend and the agent are not.
    """
    if user.is_caller:
        return user, ""
    if port < _first_free_port():
        return caller(), f"no other user may listen on port {port}"
    for path in (Path(sys.executable), Path(sys.executable).resolve(), Path(os.__file__), Path(__file__), Path.cwd()):
        if not user.can("-r", path):
            return caller(), f"{_closed(path, user)} is closed to the user {user.name}"
    return user, ""


def _first_free_port() -> int:
    try:
        return int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    except (OSError, ValueError):
        return 1024


def _closed(path: Path, user: ServiceUser) -> Path:
    """Return the first folder on the way to `path` that `user` cannot enter; `path` itself without one."""
    return next((folder for folder in reversed(path.parents) if not user.can("-x", folder)), path)


def hand_over(folder: Path, user: ServiceUser) -> None:
    """Give `folder` and all in it to `user`: an earlier start may have created it as root. Links are not followed."""
    if os.geteuid() != 0:
        return
    os.chown(folder, user.uid, user.gid, follow_symlinks=False)
    # By open folders, not by paths: the user may put a link into a path while this runs.
    for _, folders, files, parent in os.fwalk(folder):
        for name in (*folders, *files):
            os.chown(name, user.uid, user.gid, dir_fd=parent, follow_symlinks=False)


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
