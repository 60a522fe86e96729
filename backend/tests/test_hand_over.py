"""The proxy is replaced while agents report over new connections: none is refused, and no report is lost.

HAProxy and nginx run as in the production stack, with its configuration and script, in front of a real API.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lab import proxy_stand
from lab.proxy_stand import Stand
from lab.soak import store
from tests.api_clients import MeshWorld
from tests.fleets import fleet_of
from tests.operations.gateway.processes import Api
from tests.waits import until

SENDERS = 8

pytestmark = pytest.mark.skipif(
    not all(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("haproxy", "nginx")),
    reason="HAProxy or nginx is not installed (make test-backend)",
)


@pytest.fixture(scope="module")
def api(servers: Any) -> Iterator[Api]:
    running = Api()
    running.start()
    yield running
    running.stop()


@pytest.fixture
def stand(api: Api) -> Iterator[Stand]:
    with proxy_stand.running(int(api.url.rpartition(":")[2])) as running:
        yield running


def test_no_connection_is_refused_and_no_report_lost_while_the_proxy_is_replaced(
    stand: Stand, owner: Any, make_mesh: Callable[..., MeshWorld]
) -> None:
    world, fleet = fleet_of(make_mesh(owner, agents=SENDERS, window_s=10), stand.port)
    fleet.start()
    for _ in range(3):
        acknowledged = len(fleet.record.acknowledged)
        until(lambda more=acknowledged: len(fleet.record.acknowledged) > more + 5 * SENDERS, "reports go on")
        stand.replace_proxy()
    record = fleet.stop()
    assert record.refused_connections == 0
    assert record.refused_reports == 0
    assert len(record.acknowledged) > 15 * SENDERS
    assert store.missing(world, record.acknowledged) == []
