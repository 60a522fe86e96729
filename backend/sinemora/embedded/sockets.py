"""Unix sockets: private folders, short enough paths, and who may use them."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from sinemora.embedded.errors import TroubleError
from sinemora.embedded.service_user import ServiceUser

LONGEST_PATH_BYTES = 107  # sockaddr_un.sun_path on Linux, less its closing zero


def private_dir(path: Path, user: ServiceUser) -> Path:
    """Create `path` (0700, owned by `user`), or take it over when it is ours already."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise TroubleError(f"{path} is not a folder.", "Move it away and start again.")
    if os.geteuid() == 0:
        if (found.st_uid, found.st_gid) != (user.uid, user.gid):
            os.chown(path, user.uid, user.gid)
    elif found.st_uid != user.uid:
        raise TroubleError(
            f"{path} belongs to another user (uid {found.st_uid}).",
            "Start as that user, or choose another folder with SINEMORA_DATA_DIR.",
        )
    path.chmod(0o700)
    return path


def socket_dir(data_dir: Path, name: str, longest_file: str, user: ServiceUser) -> Path:
    """Return a 0700 folder for sockets named at most `longest_file`: in `data_dir`, or a short path if that is too
    long.
    """
    wanted = data_dir / "run" / name
    if len(os.fsencode(wanted / longest_file)) <= LONGEST_PATH_BYTES:
        (data_dir / "run").mkdir(mode=0o711, exist_ok=True)
        return private_dir(wanted, user)
    short = _short(data_dir, name)
    if short.is_symlink() or (short.exists() and short.lstat().st_uid not in (user.uid, os.geteuid())):
        # In a folder anyone can write to, somebody else may have been there first.
        raise TroubleError(
            f"{short} belongs to somebody else, and {wanted} is too long for a socket ({LONGEST_PATH_BYTES} bytes).",
            "Choose a data folder with a shorter path: SINEMORA_DATA_DIR=…",
        )
    return private_dir(short, user)


def short_socket_dirs(data_dir: Path) -> list[Path]:
    """Return the folders outside `data_dir` that `socket_dir` made for it, if any."""
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
