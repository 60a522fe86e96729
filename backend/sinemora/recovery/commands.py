"""The commands `sinemora archive`, `recover` and `drill`."""

import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

from typer import Exit, Option, Typer

from sinemora.kit.commands import ResultAsJson, print_json
from sinemora.kit.config import settings
from sinemora.recovery import archive as archives
from sinemora.recovery import drill as drills
from sinemora.recovery import restore as restores
from sinemora.recovery.archive import Archive
from sinemora.recovery.errors import RecoveryError

app = Typer(rich_markup_mode=None)
_RECORD = "drills.jsonl"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _reported() -> Iterator[None]:
    """Print an operator's error on standard error and exit with 1."""
    try:
        yield
    except (RecoveryError, OSError) as error:
        _say(f"sinemora: {error}")
        raise Exit(1) from None


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


@app.command()
@_reported()
def archive(
    to: Annotated[Path, Option(help="Folder of the archive, on another disk or machine than the database.")],
    base_every_hours: Annotated[float, Option(help="Hours between base backups.", min=0.01)] = 24,
    keep_days: Annotated[float, Option(help="Days that can be restored.", min=0)] = 7,
) -> None:
    """Archive WAL as it is written, and base backups, until Ctrl-C."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    keep = timedelta(days=keep_days)
    archives.keep_up(Archive(to), timedelta(hours=base_every_hours), keep, _say, stopped.wait)


@app.command()
@_reported()
def recover(
    source: Annotated[Path, Option("--from", help="Folder of the archive.")],
    to: Annotated[Path, Option(help="New folder; the cluster is in its folder postgres.")],
    until: Annotated[
        datetime | None,
        Option(
            parser=_time, metavar="TIME", help="Stop at this time, as 2026-11-26T02:00:00Z.", show_default="the end"
        ),
    ] = None,
    as_json: ResultAsJson = False,
) -> None:
    """Restore an archive into a new cluster and stop it, ready to be put in place."""
    restored = restores.restore(Archive(source), to.resolve(), until)
    restored.stop()
    newest = restored.recovered_to or restored.base.taken_at
    if as_json:
        print_json(
            {
                "folder": to.resolve() / "postgres",
                "recovered_to": newest.isoformat(),
                "base_taken_at": restored.base.taken_at.isoformat(),
                "restore_s": round(restored.restore_s, 3),
                "replay_s": round(restored.replay_s, 3),
            }
        )
    _say(
        f"Restored to {newest:%Y-%m-%d %H:%M:%S} UTC in {restored.restore_s + restored.replay_s:.1f} s:"
        f" {to.resolve() / 'postgres'}. Stop the product and put this folder in the place of the old one."
    )


@app.command()
@_reported()
def drill(
    seconds: Annotated[float, Option(help="Seconds of archiving before the disaster.", min=1)] = 30,
    archive: Annotated[
        Path | None,
        Option(help="Archive that `sinemora archive` keeps up.", show_default="one that is written for the drill"),
    ] = None,
    rpo_limit: Annotated[float, Option(help="Largest RPO that passes, s.", min=0)] = 60,
    record: Annotated[
        Path | None, Option(help="File to add the result to.", show_default=f"{_RECORD} in the data folder, if any")
    ] = None,
    as_json: ResultAsJson = False,
) -> None:
    """Restore the running database next to it, verify it, and measure RPO and RTO. Exit code 1 if it fails."""
    result = drills.drill(seconds, archive, _say)
    for line in result.shown:
        _say(line)
    if as_json:
        print_json(result.as_json())
    file = record or (settings().data_dir / _RECORD if settings().data_dir.is_dir() else None)
    if file is not None:
        with file.open("a") as out:
            out.write(json.dumps(result.as_json()) + "\n")
    said = result.sentence() + (f" Recorded in {file}." if file else "")
    if as_json:
        _say(said)
    else:
        print(said, flush=True)
    if result.faults or result.rpo_s > rpo_limit:
        _say(f"The drill failed: {result.faults} faults, RPO limit {rpo_limit:g} s.")
        raise Exit(1)
