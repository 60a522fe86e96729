"""Queries whose caller has gone, and requests that would repeat the same work."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.types import Message

from sinemora.kit.http import connection
from sinemora.measurements.query import execute
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.series import time_series
from tests.api_clients import MeshWorld
from tests.measurements.reports import sent_together, window_start
from tests.measurements.worlds import simple


@pytest.fixture
def start() -> int:
    return window_start(8 * 360) // 3600 * 3600


@pytest.fixture
def mesh(owner, make_mesh, start) -> MeshWorld:
    """Two agents with four windows in each of six hours that have ended."""
    mesh = make_mesh(owner, 2)
    first, second = mesh.agents
    peers = {second.vm_key: simple(100_000, 120_000, count=4)}
    sent_together(mesh.key, [(first, peers, start + 900 * n) for n in range(24)])
    return mesh


@pytest.fixture
def hours(start) -> dict[str, str]:
    return {name: f"{datetime.fromtimestamp(at, UTC):%FT%TZ}" for name, at in (("from", start), ("to", start + 21_600))}


def abandoned(mesh: MeshWorld, path: str, query: str) -> list[int]:
    """Send a request and close the connection at once; the status that the API counts."""
    owner, statuses = mesh.owner, []
    headers = owner.headers | {"Cookie": "; ".join(f"{name}={value}" for name, value in owner.cookies.items())}
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
        "scheme": "http",
        "root_path": "",
        "http_version": "1.1",
    }

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    portal: Any = owner.http.portal
    portal.call(owner.http.app, scope, receive, send)
    return statuses


def test_a_query_stops_when_its_caller_has_gone(mesh, hours, monkeypatch):
    monkeypatch.setattr(connection, "CHECK_S", 0)
    pieces: list[int] = []
    read = time_series.decode_windows

    def counted(*args: Any, **options: Any) -> Any:
        for piece in read(*args, **options):
            pieces.append(1)
            yield piece

    monkeypatch.setattr(time_series, "decode_windows", counted)
    assert abandoned(mesh, f"/v1/meshes/{mesh.id}/series", urlencode(hours)) == [499]
    assert len(pieces) <= 1
    assert mesh.owner.get(f"/v1/meshes/{mesh.id}/series", params=hours).status_code == 200


def test_the_parts_of_a_long_range_share_one_budget(mesh, hours, monkeypatch):
    monkeypatch.setattr(execute, "REQUEST", ReadBudget(12, lambda _: None))
    answer = mesh.owner.get(f"/v1/meshes/{mesh.id}/variability", params=hours)
    assert answer.status_code == 202, answer.text  # 24 frames: more than a request may read, 4 in each hour


def test_a_selection_is_requested_once(mesh):
    one, other = mesh.agents
    path = f"path:{one.vm_id}:{other.vm_id}"
    for route in ("series", "distribution", "variability", "losses", "windows", "path-costs"):
        url = f"/v1/meshes/{mesh.id}/{route}"
        for repeated in (["mesh", "mesh"], [path, "path:" + path.removeprefix("path:").upper()]):
            answer = mesh.owner.get(url, params={"selections": repeated})
            assert (answer.status_code, answer.json()["code"]) == (422, "selection_repeated"), route
            assert repeated[1] in answer.json()["detail"]
        assert mesh.owner.get(url, params={"selections": ["mesh", path]}).status_code == 200


def test_a_parameter_of_one_value_is_refused_twice(mesh):
    url = f"/v1/meshes/{mesh.id}/matrix"
    answer = mesh.owner.get(url, params={"by": ["vm", "zone"]})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"pointer": "#/query/by", "message": "Given 2 times. It takes one value."}]
    assert mesh.owner.get(url, params={"more": ["p90", "p99"]}).status_code == 200
