"""The commands of an operator: `sinemora backup`, `restore`, `verify`, `tenant export`, `quota`, `plans`, `delete`."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any

from typer import Argument, BadParameter, Exit, Option, Typer

from sinemora.kit.commands import on_database, say
from sinemora.operations import backup as backups
from sinemora.operations import integrity, quota
from sinemora.operations.archives import tenant
from sinemora.operations.archives.archive import ArchiveError
from sinemora.operations.archives.tenant import TenantError
from sinemora.operations.backup import RestoreError
from sinemora.operations.quota import QuotaError
from sinemora_client.commands import ResultAsJson, moment_of, print_json, table

app = Typer(rich_markup_mode=None)
of_tenant = Typer(rich_markup_mode=None)
app.add_typer(of_tenant, name="tenant", help="Export or delete a tenant, change its plan and quotas.")

Output = Annotated[str, Option(help="File to write; - for standard output.")]
TenantName = Annotated[str, Argument(metavar="TENANT", help="Name or id of the tenant.")]


_on_database = partial(on_database, ArchiveError, RestoreError, TenantError, QuotaError, OSError)


@app.command()
@_on_database()
def backup(output: Output, as_json: ResultAsJson = False) -> None:
    """Back up everything to a file while the product runs."""
    manifest = _written(output, lambda out: backups.backup(out, say), as_json=as_json)
    if as_json:
        print_json({"file": output, "size_bytes": Path(output).stat().st_size, "manifest": manifest})


@app.command()
@_on_database()
def restore(
    input: Annotated[str, Argument(help="File to read; - for standard input.")],
    replace: Annotated[bool, Option("--replace", help="Empty the database first.")] = False,
    as_json: ResultAsJson = False,
) -> None:
    """Load a backup into an empty database and verify it."""
    if input == "-":
        manifest = backups.restore(sys.stdin.buffer, say, replace=replace)
    else:
        with open(input, "rb") as source:
            manifest = backups.restore(source, say, replace=replace)
    if as_json:
        print_json({"file": input, "manifest": manifest})
    say("Restored and verified. Restart the API and the workers: they remember what was there before.")


@app.command()
@_on_database()
def verify(
    since: Annotated[
        datetime | None,
        Option(parser=moment_of, metavar="TIME", help="Only frames begun since, as 2026-11-20T00:00:00Z."),
    ] = None,
    repair: Annotated[bool, Option("--repair", help="Merge minutes that differ again.")] = False,
    as_json: ResultAsJson = False,
) -> None:
    """Decode every frame, compare rollups with their source, and read every aged object.

    Exit code 1 when something is wrong.
    """
    result = integrity.check(*[since] if since else [], repair=repair)
    for fault in result.shown:
        say(f"{fault.table} {fault.row}: {fault.what} ({fault.repair})")
    if result.faults > len(result.shown):
        say(f"… and {result.faults - len(result.shown)} more")
    counts: dict[str, Any] = {
        "frames": result.frames,
        "rosters": result.rosters,
        "aged_objects": result.aged_objects,
        "minutes_compared": result.minutes_compared,
        "zone_minutes_compared": result.zone_minutes_compared,
        "faults": result.faults,
        "minutes_merged_again": len(result.minutes_to_merge) if repair else 0,
    }
    if as_json:
        print_json(counts | {"unchecked": integrity.UNCHECKED})
    else:
        counts["frames"] = sum(result.frames.values())
        print(", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()))
        print(f"Not checked: {', '.join(integrity.UNCHECKED)} (--json: why).")
    if result.faults:
        raise Exit(1)


@of_tenant.command("export")
@_on_database()
def export_tenant(name: TenantName, output: Output, as_json: ResultAsJson = False) -> None:
    """Export a tenant as JSON lines."""
    manifest = _written(
        output, lambda out: tenant.export(name, out, lambda _done, _count, line: say(line)), as_json=as_json
    )
    if as_json:
        print_json({"file": output, "size_bytes": Path(output).stat().st_size, "manifest": manifest})


def _limit(name: str) -> Any:
    return Option(help=f"{quota.NAMES[name]}; 'default' for that of the plan or the settings.", metavar="NUMBER")


@of_tenant.command("quota")
@_on_database()
def change_quota(
    name: TenantName,
    plan: Annotated[
        str | None, Option(help="Service plan of SINEMORA_SERVICE_PLANS; 'default' for none.", metavar="PLAN")
    ] = None,
    vms: Annotated[str | None, _limit("vms")] = None,
    paths: Annotated[str | None, _limit("paths")] = None,
    windows_per_s: Annotated[str | None, _limit("windows_per_s")] = None,
    raw_days: Annotated[str | None, _limit("raw_days")] = None,
    minute_days: Annotated[str | None, _limit("minute_days")] = None,
    artifact_mib: Annotated[str | None, _limit("artifact_mib")] = None,
    aged_after_days: Annotated[str | None, _limit("aged_after_days")] = None,
    as_json: ResultAsJson = False,
) -> None:
    """Show or change a tenant's plan and quotas."""
    limits = {
        "plan": plan,
        "vms": vms,
        "paths": paths,
        "windows_per_s": windows_per_s,
        "raw_days": raw_days,
        "minute_days": minute_days,
        "artifact_mib": artifact_mib,
        "aged_after_days": aged_after_days,
    }
    now = quota.change(name, {limit: value for limit, value in limits.items() if value is not None})
    if as_json:
        print_json(now)
    else:
        print(f"plan: {now['plan'] or 'none'}")
        rows = [(limit, now[limit], now["origins"][limit], unit) for limit, unit in quota.NAMES.items()]
        print(table(("quota", "limit", "set by", "unit"), rows))


@of_tenant.command("plans")
@_on_database()
def list_plans(as_json: ResultAsJson = False) -> None:
    """List the service plans, their quotas and how many tenants have each."""
    found = quota.plans()
    if as_json:
        print_json(found)
    elif not found:
        print("No plans. SINEMORA_SERVICE_PLANS names them, as in: Trial: vms=20 raw_days=1; Team: vms=500")
    else:
        columns = ("plan", "tenants", *quota.NAMES)
        print(table(columns, [tuple("–" if one[name] is None else one[name] for name in columns) for one in found]))
        for one in found:
            if not one["is_known"]:
                say(f"{one['plan']} is not in SINEMORA_SERVICE_PLANS any more: its tenants have the default quotas.")


@of_tenant.command("delete")
@_on_database()
def delete_tenant(
    name: TenantName,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: ResultAsJson = False,
) -> None:
    """Delete a tenant's data and verify the deletion."""
    if not yes:
        if not sys.stdin.isatty():
            say(f"This deletes everything of {name}. If you mean it: --yes")
            raise Exit(1)
        if input(f"Delete everything of {name}? Type its name: ").strip() != name:
            say("Nothing was deleted.")
            raise Exit(1)
    tables = tenant.delete(name, say)
    if as_json:
        print_json([asdict(one) for one in tables])
    else:
        print(table(("table", "deleted", "left"), [tuple(asdict(one).values()) for one in tables]))
    left = sum(one.left for one in tables)
    say(f"{sum(one.deleted for one in tables):,} rows of {len(tables)} tables deleted, {left} left.")
    if left:
        raise Exit(1)


def _written(name: str, write: Callable[[IO[bytes]], Any], *, as_json: bool) -> Any:
    """Write to a file that has its name only once it is whole, readable for its owner alone; or to standard output.

    Return what `write` returns.
    """
    if name == "-":
        if as_json:
            raise BadParameter("--json needs a file: standard output has what is written.")
        result = write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return result
    path = Path(name)
    part = path.with_name(path.name + ".part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            result = write(out)
            out.flush()
            os.fsync(out.fileno())
        part.rename(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    say(f"Written: {path} ({path.stat().st_size / 1e6:,.1f} MB)")
    return result
