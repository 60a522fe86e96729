"""The proxy is replaced while agents report over new connections: none is refused, and no report is lost.

HAProxy and nginx run as in the production stack, with its configuration and script, in front of a real API.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lab.benchmarks.storing.product import World
from lab.soak.fleet import Fleet, lost
from tests import proxy_stand
from tests.api_clients import MeshWorld
from tests.proxy_stand import Stand
from tests.waits import WAIT_MOST_S, until

SENDERS = 8

pytestmark = pytest.mark.skipif(
    not all(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("haproxy", "nginx")),
    reason="HAProxy or nginx is not installed (make test-backend)",
)


@pytest.fixture(scope="module")
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def api(servers: Any, port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of an API that runs by itself on the database of the tests."""
    more = {"SINEMORA_PORT": str(port), "SINEMORA_TRUSTED_PROXIES": "127.0.0.1/32"}
    log = tmp_path_factory.mktemp("api") / "api.log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "sinemora.cli", "serve"]
        process = subprocess.Popen(command, env=os.environ | more, stdout=out, stderr=out)
    until(lambda: status(port) == 200, log.read_text)
    yield port
    process.terminate()
    process.wait(WAIT_MOST_S)


@pytest.fixture
def stand(api: int) -> Iterator[Stand]:
    with proxy_stand.running(api) as running:
        yield running


def status(port: int, **headers: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/readyz", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=WAIT_MOST_S) as response:
            return int(response.status)
    except OSError:
        return 0


def fleet_of(world: MeshWorld, port: int) -> tuple[World, Fleet]:
    agents = sorted(world.agents, key=lambda agent: agent.vm_key)
    keys = [agent.vm_key for agent in agents]
    credentials = [agent.headers["Authorization"].removeprefix("Bearer ") for agent in agents]
    ours = World(world.id, world.key, world.owner.tenant_key, keys, [agent.vm_id for agent in agents], credentials)
    return ours, Fleet(port, ours, 0.1, reconnect=True)


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
    assert lost(record, world) == []


def test_new_connections_wait_while_the_proxy_is_away(
    stand: Stand, owner: Any, make_mesh: Callable[..., MeshWorld]
) -> None:
    world, fleet = fleet_of(make_mesh(owner, agents=SENDERS, window_s=10), stand.port)
    fleet.start()
    until(lambda: len(fleet.record.acknowledged) > SENDERS, "reports")
    stand.kill_proxy()
    time.sleep(1)
    acknowledged = len(fleet.record.acknowledged)
    stand.start_proxy()
    until(lambda: len(fleet.record.acknowledged) > acknowledged + 5 * SENDERS, "reports of the next proxy")
    record = fleet.stop()
    assert record.refused_connections == 0
    assert lost(record, world) == []
