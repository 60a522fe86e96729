"""The commands of an operator on what is read with SQL: `sinemora sql-logins` and `sinemora sql-paths`."""

from functools import partial
from typing import Annotated

from sqlalchemy.exc import DBAPIError
from typer import Argument, Typer

from sinemora.kit.commands import on_database
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


_on_database = partial(on_database, SqlLoginError, DBAPIError)


@logins.command("grant")
@_on_database()
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
@_on_database()
def revoke(role: RoleName, as_json: ResultAsJson = False) -> None:
    """Take the views from a database role. The role stays."""
    revoked = sql_logins.revoke(role)
    if as_json:
        print_json(revoked)
    else:
        print(f"{role} no longer reads the minutes of {revoked['tenant']}. Drop it with DROP OWNED BY, DROP ROLE.")


@logins.command("list")
@_on_database()
def list_logins(as_json: ResultAsJson = False) -> None:
    """List the SQL logins of all tenants."""
    found = [{**one, "created_at": one["created_at"].isoformat()} for one in sql_logins.logins()]
    if as_json:
        print_json(found)
        return
    columns = ("role", "tenant", "role_exists", "created_at")
    print(table(columns, [tuple(one[name] for name in columns) for one in found]))


@chosen.command("add")
@_on_database()
def add_path(tenant: TenantName, vm: VmName, peer: VmName, as_json: ResultAsJson = False) -> None:
    """Keep the minutes of the path between two VMs for SQL, both ways and in each mesh of both."""
    path = sql_logins.choose_path(tenant, (vm, peer))
    if as_json:
        print_json(path)
    else:
        print(f"Minutes between {vm} and {peer} are in sinemora_read.path_minutes from now on.")


@chosen.command("remove")
@_on_database()
def remove_path(tenant: TenantName, vm: VmName, peer: VmName, as_json: ResultAsJson = False) -> None:
    """Keep no further minutes of a path for SQL."""
    path = sql_logins.remove_path(tenant, (vm, peer))
    if as_json:
        print_json(path)
    else:
        print(f"No further minutes between {vm} and {peer} are kept. Those that are there stay for their time.")


@chosen.command("list")
@_on_database()
def list_paths(as_json: ResultAsJson = False) -> None:
    """List the paths of all tenants whose minutes are kept for SQL."""
    found = sql_logins.paths()
    if as_json:
        print_json(found)
    else:
        print(table(("tenant", "vm", "peer"), [tuple(path.values()) for path in found]))
