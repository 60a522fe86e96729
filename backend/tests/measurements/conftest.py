"""A tenant's reader with SQL."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.api_clients import MeshWorld
from tests.conftest import Servers
from tests.sql_logins import login


@pytest.fixture
def reader(mesh: MeshWorld, servers: Servers) -> Iterator[psycopg.Connection]:
    """A connection of a role that reads the measurements of the tenant of `mesh`."""
    with login(servers, mesh.owner) as connection:
        yield connection
