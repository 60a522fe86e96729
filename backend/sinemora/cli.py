"""The command `sinemora`. A command's module is imported only when the command runs, so that servers start fast."""

import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option, Typer
from typer.main import get_command

from sinemora.compose import commands
from sinemora_client.cli import COMMANDS, Commands, listing

_OPERATIONS = "sinemora.operations.commands"
_MEASUREMENTS = "sinemora.measurements.command"
_EMBEDDED = "sinemora.operations.embedded.commands"
_RECOVERY = "sinemora.operations.recovery.commands"

# The module of each further command, whose `app` has a command of this name, and its help.
IMPORTED = {
    **COMMANDS,
    "backup": (_OPERATIONS, "Back up everything to a file while the product runs."),
    "restore": (_OPERATIONS, "Load a backup into an empty database and verify it."),
    "verify": (_OPERATIONS, "Decode every frame, compare rollups with their source, and read every aged object."),
    "distribute": (
        "sinemora.operations.cluster_command",
        "Spread measurements over the workers of a Citus cluster, by tenant or by VM.",
    ),
    "archive": (_RECOVERY, "Archive WAL as it is written, and base backups, until Ctrl-C."),
    "recover": (_RECOVERY, "Restore an archive into a new cluster and stop it, ready to be put in place."),
    "drill": (_RECOVERY, "Restore the running database next to it, verify it, and measure RPO and RTO."),
    "tenant": (_OPERATIONS, "Export or delete a tenant, change its plan and quotas."),
    "aged": (
        "sinemora.operations.aged_commands",
        "List, write and restore aged measurements in object storage.",
    ),
    "sql-logins": (
        "sinemora.operations.sql_login_commands",
        "Let database roles read the minutes of a tenant with SQL.",
    ),
    "sql-paths": (
        "sinemora.operations.sql_login_commands",
        "Choose paths between VMs whose minutes are kept for SQL.",
    ),
    "delay-tables": (
        _MEASUREMENTS,
        "Write the measured delays of a path as tables of delaybox, to replay them into an application (API key).",
    ),
    "latency-budget": (
        _MEASUREMENTS,
        "Show where measured delays come from: base delay, propagation, queueing (API key).",
    ),
    "artifacts": (
        "sinemora.artifacts.command",
        "Publish files that VMs bring each other, watch them spread, fetch them (API key).",
    ),
    "advise": (
        "sinemora.advisors.command",
        "Ask the advisors: price, fairness, transports, shaping (API key).",
    ),
    "evidence": ("sinemora.alerts.evidence.command", "Write and verify signed evidence of incidents."),
    "network-topology": (
        "sinemora.recommendations.command",
        "Print the costs between zones as a NetworkTopology, or write it to the cluster (API key).",
    ),
    "capacity": (
        "sinemora.operations.capacity.command",
        "Predict what the backend needs for a number of VMs, and what probing costs.",
    ),
    "gateway": (
        "sinemora.operations.gateway.command",
        "Run an ingest gateway near agents: it forwards their requests and can queue their reports on disk.",
    ),
    "up": (_EMBEDDED, "Run everything here in the foreground until Ctrl-C."),
    "down": (_EMBEDDED, "Stop the running product, from another terminal."),
    "demo": (_EMBEDDED, "Load a simulated tenant of 100 VMs and 30 days, then send new windows until Ctrl-C."),
    "wait": (_EMBEDDED, "Wait until every planned path of the demonstration mesh is measured."),
    "status": (_EMBEDDED, "Show each process of the running product."),
    "check": (_EMBEDDED, "Check whether the product can start."),
    "logs": (_EMBEDDED, "Follow the logs."),
    "replace": (_EMBEDDED, "Migrate the database, then replace API and workers by new starts of their programs."),
    "run": (_EMBEDDED, "Run a command with the settings and the database tools of the product."),
    "clean-data": (_EMBEDDED, "Delete the data folder."),
} | commands()


AsJson = Annotated[bool, Option("--json", help="Print the result as JSON.")]


class _Commands(Commands):
    imported = IMPORTED


app = listing(_Commands, "Run the processes of Sinemora, and operate it by hand.")
owner = Typer()
app.add_typer(owner, name="owner", help="Manage owners of tenants.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Return 0 when it succeeded, 1 when it failed, 2 when it was not understood."""
    try:
        get_command(app)(arguments, prog_name="sinemora")
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except Exception as error:
        # Imported here: they take longer than most commands.
        from pydantic import ValidationError

        from sinemora.kit.config import explain
        from sinemora.kit.database_refusal import refusal_of

        if isinstance(error, ValidationError):
            print(explain(error), file=sys.stderr)
            return 1
        if (refusal := refusal_of(error)) is None:
            raise
        print(refusal, file=sys.stderr)
        return 1


@app.command()
def serve() -> None:
    """Run the API in the foreground."""
    from sinemora.kit.commands import require_database

    require_database()
    gc.disable()  # what is imported stays to the end
    from sinemora.main import serve

    gc.enable()
    serve()


@app.command()
def migrate(revision: Annotated[str, Option(help="Version to stop at.", show_default="the newest")] = "head") -> None:
    """Bring the database schema to the newest version."""
    from sinemora.kit.commands import require_database

    require_database()
    from sinemora import migrate

    raise Exit(migrate.main([revision]))


@app.command()
def openapi(
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
    check: Annotated[Path | None, Option(help="Only compare with this file; exit code 1 when it is stale.")] = None,
) -> None:
    """Write the API's contract."""
    if check:
        if check.read_text() != contract():
            print(f"{check} is stale: run `sinemora openapi --output {check}`", file=sys.stderr)
            raise Exit(1)
    elif output:
        output.write_text(contract())
    else:
        print(contract(), end="")


def contract() -> str:
    """Return `openapi.json` as it should be in the repository."""
    from sinemora.kit.json_text import json_text
    from sinemora.main import create_app

    return json_text(create_app().openapi()) + "\n"


@owner.command("create")
def create_owner(
    tenant: Annotated[str, Option(help="Name of the tenant.")] = "Sinemora",
    email: Annotated[str | None, Option(help="Email address.", show_default="SINEMORA_OWNER_EMAIL")] = None,
    as_json: AsJson = False,
) -> None:
    """Create a tenant and its owner if they do not exist."""
    from sinemora.kit.commands import on_database
    from sinemora.kit.config import settings
    from sinemora_client.commands import print_json

    password = settings().owner_password
    email = email or settings().owner_email
    with on_database(ValueError):
        from sinemora.access.tenants.service import create_owner

        result = create_owner(tenant, email, password.get_secret_value() if password else None)
    if as_json:
        print_json({"tenant": tenant, "email": email, "created": result.created, "password": result.password})
    elif result.password:
        print(f"Owner {email} of {tenant}. Password, shown this once: {result.password}")
    elif result.created:
        print(f"Owner {email} of {tenant}, with the password of SINEMORA_OWNER_PASSWORD.")
    else:
        print(f"Owner {email} of {tenant} exists; the password is unchanged.")


@owner.command("reset-link")
def create_reset_link(
    email: Annotated[str, Argument(help="Email address of the person.")],
    without_second_factors: Annotated[
        bool, Option("--without-second-factors", help="Also remove the second factors of a person who lost them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print a link with which a person sets a new password; it is valid once and for 30 minutes."""
    from sinemora.kit.commands import on_database
    from sinemora_client.commands import print_json

    with on_database(LookupError):
        from sinemora.access.signin.operator import reset_link

        link = reset_link(email, without_second_factors=without_second_factors)
    if as_json:
        print_json({"email": email, "link": link})
    else:
        print(link)


if __name__ == "__main__":
    sys.exit(main())
