"""Bring the schema to the newest version.

python -m sinemora.migrate    `sinemora migrate` without loading the rest of the product
"""

import sys
from collections.abc import Sequence

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from pydantic import ValidationError
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from sinemora.kit.bundled import bundled
from sinemora.kit.config import explain
from sinemora.kit.database_refusal import refusal_of

MIGRATIONS = bundled("migrations")

# The first migration. It replaces 46; their names, and those of still earlier ones, sort before its name.
BASELINE = "0054_pins_as_values"
LAST_WITH_EARLIER = "1f0e2f7c"  # the commit
_TABLE = "alembic_version"


class SchemaVersionError(Exception):
    """This version of the product cannot upgrade from a version of the schema."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}\nWhat to do: {advice}")


def upgrade(revision: str = "head") -> None:
    """Migrate up to `revision`, as the role of SINEMORA_DATABASE_OWNER_URL.

    Raises SchemaVersionError when the database has a schema that this version of the product cannot upgrade, or when
    there is no `revision`.
    """
    config = configuration()
    config.attributes["models"] = False
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        versions = ", ".join(sorted(_known()))
        raise SchemaVersionError(f"Schema not upgraded: {error}.", f"Use one of {versions}, or head.") from error


def configuration() -> Config:
    """Return the configuration that `alembic` finds in pyproject.toml."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def check_database(connection: Connection) -> None:
    """Raise SchemaVersionError if this version of the product cannot upgrade the schema of a database."""
    if not inspect(connection).has_table(_TABLE):
        return
    if version := connection.scalar(text(f"SELECT version_num FROM {_TABLE}")):
        check(
            version,
            "database",
            f"Start an older Sinemora on it once (git checkout {LAST_WITH_EARLIER}), which upgrades it to {BASELINE},"
            " then start this one. The older one's `sinemora backup` makes a copy before. To begin without the old"
            " data, start this one on an empty database, or in another data folder (SINEMORA_DATA_DIR).",
        )


def check(version: str, holder: str, advice: str) -> None:
    """Raise SchemaVersionError if this version of the product cannot upgrade from a schema version.

    `holder` is what has the version. `advice` says what to do when the version is too old.
    """
    if version in _known():
        return
    if version < BASELINE:
        raise SchemaVersionError(
            f"Schema too old: the {holder} has version {version}."
            f" This version of Sinemora upgrades from version {BASELINE} or newer.",
            advice,
        )
    raise SchemaVersionError(
        f"Schema unknown: the {holder} has version {version}, which this version of Sinemora does not know.",
        "Use the version of Sinemora that wrote it, or a newer one.",
    )


def _known() -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Migrate to the revision in `arguments` (default: the newest); return the exit code."""
    (revision,) = (sys.argv[1:] if arguments is None else arguments) or ["head"]
    try:
        upgrade(revision)
    except SchemaVersionError as error:
        print(error, file=sys.stderr)
        return 1
    except ValidationError as error:
        print(explain(error), file=sys.stderr)
        return 1
    except DBAPIError as error:
        if (refusal := refusal_of(error)) is None:
            raise
        print(refusal, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    # Migrations import this module by its name: only there, the errors that they raise are those that `main` prints.
    from sinemora.migrate import main

    sys.exit(main())
