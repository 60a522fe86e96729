"""The commands of an operator: `sinemora backup`, `restore`, `verify`, `tenant export`, `quota` and `delete`."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import psycopg

from sinemora.operations import backup, integrity, quota, tenant
from sinemora.operations.archive import ArchiveError
from sinemora.operations.backup import RestoreError
from sinemora.operations.quota import QuotaError
from sinemora.operations.tenant import TenantError

Action = Callable[[argparse.Namespace], int]
Wrap = Callable[[Action], Action]


def add(commands: Any, wrap: Wrap) -> None:
    """Add the commands to a parser's; `wrap` is applied to each action that needs a database."""
    command = commands.add_parser("backup", help="back up everything to a file while the product runs")
    command.add_argument("--output", required=True, help="file to write; - for standard output")
    command.set_defaults(run=wrap(_told(_backup)))

    command = commands.add_parser("restore", help="load a backup into an empty database and verify it")
    command.add_argument("input", help="file to read; - for standard input")
    command.add_argument("--replace", action="store_true", help="empty the database first")
    command.set_defaults(run=wrap(_told(_restore)))

    command = commands.add_parser("verify", help="decode every frame and compare rollups with their source")
    command.add_argument("--since", type=datetime.fromisoformat, help="only frames begun since (2026-11-20T00:00:00Z)")
    command.add_argument("--repair", action="store_true", help="merge minutes that differ again")
    command.set_defaults(run=wrap(_told(_check)))

    of_tenant = commands.add_parser("tenant", help="export, quota and deletion of a tenant").add_subparsers(
        required=True, metavar="COMMAND"
    )
    command = of_tenant.add_parser("export", help="export a tenant as JSON lines")
    command.add_argument("tenant", help="name or id")
    command.add_argument("--output", required=True, help="file to write; - for standard output")
    command.set_defaults(run=wrap(_told(_export)))

    command = of_tenant.add_parser("quota", help="show or change a tenant's quotas")
    command.add_argument("tenant", help="name or id")
    for name, what in quota.NAMES.items():
        command.add_argument(f"--{name.replace('_', '-')}", help=f"{what}; 'default' for that of the settings")
    command.set_defaults(run=wrap(_told(_quota)))

    command = of_tenant.add_parser("delete", help="delete a tenant's data and verify the deletion")
    command.add_argument("tenant", help="name or id")
    command.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    command.set_defaults(run=wrap(_told(_delete)))


def _told(action: Action) -> Action:
    """Say what cannot be done on standard error, instead of a trace."""

    def run(options: argparse.Namespace) -> int:
        try:
            return action(options)
        except (ArchiveError, RestoreError, TenantError, QuotaError, psycopg.OperationalError, OSError) as error:
            print(f"sinemora: {str(error).strip()}", file=sys.stderr)
            return 1

    return run


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _written(name: str, write: Callable[[IO[bytes]], Any]) -> None:
    """Write to a file that has its name only once it is whole, readable for its owner alone; or to standard output."""
    if name == "-":
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    part = path.with_name(path.name + ".part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            write(out)
            out.flush()
            os.fsync(out.fileno())
        part.rename(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    _say(f"Written: {path} ({path.stat().st_size / 1e6:,.1f} MB)")


def _backup(options: argparse.Namespace) -> int:
    _written(options.output, lambda out: backup.backup(out, _say))
    return 0


def _restore(options: argparse.Namespace) -> int:
    if options.input == "-":
        backup.restore(sys.stdin.buffer, _say, replace=options.replace)
    else:
        with open(options.input, "rb") as source:
            backup.restore(source, _say, replace=options.replace)
    _say("Restored and verified. Restart the API and the workers: they remember what was there before.")
    return 0


def _check(options: argparse.Namespace) -> int:
    found = integrity.check(*[options.since] if options.since else [], repair=options.repair)
    for fault in found.shown:
        _say(f"{fault.table} {fault.row}: {fault.what} ({fault.repair})")
    if found.faults > len(found.shown):
        _say(f"… and {found.faults - len(found.shown)} more")
    told = {
        "frames": found.frames,
        "minutes_compared": found.minutes_compared,
        "faults": found.faults,
        "minutes_merged_again": len(found.minutes_to_merge) if options.repair else 0,
    }
    print(json.dumps(told))
    return 1 if found.faults else 0


def _export(options: argparse.Namespace) -> int:
    _written(options.output, lambda out: tenant.export(options.tenant, out, _say))
    return 0


def _quota(options: argparse.Namespace) -> int:
    changes = {name: given for name in quota.NAMES if (given := getattr(options, name)) is not None}
    print(json.dumps(quota.change(options.tenant, changes)))
    return 0


def _delete(options: argparse.Namespace) -> int:
    if not options.yes:
        if not sys.stdin.isatty():
            _say(f"This deletes everything of {options.tenant}. If you mean it: --yes")
            return 1
        if input(f"Delete everything of {options.tenant}? Type its name: ").strip() != options.tenant:
            _say("Nothing was deleted.")
            return 1
    gone = tenant.delete(options.tenant, _say)
    for one in gone:
        print(json.dumps(asdict(one)))
    left = sum(one.left for one in gone)
    _say(f"{sum(one.deleted for one in gone):,} rows of {len(gone)} tables deleted, {left} left.")
    return 1 if left else 0
