"""Replacement of API, gateway, workers and beat of the running product by new starts of their programs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.own_gateway import serves
from sinemora.operations.embedded.services import answers

SCHEMA = "schema"
TEMPLATE = "template"
GATEWAY = "gateway"
WORKERS = ("watcher", "notifier", "worker", "mover", "solver", "beat")
_API_LIMIT_S = 120.0
_TASK_LIMIT_S = 600.0
_PAUSE_S = 0.05


def replace(
    folder: DataFolder, api: str, env: Mapping[str, str], report: Callable[[str, float], None]
) -> dict[str, float]:
    """Migrate the schema, then replace the programs one after the other; return the seconds each step took.

    `api` is the URL of the API, `env` the environment of the migration. The template comes first: what dies meanwhile
    is of the new version. API and gateway keep process and listening socket, so that no connection is refused. A worker
    finishes its task first. A supervisor of an earlier version keeps its own list of workers until it is started again.
    Raises EmbeddedError when a program does not come back, and before anything is replaced when the schema cannot be
    migrated.
    """
    taken = {}
    running = folder.read_state().get("processes", {})
    for name in (SCHEMA, *(name for name in (TEMPLATE, "api", GATEWAY, *WORKERS) if name in running)):
        started = time.monotonic()
        if name == SCHEMA:
            _migrate(env)
        elif name == "api":
            _start_again(folder, name, lambda: answers(f"{api}/readyz"))
        elif name == GATEWAY:
            _start_again(folder, name, lambda: _gateway_answers(folder))
        else:
            _replace_worker(folder, name)
        taken[name] = round(time.monotonic() - started, 1)
        report(name, taken[name])
    return taken


def _migrate(env: Mapping[str, str]) -> None:
    """Bring the schema to the version of the programs that are about to start; nothing where it has that version.

    Programs of the version before serve meanwhile: a migration keeps what they use.
    """
    done = subprocess.run([sys.executable, "-m", "sinemora.migrate"], env=env, capture_output=True, text=True)
    if done.returncode != 0:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-12:])
        raise EmbeddedError(
            f"Migrating the database failed; nothing was replaced:\n{tail}",
            "The running programs continue with the schema that they know.",
        )


def program_of(pid: int) -> str:
    """Return what identifies the program that a process runs: the end of its stack, which each program gets again.

    Forks share it with their template. Empty when the process has ended.
    """
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return next((line.split()[0].partition("-")[2] for line in lines if line.endswith("[stack]")), "")


def _start_again(folder: DataFolder, name: str, ready: Callable[[], bool]) -> None:
    pid = _pid(folder, name)
    before = program_of(pid)
    _send(pid, signal.SIGHUP)
    _until(
        lambda: (
            program_of(_pid(folder, name)) not in (before, "") and _state(folder, name)["state"] == "up" and ready()
        ),
        _API_LIMIT_S,
        f"The {name} does not answer after its replacement.",
    )


def _gateway_answers(folder: DataFolder) -> bool:
    try:
        words = Path(f"/proc/{_pid(folder, GATEWAY)}/cmdline").read_text().split("\0")
        host, _, port = words[words.index("--listen") + 1].rpartition(":")
    except (OSError, ValueError):
        return False  # it is being started
    return serves("::1" if "[" in host else "127.0.0.1", int(port), folder.path / "gateway" / "certificate.pem")


def _replace_worker(folder: DataFolder, name: str) -> None:
    pid = _pid(folder, name)
    _send(pid, signal.SIGTERM)
    _until(
        lambda: _state(folder, name)["state"] == "up" and _pid(folder, name) != pid,
        _TASK_LIMIT_S,
        f"The {name} still finishes its task; it is replaced when that has ended.",
    )


def _state(folder: DataFolder, name: str) -> dict[str, object]:
    state: dict[str, object] = folder.read_state().get("processes", {}).get(name, {})
    return {"pid": None, "state": ""} | state


def _pid(folder: DataFolder, name: str) -> int:
    pid = _state(folder, name)["pid"]
    return pid if isinstance(pid, int) else 0


def _send(pid: int, number: signal.Signals) -> None:
    if not pid:
        return  # it is about to be started
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return  # likewise
    except PermissionError:
        raise EmbeddedError(
            f"Process {pid} belongs to another user.", "Run this as the user who ran `make up`."
        ) from None


def _until(true: Callable[[], bool], limit_s: float, otherwise: str) -> None:
    until_s = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > until_s:
            raise EmbeddedError(otherwise, "See `make status` and `make logs`.")
        time.sleep(_PAUSE_S)
