"""Folders of Unix sockets: private, and with paths that are short enough."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers.service_user import ServiceUser

LONGEST_PATH_BYTES = 107  # sockaddr_un.sun_path on Linux, less its closing zero


def private_dir(path: Path, user: ServiceUser) -> Path:
    """Create `path` (0700, owned by `user`), or take it over if it belongs to this user already."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise EmbeddedError(f"{path} is not a folder.", "Move it away and start again.")
    if os.geteuid() == 0:
        if (status.st_uid, status.st_gid) != (user.uid, user.gid):
            os.chown(path, user.uid, user.gid)
    elif status.st_uid != user.uid:
        raise EmbeddedError(
            f"{path} belongs to another user (uid {status.st_uid}).",
            "Start as that user, or choose another folder with SINEMORA_DATA_DIR.",
        )
    path.chmod(0o700)
    return path


def socket_dir(data_dir: Path, name: str, longest_file: str, user: ServiceUser) -> Path:
    """Return a folder (0700) for sockets with names up to `longest_file`: in `data_dir`, or elsewhere if too long."""
    folder = data_dir / "run" / name
    if len(os.fsencode(folder / longest_file)) <= LONGEST_PATH_BYTES:
        (data_dir / "run").mkdir(mode=0o711, exist_ok=True)
        return private_dir(folder, user)
    short = _short(data_dir, name)
    if short.is_symlink() or (short.exists() and short.lstat().st_uid not in (user.uid, os.geteuid())):
        # Any user may have created it in a folder that all can write to.
        raise EmbeddedError(
            f"{short} belongs to another user, and {folder} is too long for a socket ({LONGEST_PATH_BYTES} bytes).",
            "Choose a data folder with a shorter path: SINEMORA_DATA_DIR=…",
        )
    return private_dir(short, user)


def short_socket_dirs(data_dir: Path) -> list[Path]:
    """Return the folders outside `data_dir` that `socket_dir` created for it."""
    return [path for path in _short(data_dir, "*").parent.glob(_short(data_dir, "*").name) if path.is_dir()]


def _short(data_dir: Path, name: str) -> Path:
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:10]
    return _runtime_root() / f"sinemora-{os.geteuid()}-{digest}-{name}"


def _runtime_root() -> Path:
    if os.geteuid() == 0 and Path("/run").is_dir():
        return Path("/run")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK) and len(runtime) < 50:
        return Path(runtime)
    return Path(tempfile.gettempdir()) if len(tempfile.gettempdir()) < 50 else Path("/tmp")
