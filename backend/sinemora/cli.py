"""The command `sinemora`: what an operator does by hand, and what starts the processes."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from sinemora import migrate
from sinemora.alerts import command as alerts
from sinemora.applications import command as applications
from sinemora.embedded import commands as embedded
from sinemora.kit.config import explain, settings
from sinemora.main import create_app, serve
from sinemora.measurements import command as transfer
from sinemora.operations import commands as operations
from sinemora.profiler import command as profiler
from sinemora.recommendations import command as recommendations
from sinemora.simulation import command as simulation
from sinemora.tenants.service import create_owner
from sinemora.what_if import command as what_if


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when it worked, 1 when it could not, 2 when it was not understood."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except ValidationError as error:
        print(explain(error), file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sinemora", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("serve", help="run the API in the foreground")
    command.set_defaults(run=_with_database(lambda _: serve()))

    command = commands.add_parser("migrate", help="bring the database schema to the newest version")
    command.add_argument("--revision", default="head", help="stop at this version (default: the newest)")
    command.set_defaults(run=_with_database(lambda options: migrate.main([options.revision])))

    command = commands.add_parser("openapi", help="write the API's contract")
    command.add_argument("--output", type=Path, help="file to write (default: standard output)")
    command.add_argument("--check", type=Path, help="only compare with this file; exit code 1 when it is stale")
    command.set_defaults(run=_openapi)

    owner = commands.add_parser("owner", help="manage owners of tenants").add_subparsers(
        required=True, metavar="COMMAND"
    )
    command = owner.add_parser("create", help="create a tenant and its owner if they do not exist")
    command.add_argument("--tenant", default="Sinemora", help="name of the tenant (default: %(default)s)")
    command.add_argument("--email", help="default: SINEMORA_OWNER_EMAIL")
    command.set_defaults(run=_with_database(_create_owner))

    operations.add(commands, _with_database)
    transfer.add(commands)
    applications.add(commands)
    recommendations.add(commands)
    what_if.add(commands)
    alerts.add(commands)
    profiler.add(commands)
    simulation.add(commands)
    embedded.add(commands)
    return parser


def contract() -> str:
    """`openapi.json` as it should stand in the repository."""
    return json.dumps(create_app().openapi(), indent=2, ensure_ascii=False) + "\n"


def _with_database(action: Callable[[argparse.Namespace], int | None]) -> Callable[[argparse.Namespace], int]:
    """Run `action` when settings name a database; the embedded one is known only to what it runs."""

    def run(options: argparse.Namespace) -> int:
        if not settings().database_url:
            print(
                "SINEMORA_DATABASE_URL is empty. Set it, or use the embedded database: `make up` runs everything,"
                " `sinemora run COMMAND` runs one command beside it.",
                file=sys.stderr,
            )
            return 1
        return action(options) or 0

    return run


def _openapi(options: argparse.Namespace) -> int:
    if options.check:
        if options.check.read_text() == contract():
            return 0
        print(f"{options.check} is stale: run `sinemora openapi --output {options.check}`", file=sys.stderr)
        return 1
    if options.output:
        options.output.write_text(contract())
    else:
        print(contract(), end="")
    return 0


def _create_owner(options: argparse.Namespace) -> int:
    given = settings().owner_password
    email = options.email or settings().owner_email
    try:
        made = create_owner(options.tenant, email, given.get_secret_value() if given else None)
    except ValueError as error:
        print(f"owner create: {error}", file=sys.stderr)
        return 1
    if made.password:
        print(f"Owner {email} of {options.tenant}. Password, shown this once: {made.password}")
    elif made.created:
        print(f"Owner {email} of {options.tenant}, with the password of SINEMORA_OWNER_PASSWORD.")
    else:
        print(f"Owner {email} of {options.tenant} exists; the password is unchanged.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
