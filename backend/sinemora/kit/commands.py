"""Checks and errors that the commands of an operator share: a database is required, and expected errors are printed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from typer import Exit

from sinemora.kit.config import settings
from sinemora.kit.database_refusal import refusal_of


def say(line: str) -> None:
    """Print a line for the operator to standard error."""
    print(line, file=sys.stderr, flush=True)


def require_database() -> None:
    """Exit with 1 unless the settings name a database. The address of the embedded one is known only inside it."""
    if not settings().database_url:
        say(
            "SINEMORA_DATABASE_URL is empty. Set it, or use the embedded database: `make up` runs everything,"
            " `sinemora run COMMAND` runs one command against it."
        )
        raise Exit(1)


@contextmanager
def reported(*expected: type[Exception]) -> Iterator[None]:
    """Print an expected error on standard error and exit with 1. `main` has the words for a database that refuses."""
    try:
        yield
    except expected as error:
        if refusal_of(error):
            raise
        say(f"sinemora: {str(getattr(error, 'orig', error)).strip()}")
        raise Exit(1) from None


@contextmanager
def on_database(*expected: type[Exception]) -> Iterator[None]:
    """Require a database, and report expected errors."""
    require_database()
    with reported(*expected):
        yield
