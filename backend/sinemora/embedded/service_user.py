"""The operating-system user the embedded servers run as.

PostgreSQL refuses to run as root, and nothing that listens should: started by root, the servers run as a dedicated
unprivileged user; started by anyone else, as that user.
"""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sinemora.embedded.errors import TroubleError

DEFAULT_NAME = "sinemora"


@dataclass(frozen=True)
class ServiceUser:
    """Who owns the servers' files and processes; `warning` is set when it is not the user asked for."""

    name: str
    uid: int
    gid: int
    warning: str | None = None

    @property
    def is_caller(self) -> bool:
        """True when no change of user is needed."""
        return self.uid == os.geteuid()

    def popen_identity(self) -> dict[str, object]:
        """Keyword arguments for `subprocess` that make the child run as this user."""
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
    """Return the user the servers run as, creating the system user `name` when root asks and it is missing.

    Raises TroubleError when root has no unprivileged user to drop to.
    """
    if os.geteuid() != 0:
        return _of(pwd.getpwuid(os.geteuid()))
    name = name or DEFAULT_NAME
    try:
        found = _of(pwd.getpwnam(name))
    except KeyError:
        found = _create(name)
    if found.uid == 0:
        raise TroubleError(
            f"The service user {name!r} is root, and PostgreSQL refuses to run as root.",
            "Set SINEMORA_SERVICE_USER to an unprivileged user, or leave it out.",
        )
    return found


def _of(entry: pwd.struct_passwd, warning: str | None = None) -> ServiceUser:
    return ServiceUser(entry.pw_name, entry.pw_uid, entry.pw_gid, warning)


def _create(name: str) -> ServiceUser:
    useradd = shutil.which("useradd") or shutil.which("useradd", path="/usr/sbin:/sbin")
    if useradd:
        # No --user-group flag juggling: --system gives an unprivileged id, no home, no login.
        done = subprocess.run(
            [useradd, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", name],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode in (0, 9):  # 9: somebody else created it meanwhile
            return _of(pwd.getpwnam(name))
        reason = done.stderr.strip() or f"useradd ended with {done.returncode}"
    else:
        reason = "useradd is not installed"
    try:
        return _of(pwd.getpwnam("nobody"), f"The system user {name!r} could not be created ({reason}): using nobody.")
    except KeyError:
        raise TroubleError(
            f"There is no unprivileged user for the database: {reason}.",
            f"Create one (useradd --system {name}), or run as a normal user.",
        ) from None
