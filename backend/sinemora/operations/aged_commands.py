"""The commands of an operator on aged measurements: `sinemora aged list`, `run`, `restore`, `check`."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, String, cast, or_, select
from sqlalchemy.orm import InstrumentedAttribute
from typer import Exit, Option, Typer

from sinemora.access.tenants.models import Tenant
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.commands import on_database, say
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.object_storage import StorageError, installation_storage
from sinemora.measurements.store.aged import restoring, runs, usage
from sinemora.measurements.store.aged.catalogue import AGED_TABLES
from sinemora.measurements.store.aged.writing import AgingError
from sinemora_client.commands import ResultAsJson, moment_of, print_json, table

app = Typer(rich_markup_mode=None)
aged = Typer(rich_markup_mode=None)
app.add_typer(aged, name="aged", help="List, write and restore aged measurements in object storage.")

_RUN_LIMIT_S = 1800.0


class AgedCommandError(Exception):
    """Request that names nothing, or more than one thing."""


_on_database = partial(on_database, StorageError, AgingError, AgedCommandError)


@aged.command("list")
@_on_database()
def list_aged(
    tenant: Annotated[str | None, Option(help="Name or id of a tenant.", show_default="all")] = None,
    as_json: ResultAsJson = False,
) -> None:
    """List what is in object storage by tenant, mesh and tier, and the newest run of each tenant."""
    with system_session() as session:
        ids = None
        if tenant is not None:
            ids = session.scalars(select(Tenant.id).where(or_(Tenant.name == tenant, _is_id(Tenant.id, tenant)))).all()
            if not ids:
                raise AgedCommandError(f"unknown tenant: {tenant}")
        tiers, newest = usage.tiers(session, ids), usage.runs(session, ids)
    if as_json:
        print_json({"tiers": [asdict(one) for one in tiers], "runs": [asdict(one) for one in newest]})
        return
    if not tiers:
        print("No aged measurements yet." if settings().storage_bucket else "No storage: set SINEMORA_STORAGE_BUCKET.")
    else:
        rows = [
            (
                *(one.tenant, one.mesh, one.tier, one.objects, one.restored, one.rows, f"{one.bytes / 1e6:,.1f}"),
                *(f"{one.started_at:%Y-%m-%d}", f"{one.ended_at:%Y-%m-%d}"),
            )
            for one in tiers
        ]
        print(table(("tenant", "mesh", "tier", "objects", "restored", "rows", "MB", "from", "to"), rows))
    for run in newest:
        print(f"{run.tenant}: newest run {run.started_at:%Y-%m-%d %H:%M:%SZ}, {run.error or _done(run)}")


@aged.command("run")
@_on_database()
def run_now(as_json: ResultAsJson = False) -> None:
    """Move measurements that are old enough to object storage now, for at most half an hour."""
    if not settings().storage_bucket:
        raise StorageError("no storage is set: SINEMORA_STORAGE_BUCKET names its bucket")
    runs.run(datetime.now(UTC), _RUN_LIMIT_S)
    with system_session() as session:
        newest = usage.runs(session)
    if as_json:
        print_json([asdict(run) for run in newest])
    for run in newest:
        say(f"{run.tenant}: {run.error or _done(run)}")
    if any(run.error for run in newest):
        raise Exit(1)


@aged.command("restore")
@_on_database()
def restore(
    mesh: Annotated[str, Option(help="Name or id of the mesh.")],
    start: Annotated[str, Option("--from", help="RFC 3339, as in 2026-09-01T00:00:00Z.")],
    end: Annotated[str, Option("--to", help="RFC 3339.")],
    tenant: Annotated[str | None, Option(help="Name or id of its tenant, where two have such a mesh.")] = None,
    tier: Annotated[list[str] | None, Option(help="Table of a tier; repeatable.", show_default="all")] = None,
    days: Annotated[int, Option(help="Days that the rows stay in the database.", min=1, max=3650)] = 7,
    as_json: ResultAsJson = False,
) -> None:
    """Copy aged ranges of a mesh back to the database, where they stay for some days."""
    if unknown := sorted(set(tier or ()) - AGED_TABLES.keys()):
        raise AgedCommandError(f"unknown tier: {', '.join(unknown)}. Tiers: {', '.join(AGED_TABLES)}")
    first, last = _time(start), _time(end)
    if first >= last:
        raise AgedCommandError("--from must be before --to")
    with system_session() as session:
        wanted = select(Mesh.id).join(Tenant, Tenant.id == Mesh.tenant_id)
        wanted = wanted.where(or_(Mesh.name == mesh, _is_id(Mesh.id, mesh)))
        if tenant is not None:
            wanted = wanted.where(or_(Tenant.name == tenant, _is_id(Tenant.id, tenant)))
        ids = session.scalars(wanted).all()
        if len(ids) != 1:
            reason = "no mesh has this name or id" if not ids else "more than one tenant has such a mesh; add --tenant"
            raise AgedCommandError(f"{mesh}: {reason}")
        found = restoring.in_range(session, ids[0], first, last, tables=tier or tuple(AGED_TABLES))
    held_until = datetime.now(UTC) + timedelta(days=days)
    for one in found:
        restoring.restore(one, held_until)
        say(f"Restored: {one.tier} {one.started_at:%Y-%m-%dT%H:%MZ} to {one.ended_at:%Y-%m-%dT%H:%MZ}, {one.rows} rows")
    if as_json:
        print_json({"objects": len(found), "rows": sum(one.rows for one in found), "held_until": held_until})
    else:
        say(f"{len(found)} objects restored; their rows stay until {held_until:%Y-%m-%d}.")


@aged.command("check")
@_on_database()
def check(as_json: ResultAsJson = False) -> None:
    """Write, read and delete a small object, to see whether the storage and its keys serve."""
    storage, key = installation_storage(), f"{settings().storage_prefix}/check-{uuid4().hex}".lstrip("/")
    storage.put(key, b"sinemora")
    if storage.get(key) != b"sinemora":
        raise StorageError(f"{key} was read back with other bytes")
    if key not in {one.key for one in storage.list(key.rpartition("/")[0] or key)}:
        raise StorageError(f"{key} is not in the list of bucket {storage.bucket}")
    storage.delete(key)
    say(f"Bucket {storage.bucket}: objects are written, read, listed and deleted.")
    if as_json:
        print_json({"bucket": storage.bucket, "endpoint": settings().storage_endpoint or None})


def _done(run: usage.AgingRun) -> str:
    return f"{run.objects} objects, {run.rows:,} rows, {run.bytes / 1e6:,.1f} MB"


def _time(text: str) -> datetime:
    try:
        return moment_of(text)
    except ValueError:
        raise AgedCommandError(f"invalid time: {text!r}; it should look like 2026-09-01T00:00:00Z") from None


def _is_id(column: InstrumentedAttribute[UUID], text: str) -> ColumnElement[bool]:
    return cast(column, String) == text
