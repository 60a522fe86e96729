"""The commands of an operator on what is read with SQL: `sinemora sql-logins` and `sinemora sql-paths`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from sqlalchemy.exc import DBAPIError
from typer import Argument, Exit, Typer

from sinemora.kit.commands import require_database
from sinemora.kit.database_refusal import refusal_of
from sinemora.operations import sql_logins
from sinemora.operations.sql_logins import SqlLoginError
from sinemora_client.commands import ResultAsJson, print_json, table

app = Typer(rich_markup_mode=None)
logins = Typer(rich_markup_mode=None)
app.add_typer(logins, name="sql-logins", help="Let database roles read the minutes of a tenant with SQL.")

chosen = Typer(rich_markup_mode=None)
app.add_typer(chosen, name="sql-paths", help="Choose paths between VMs whose minutes are kept for SQL.")

TenantName = Annotated[str, Argument(metavar="TENANT", help="Name or id of the tenant.")]
VmName = Annotated[str, Argument(metavar="VM", help="Name of a VM.")]
RoleName = Annotated[str, Argument(metavar="ROLE", help="Database role, made for this alone.")]


@contextmanager
def _reported() -> Iterator[None]:
    """Require a database; print an operator's error on standard error and exit with 1."""
    require_database()
    try:
        yield
    except (SqlLoginError, DBAPIError) as error:
        if refusal_of(error):
            raise
        reason = error.orig if isinstance(error, DBAPIError) else error
        print(f"sinemora: {str(reason).strip()}", file=sys.stderr, flush=True)
        raise Exit(1) from None


@logins.command("grant")
@_reported()
def grant(
    role: RoleName,
    tenant: TenantName,
    as_json: ResultAsJson = False,
) -> None:
    """Let a database role read the minutes of one tenant, through the views of the schema sinemora_read."""
    granted = sql_logins.grant(tenant, role)
    if as_json:
        print_json({**granted, "created_at": granted["created_at"].isoformat()})
    else:
        print(f"{role} reads the minutes of {granted['tenant']}: SELECT * FROM sinemora_read.zone_minutes")


@logins.command("revoke")
@_reported()
def revoke(role: RoleName, as_json: ResultAsJson = False) -> None:
    """Take the views from a database role. The role stays."""
    revoked = sql_logins.revoke(role)
    if as_json:
        print_json(revoked)
    else:
        print(f"{role} no longer reads the minutes of {revoked['tenant']}. Drop it with DROP OWNED BY, DROP ROLE.")


@logins.command("list")
@_reported()
def list_logins(as_json: ResultAsJson = False) -> None:
    """List the SQL logins of all tenants."""
    found = [{**one, "created_at": one["created_at"].isoformat()} for one in sql_logins.logins()]
    if as_json:
        print_json(found)
        return
    columns = ("role", "tenant", "role_exists", "created_at")
    print(table(columns, [tuple(one[name] for name in columns) for one in found]))


@chosen.command("add")
@_reported()
def add_path(tenant: TenantName, vm: VmName, peer: VmName, as_json: ResultAsJson = False) -> None:
    """Keep the minutes of the path between two VMs for SQL, both ways and in each mesh of both."""
    path = sql_logins.choose_path(tenant, (vm, peer))
    if as_json:
        print_json(path)
    else:
        print(f"Minutes between {vm} and {peer} are in sinemora_read.path_minutes from now on.")


@chosen.command("remove")
@_reported()
def remove_path(tenant: TenantName, vm: VmName, peer: VmName, as_json: ResultAsJson = False) -> None:
    """Keep no further minutes of a path for SQL."""
    path = sql_logins.remove_path(tenant, (vm, peer))
    if as_json:
        print_json(path)
    else:
        print(f"No further minutes between {vm} and {peer} are kept. Those that are there stay for their time.")


@chosen.command("list")
@_reported()
def list_paths(as_json: ResultAsJson = False) -> None:
    """List the paths of all tenants whose minutes are kept for SQL."""
    found = sql_logins.paths()
    if as_json:
        print_json(found)
    else:
        print(table(("tenant", "vm", "peer"), [tuple(path.values()) for path in found]))
