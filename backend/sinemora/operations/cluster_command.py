"""The command `sinemora distribute`."""

from typing import Annotated

from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool
from typer import Option, Typer

from sinemora.kit.commands import on_database, say
from sinemora.kit.config import settings
from sinemora.measurements.store.citus import DistributionError, SpreadBy
from sinemora.measurements.store.citus import distribute as spread

app = Typer(rich_markup_mode=None)


@app.command()
@on_database(DistributionError, SQLAlchemyError)
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
    engine = create_engine(settings().database_owner_url, poolclass=NullPool)
    with engine.connect() as connection:
        key, tables = spread(connection, by, shards, say)
    print(f"{len(tables)} tables are spread now, by {key.label}.")
