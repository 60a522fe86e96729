"""A mesh to place tasks on, and a worker that runs jobs at once."""

from uuid import UUID

import pytest

from sinemora.jobs import executor
from tests.alerts.conftest import hooks as hooks
from tests.alerts.conftest import local as local
from tests.api_clients import Member, MeshWorld


@pytest.fixture
def worker(queued: list[dict[str, str]]):
    """Does what was asked for, at once, in this process."""

    def work() -> None:
        while queued:
            ids = queued.pop(0)
            executor.run(UUID(ids["tenant_id"]), UUID(ids["job_id"]))

    return work


@pytest.fixture
def mesh(owner: Member, make_mesh) -> MeshWorld:
    """Six agents: a-1, b-1, c-1, a-2, b-2, c-2."""
    return make_mesh(owner, 6)
