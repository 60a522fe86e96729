"""The commands `sinemora archive`, `recover` and `drill`."""

import json
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

from sqlalchemy.exc import SQLAlchemyError
from typer import Exit, Option, Typer

from sinemora.kit import archive_state
from sinemora.kit.commands import reported, say
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.kit.object_storage import StorageError, installation_storage
from sinemora.operations.recovery import drill as drills
from sinemora.operations.recovery import restore as restores
from sinemora.operations.recovery.archive import Archive
from sinemora.operations.recovery.errors import RecoveryError
from sinemora.operations.recovery.keeping import Keeper
from sinemora.operations.recovery.stored import StoredArchive
from sinemora_client.commands import ResultAsJson, moment_of, print_json

app = Typer(rich_markup_mode=None)
_RECORD = "drills.jsonl"
_ERRORS = (RecoveryError, StorageError, OSError)


class _Recorder:
    """Observer of a `Keeper` that records each pass, where the settings name the product's database."""

    def __init__(self) -> None:
        self._is_silent = False

    def passed(self, archived_to: datetime | None, base_taken_at: datetime | None) -> None:
        """Record a pass that succeeded."""
        self._record(lambda: archive_state.record_pass(archived_to, base_taken_at))

    def failed(self, error: str) -> None:
        """Record a pass that failed."""
        self._record(lambda: archive_state.record_failure(error))

    def _record(self, write: Callable[[], None]) -> None:
        if not settings().database_system_url:
            return
        try:
            write()
        except (SQLAlchemyError, ProductError) as error:
            if not self._is_silent:
                reason = str(error).strip().partition("\n")[0]
                say(f"The state of the archive cannot be recorded; archiving continues. {reason}")
            self._is_silent = True
        else:
            self._is_silent = False


def _stored(spool: Path | None = None) -> StoredArchive:
    folder = spool or settings().data_dir / "archive"
    return StoredArchive(installation_storage(), settings().storage_prefix, folder, settings().archive_upload_s)


def _one_of(first: str, is_given: bool, storage: bool) -> None:
    """Refuse both places of an archive, and neither."""
    if is_given == storage:
        raise RecoveryError(f"Name the archive: either {first} FOLDER or --storage.")


def _existing(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


_STORAGE = Option("--storage", help="The archive in the object storage of the settings (SINEMORA_STORAGE_…).")
_UNTIL = Annotated[
    datetime | None,
    Option(
        parser=moment_of, metavar="TIME", help="Stop at this time, as 2026-11-26T02:00:00Z.", show_default="the end"
    ),
]


@app.command()
@reported(*_ERRORS)
def archive(
    to: Annotated[
        Path | None, Option(help="Folder of the archive, on another disk or machine than the database.")
    ] = None,
    storage: Annotated[bool, _STORAGE] = False,
    spool: Annotated[
        Path | None, Option(help="Folder for what waits for the storage.", show_default="archive in the data folder")
    ] = None,
    base_every_hours: Annotated[
        float | None, Option(help="Hours between base backups.", min=0.01, show_default="SINEMORA_ARCHIVE_BASE_HOURS")
    ] = None,
    keep_days: Annotated[
        float | None, Option(help="Days that can be restored.", min=0, show_default="SINEMORA_ARCHIVE_KEEP_DAYS")
    ] = None,
) -> None:
    """Archive WAL as it is written, and base backups, until Ctrl-C."""
    _one_of("--to", to is not None, storage)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    every = settings().archive_base_hours if base_every_hours is None else base_every_hours
    keep = settings().archive_keep_days if keep_days is None else keep_days
    kept = Archive(to) if to else _stored(spool)
    Keeper(kept, timedelta(hours=every), timedelta(days=keep), say, _Recorder()).run(stopped.wait)


@app.command()
@reported(*_ERRORS)
def recover(
    to: Annotated[Path, Option(help="New folder; the cluster is in its folder postgres.")],
    source: Annotated[Path | None, Option("--from", help="Folder of the archive.")] = None,
    storage: Annotated[bool, _STORAGE] = False,
    until: _UNTIL = None,
    as_json: ResultAsJson = False,
) -> None:
    """Restore an archive into a new cluster and stop it, ready to be put in place."""
    _one_of("--from", source is not None, storage)
    kept, target = Archive(source) if source else _stored(), to.resolve()
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sinemora-recover-", dir=_existing(target.parent)) as name:
        local = kept.download(Path(name) / "archive", until) if isinstance(kept, StoredArchive) else kept
        download_s = time.monotonic() - began_s
        restored = restores.restore(local, target, until)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is restored, and the server would stay
    restored.stop()
    newest = restored.recovered_to or restored.base.taken_at
    if as_json:
        print_json(
            {
                "folder": to.resolve() / "postgres",
                "recovered_to": newest.isoformat(),
                "base_taken_at": restored.base.taken_at.isoformat(),
                "download_s": round(download_s, 3),
                "restore_s": round(restored.restore_s, 3),
                "replay_s": round(restored.replay_s, 3),
            }
        )
    say(
        f"Restored to {newest:%Y-%m-%d %H:%M:%S} UTC in {time.monotonic() - began_s:.1f} s:"
        f" {to.resolve() / 'postgres'}. Stop the product and put this folder in the place of the old one."
    )


@app.command()
@reported(*_ERRORS)
def drill(
    seconds: Annotated[float, Option(help="Seconds of archiving before the disaster.", min=1)] = 30,
    archive: Annotated[
        Path | None,
        Option(help="Archive that `sinemora archive` keeps up.", show_default="one that is written for the drill"),
    ] = None,
    storage: Annotated[bool, _STORAGE] = False,
    until: _UNTIL = None,
    rpo_limit: Annotated[float, Option(help="Largest RPO that passes, s.", min=0)] = 60,
    record: Annotated[
        Path | None, Option(help="File to add the result to.", show_default=f"{_RECORD} in the data folder, if any")
    ] = None,
    as_json: ResultAsJson = False,
) -> None:
    """Restore the running database next to it, verify it, and measure RPO and RTO. Exit code 1 if it fails."""
    if archive is not None and storage:
        raise RecoveryError("Name one archive: --archive FOLDER or --storage.")
    if until is not None and archive is None and not storage:
        raise RecoveryError("--until needs an archive that exists: --archive FOLDER or --storage.")
    result = drills.drill(seconds, _stored() if storage else archive, say, until)
    for line in result.shown:
        say(line)
    if as_json:
        print_json(result.as_json())
    file = record or (settings().data_dir / _RECORD if settings().data_dir.is_dir() else None)
    if file is not None:
        with file.open("a") as out:
            out.write(json.dumps(result.as_json()) + "\n")
    said = result.sentence() + (f" Recorded in {file}." if file else "")
    if as_json:
        say(said)
    else:
        print(said, flush=True)
    if result.faults or (result.rpo_s or 0.0) > rpo_limit:
        say(f"The drill failed: {result.faults} faults, RPO limit {rpo_limit:g} s.")
        raise Exit(1)
