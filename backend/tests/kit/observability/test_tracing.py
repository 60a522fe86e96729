"""Traces reach a collector that speaks OTLP: a request, its statements, and the task it sent, in one trace."""

import gzip
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from celery.contrib.testing.worker import start_worker
from fastapi.testclient import TestClient
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from redis import Redis
from sqlalchemy import Engine, text

from sinemora.access.tenants.service import create_owner
from sinemora.kit import db
from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.kit.observability import tracing
from sinemora.kit.redis import broker_url
from sinemora.main import create_app
from tests import api_clients
from tests.api_clients import PASSWORD
from tests.conftest import Servers, forget_settings
from tests.http_server import Answer, answering
from tests.measurements.reports import report_of, sent
from tests.measurements.worlds import simple
from tests.waits import until


class Collector:
    """Spans that a receiver of OTLP over HTTP got."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def take(self, request: BaseHTTPRequestHandler, body: bytes) -> Answer:
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return 200, {"Content-Type": "application/x-protobuf"}, b""


@pytest.fixture
def collector(servers: Servers, database: Engine, redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    result = Collector()
    with answering(result.take) as port:
        monkeypatch.setenv("SINEMORA_TRACES_URL", f"http://127.0.0.1:{port}/v1/traces")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        db.dispose()
        forget_settings()
        # Celery has read its configuration before there was a broker.
        monkeypatch.setitem(celery.conf, "broker_url", broker_url(settings().redis_url))
        celery._after_fork()  # no connections of before
        yield result
        tracing.stop()
        db.dispose()
        monkeypatch.undo()
        celery._after_fork()
        forget_settings()


def attributes(span: Span) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in span.attributes}


def test_a_request_its_statements_and_its_task_are_one_trace(collector: Collector):
    with TestClient(create_app()) as http:
        create_owner("Traced", "traced@sinemora.example", PASSWORD)
        owner = api_clients.sign_in(http, "traced@sinemora.example")
        mesh = api_clients.make_mesh(owner, 2, "traced")
        sent(mesh.agents[0], report_of(mesh.key, {mesh.agents[1].vm_key: simple(40_000)}))
        http.get("/healthz")
        params = {"from": "2026-11-20T00:00:00Z", "to": "2026-11-20T01:00:00Z"}
        answer = owner.get(f"/v1/meshes/{mesh.id}/losses", params=params, headers={"Prefer": "respond-async"})
        assert answer.status_code == 202, answer.text
        with start_worker(celery, pool="solo", perform_ping_check=False, queues=["bulk"], shutdown_timeout=60):
            job = f"/v1/jobs/{answer.json()['id']}"
            until(lambda: owner.get(job).json()["state"] == "succeeded", "the end of the job")
    tracing.stop()  # sends what is left
    spans = collector.spans
    request = next(span for span in spans if span.name == "GET /v1/meshes/{mesh_id}/losses")
    assert attributes(request)["sinemora.request_id"] == answer.headers["X-Request-Id"]
    same = [span for span in spans if span.trace_id == request.trace_id]
    statements = [span for span in same if attributes(span).get("db.system.name") == "postgresql"]
    assert {"SELECT", "INSERT", "UPDATE"} <= {span.name for span in statements}
    assert {"apply_async/jobs.run_bulk", "run/jobs.run_bulk"} <= {span.name for span in same}
    ids = {span.span_id for span in same}
    assert all(span.parent_span_id in ids for span in same if span is not request)
    # The values of a statement are never told, nor is whoever only asks whether the process lives.
    text = "".join(map(str, collector.spans))
    assert str(mesh.id) in text  # the path of a request names it
    assert not any(str(mesh.id) in attributes(span).get("db.query.text", "") for span in spans)
    assert "traced@sinemora.example" not in text
    assert not any("healthz" in span.name for span in spans)
    batch = next(span for span in spans if span.name == "store reports")
    assert any(span.parent_span_id == batch.span_id and span.name in ("INSERT", "WITH") for span in spans)


def test_a_statement_that_fails_says_what_kind_of_error_it_was(collector: Collector):
    tracing.start("sinemora-api")
    with pytest.raises(Exception, match="division by zero"), tracing.span("work"), db.system_session() as session:
        session.execute(text("SELECT 1 / 0"))
    tracing.stop()
    failed = next(span for span in collector.spans if "1 / 0" in attributes(span).get("db.query.text", ""))
    assert (failed.status.code, failed.status.message) == (2, "DivisionByZero")


def test_without_the_setting_nothing_is_made(http: TestClient):
    assert not tracing.start("sinemora-api")
    with tracing.span("work") as span:
        assert span is None
