"""SIGHUP replaces the API: its process stays, its program starts again, and no connection is refused meanwhile."""

import signal
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests import api_clients
from tests.api_clients import Member
from tests.operations.gateway.processes import HTTP, Server, api_process
from tests.waits import WAIT_MOST_S


@pytest.fixture(scope="module")
def api(servers: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield an API that all tests replace; the last one ends it."""
    with api_process(tmp_path_factory.mktemp("replaced")) as server:
        yield server


def test_a_live_stream_ends_when_the_api_is_replaced(api: Server, owner: Member):
    mesh = api_clients.make_mesh(owner, 2)
    reader = api_clients.limited_key(owner, [mesh.id], "read")
    request = urllib.request.Request(f"{api.url}/v1/meshes/{mesh.id}/live", headers=reader.headers)
    with urllib.request.urlopen(request, timeout=WAIT_MOST_S) as stream:
        while b": listening" not in stream.readline():
            pass
        api.replace()
        stream.read()
    assert "Traceback" not in api.output()
    assert "graceful shutdown exceeded" not in api.output()


def test_sigterm_still_ends_it(api: Server):
    assert HTTP.get(api.url + "/healthz", timeout=WAIT_MOST_S).status_code == 200  # by the program of the test before
    api.hang_up()
    time.sleep(0.5)
    assert api.stop() in (0, -signal.SIGTERM)
