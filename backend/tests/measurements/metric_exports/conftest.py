"""A server that takes pushes and refuses what Prometheus refuses, and a mesh with measured minutes."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import pytest
from google.protobuf.message import Message
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from sinemora.kit import config
from sinemora.kit.db import tenant_session
from sinemora.measurements import tasks
from sinemora.measurements.metric_exports import push, queries
from sinemora.measurements.prometheus import remote_read
from tests.api_clients import MakeMesh, MeshWorld
from tests.http_server import Answer, answering
from tests.measurements.reports import sent_together
from tests.measurements.worlds import simple

Series = frozenset[tuple[str, str]]


@dataclass
class Server:
    """Server of a tenant. `answers` are those of the next requests, afterwards 204; a function is called first.

    `values` has what was taken: by labels the values by time (s), None at the end of a series.
    """

    port: int = 0
    answers: list[Any] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], Message]] = field(default_factory=list)
    values: dict[Series, dict[int, float | None]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v1/write"

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Decode a request, keep its values, and return the answer."""
        is_otlp = headers["content-encoding"] == "gzip"
        found = _of_otlp(body) if is_otlp else _of_remote_write(body)
        self.requests.append((path, headers, found[0]))
        answer = self.answers.pop(0) if self.answers else 204
        answer = answer() if callable(answer) else answer
        status, more, content = answer if isinstance(answer, tuple) else (answer, {}, b"")
        if status < 300:
            for labels, at_s, value in found[1]:
                series = self.values.setdefault(labels, {})
                assert not series or at_s > max(series), f"out of order, or twice: {labels}"
                series[at_s] = value
        return status, more, content

    def named(self, name: str, **labels: str) -> dict[Series, dict[int, float | None]]:
        """Return the series of a metric with these labels."""
        wanted = {("__name__", name), *labels.items()}
        return {series: values for series, values in self.values.items() if wanted <= series}


def _of_remote_write(body: bytes) -> tuple[Message, list[tuple[Series, int, float | None]]]:
    request = remote_read._MESSAGES["WriteRequest"].FromString(remote_read._unpacked(body))
    found: list[tuple[Series, int, float | None]] = []
    for series in request.timeseries:
        names = [label.name for label in series.labels]
        assert names == sorted(set(names)), "labels are sorted by name"
        [sample] = series.samples
        value = sample.value if sample.value == sample.value else None
        found.append((frozenset((one.name, one.value) for one in series.labels), sample.timestamp // 1000, value))
    return request, found


def _of_otlp(body: bytes) -> tuple[Message, list[tuple[Series, int, float | None]]]:
    request = ExportMetricsServiceRequest.FromString(gzip.decompress(body))
    found: list[tuple[Series, int, float | None]] = []
    [resource] = request.resource_metrics
    for metric in resource.scope_metrics[0].metrics:
        for point in metric.gauge.data_points:
            labels = {(one.key, one.value.string_value) for one in point.attributes} | {("__name__", metric.name)}
            value = None if point.flags & 1 else point.as_double
            found.append((frozenset(labels), point.time_unix_nano // 10**9, value))
    return request, found


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, secret_key: None) -> Iterator[Server]:
    """A server on this machine, which the operator allows."""
    monkeypatch.setenv("SINEMORA_METRIC_SOURCE_NETWORKS", "127.0.0.0/8")
    config.settings.cache_clear()
    server = Server()

    def answer(request: BaseHTTPRequestHandler, body: bytes) -> Answer:
        try:
            return server.take(request.path, {name.lower(): value for name, value in request.headers.items()}, body)
        except AssertionError as error:
            return 400, {}, str(error).encode()

    with answering(answer) as server.port:
        yield server


@dataclass
class Pushes:
    """A mesh of three VMs, measured in each of the last minutes, and the exports of its tenant."""

    mesh: MeshWorld
    server: Server
    last: datetime

    def created(self, **more: Any) -> dict[str, Any]:
        """Create an export."""
        body = {"name": "monitoring", "kind": "remote_write", "url": self.server.url, **more}
        return self.mesh.owner.created("/v1/metric-exports", body)

    def at(self, export: dict[str, Any], sent_until: datetime, **more: Any) -> None:
        """Set the last minute that was sent; the next one is due."""
        values = {"sent_until": sent_until, "next_at": datetime.now(UTC) - timedelta(seconds=1), **more}
        with tenant_session(self.mesh.owner.tenant_id) as session:
            assert queries.set_progress(session, UUID(export["id"]), **values)

    def due(self, minutes: int, **more: Any) -> dict[str, Any]:
        """Create an export of which so many minutes are to be sent."""
        export = self.created(**more)
        self.at(export, self.last - timedelta(minutes=minutes))
        return export

    def push(self) -> bool:
        """Push the next minute."""
        return push.push_minute(self.mesh.owner.tenant_id, float("inf"))

    def push_all(self) -> int:
        """Push all minutes that are due, and return their number."""
        return next(number for number in range(100) if not self.push())

    def read(self, export: dict[str, Any]) -> dict[str, Any]:
        """Return an export with its state."""
        return self.mesh.owner.get(f"/v1/metric-exports/{export['id']}").json()


@pytest.fixture
def pushes(server: Server, make_mesh: MakeMesh, owner: Any, monkeypatch: pytest.MonkeyPatch) -> Pushes:
    """Return a mesh that was measured in four minutes; the last of them ends two before the newest that is sent.

    No newer minute is due while the test runs, however long that takes.
    """
    mesh = make_mesh(owner, 3)
    last = push.newest(datetime.now(UTC))
    monkeypatch.setattr(push, "newest", lambda now: last)
    first, second, third = mesh.agents
    sending = []
    for ago in (6, 5, 4, 3):
        at_s = int(last.timestamp()) - 60 * ago
        for start in (at_s, at_s + 30):
            peers = {second.vm_key: simple(50_000 + 1_000 * ago, 30_000), third.vm_key: simple(90_000, lost=2)}
            sending.append((first, peers, start))
    sent_together(mesh.key, sending)
    tasks.roll_up()
    return Pushes(mesh, server, last)
