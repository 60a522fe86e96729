"""Places, versions, environment and failures that all scripts of the toolchain share."""

import configparser
import json
import os
import re
import shutil
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".tools"
LOGS = TOOLS / "logs"
BIN = TOOLS / "bin"  # programs of Debian packages that were brought without root
VERSIONS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "versions.toml").read_text("utf-8"))
LOCK = Path(__file__).parent / "requirements.lock"
_PATHS = TOOLS / "paths.json"
_paths_lock = threading.Lock()


class StepFailedError(Exception):
    """A failure of a step: `what` happened, `advice` on what to do, `log` with the details."""

    def __init__(self, what: str, advice: str, log: Path | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice
        self.log = log


def version_of(text: str) -> tuple[int, ...]:
    """Return the first dotted number in `text` as a tuple to compare; empty when there is none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def new_enough(text: str, tool: str) -> bool:
    """Return True when the version printed in `text` is at least the minimum of `tool`."""
    return version_of(text) >= version_of(VERSIONS[tool]["minimum"])


def remember(**paths: Path) -> None:
    """Note where tools are, for commands that run later."""
    with _paths_lock:
        known = remembered() | {name: str(path) for name, path in paths.items()}
        TOOLS.mkdir(exist_ok=True)
        new = _PATHS.with_suffix(".new")
        new.write_text(json.dumps(known, indent=2) + "\n", "utf-8")
        new.rename(_PATHS)


def remembered() -> dict[str, str]:
    """Return where tools were last time: name to path, only those that still exist."""
    try:
        known: dict[str, str] = json.loads(_PATHS.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: path for name, path in known.items() if Path(path).exists()}


def environment() -> dict[str, str]:
    """Return the caller's environment with the toolchain in front of PATH."""
    known = remembered()
    front = [str(TOOLS / "node" / "bin"), str(ROOT / "backend" / ".venv" / "bin"), str(BIN)]
    front += [str(Path(known[name]).parent) for name in ("cargo", "uv") if name in known]
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([*front, env.get("PATH", os.defpath)])
    # Whom the machine trusts, its package clients trust: a company's mirror often has a certificate of its own.
    env.setdefault("UV_SYSTEM_CERTS", "1")
    env.setdefault("NODE_USE_SYSTEM_CA", "1")
    env |= {"UV_PYTHON_DOWNLOADS": "never", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}
    env |= {"npm_config_fund": "false", "npm_config_audit": "false", "npm_config_update_notifier": "false"}
    # Compiled modules are kept among the tools, even where the machine keeps none: each start is seconds shorter.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env.setdefault("PYTHONPYCACHEPREFIX", str(TOOLS / "pycache"))
    if "chromium" in known:
        env.setdefault("SINEMORA_CHROMIUM", known["chromium"])
    if not os.access(Path.home(), os.W_OK):
        for name, value in _caches_of_own().items():
            env.setdefault(name, value)
    return env


def follow_pip() -> None:
    """Let uv use the package indexes that pip is set up for, by file or variable: it reads none of pip's settings.

    A setting of uv's own stays. The files are read here, since a Python of Debian has no pip (pip's documentation,
    "Configuration": later ones hide earlier ones).
    """
    home = Path.home()
    own = Path(os.environ.get("XDG_CONFIG_HOME", home / ".config"))
    given = os.environ.get("PIP_CONFIG_FILE")
    files = [Path("/etc/pip.conf"), home / ".pip" / "pip.conf", own / "pip" / "pip.conf", Path(sys.prefix) / "pip.conf"]
    found = configparser.RawConfigParser(strict=False)
    try:
        found.read([*files, given] if given else files, "utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        sys.exit(f"The settings of pip cannot be read: {error}\nWhat to do: mend that file, or delete it.")
    names = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "trusted-host": "UV_INSECURE_HOST"}
    for name, of_uv in names.items():
        variable = os.environ.get(f"PIP_{name.upper().replace('-', '_')}")
        of_pip = variable or found.get("install", name, fallback="") or found.get("global", name, fallback="")
        if of_pip:
            os.environ.setdefault(of_uv, " ".join(of_pip.split()))


def use_own_programs() -> None:
    """Let this process find the programs in `.tools/bin` before the machine's."""
    os.environ["PATH"] = os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])


def _caches_of_own() -> dict[str, str]:
    """Return the settings that keep the caches of package clients in `.tools`, for a home that is read-only."""
    home = TOOLS / "home"
    cargo = home / "cargo"
    cargo.mkdir(parents=True, exist_ok=True)
    for name in ("config.toml", "config"):
        given = Path.home() / ".cargo" / name
        if given.is_file() and not (cargo / name).exists():
            shutil.copyfile(given, cargo / name)
    folders = {"UV_CACHE_DIR": "uv", "npm_config_cache": "npm", "GOPATH": "go", "GOCACHE": "go-build"}
    found = {name: str(home / folder) for name, folder in folders.items()}
    return found | {"CARGO_HOME": str(cargo), "XDG_CACHE_HOME": str(home / "cache")}
