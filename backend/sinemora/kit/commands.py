"""Set-up of commands that work on the database."""

import sys

from typer import Exit

from sinemora.kit.config import settings


def require_database() -> None:
    """Exit with 1 unless the settings name a database. The address of the embedded one is known only inside it."""
    if not settings().database_url:
        print(
            "SINEMORA_DATABASE_URL is empty. Set it, or use the embedded database: `make up` runs everything,"
            " `sinemora run COMMAND` runs one command against it.",
            file=sys.stderr,
        )
        raise Exit(1)
