"""The command `sinemora distribute`."""

import sys
from typing import Annotated

from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool
from typer import Exit, Option, Typer

from sinemora.kit.commands import require_database
from sinemora.kit.config import settings
from sinemora.kit.database_refusal import refusal_of
from sinemora.measurements.store.citus import DistributionError, SpreadBy
from sinemora.measurements.store.citus import distribute as spread

app = Typer(rich_markup_mode=None)


@app.command()
def distribute(
    by: Annotated[
        SpreadBy | None,
        Option(
            help="Key that chooses the part of a row: a tenant is on one worker, or its VMs are on all of them. It"
            " cannot be changed later. Default: as measurements are spread already, at first by tenant."
        ),
    ] = None,
    shards: Annotated[
        int, Option(min=1, max=1024, help="Number of parts of each table; later it cannot be changed.")
    ] = 32,
) -> None:
    """Spread measurements over the workers of a Citus cluster, by tenant or by VM. Safe to repeat."""
    require_database()
    engine = create_engine(settings().database_owner_url, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            key, tables = spread(connection, by, shards, lambda line: print(line, file=sys.stderr))
    except (DistributionError, SQLAlchemyError) as error:
        if refusal_of(error):
            raise
        print(f"sinemora: {str(error).strip()}", file=sys.stderr)
        raise Exit(1) from None
    print(f"{len(tables)} tables are spread now, by {key.label}.")
