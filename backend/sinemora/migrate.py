"""Bring the schema to the newest version.

python -m sinemora.migrate    `sinemora migrate` without loading the rest of the product
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from pydantic import ValidationError
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from sinemora.kit.config import explain
from sinemora.kit.database_refusal import refusal_of

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"

# Migrations 0001 to 0018 of development are now four. The newest of the old versions has the schema of 0004_alerts.
SQUASHED = {"0018": "0004_alerts"}
_EARLIER = {f"{number:04}" for number in range(1, 18)}
_LAST_WITH_EARLIER = "f538668"  # the commit
_TABLE = "alembic_version"


class SchemaVersionError(Exception):
    """This version of the product cannot upgrade the schema of the database."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}\nWhat to do: {advice}")


def upgrade(revision: str = "head") -> None:
    """Migrate up to `revision`, as the role of SINEMORA_DATABASE_OWNER_URL.

    Raises SchemaVersionError when the database has a schema that this version of the product cannot upgrade.
    """
    config = configuration()
    config.attributes["models"] = False
    command.upgrade(config, revision)


def configuration() -> Config:
    """Return the configuration that `alembic` finds in pyproject.toml."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def present_name(revision: str) -> str:
    """Return the name that this version of the product gives to the schema version `revision`."""
    return SQUASHED.get(revision, revision)


def adopt(connection: Connection) -> None:
    """Rename the schema version of a database that the squashed migrations brought to their last version.

    Raises SchemaVersionError for any other version that has no migration here.
    """
    if not inspect(connection).has_table(_TABLE):
        return
    version = connection.scalar(text(f"SELECT version_num FROM {_TABLE}"))
    if version in _EARLIER:
        raise SchemaVersionError(
            f"Schema too old: the database has version {version}."
            " This version of Sinemora upgrades from version 0018 or newer.",
            f"Start an older Sinemora on it once (git checkout {_LAST_WITH_EARLIER}), which upgrades to version 0018."
            " Then start this one.",
        )
    if version in SQUASHED:
        connection.execute(text(f"UPDATE {_TABLE} SET version_num = :name"), {"name": SQUASHED[version]})
    elif version and version not in {script.revision for script in _scripts().walk_revisions()}:
        raise SchemaVersionError(
            f"Schema unknown: the database has version {version}, which this version of Sinemora does not know.",
            "Start the version of Sinemora that wrote it, or a newer one.",
        )


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(configuration())


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
    sys.exit(main())
